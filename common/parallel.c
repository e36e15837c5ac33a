/* Threads that live as long as one piece of work does. */
#include "common/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* So many things wait for a worker at most, and so many are handed over at once. */
#define QUEUE_ROOM 1024
#define QUEUE_BATCH 16
#define QUEUE_BATCH_MAX 64

/* How many others want to run now: the fourth field of /proc/loadavg counts us, too. In a
 * parallel build threads would only be in the way. Looked up once, as all who ask must get
 * the same answer. */
static int count_others(void)
{
	static int others = -1;
	FILE *file = others < 0 ? fopen("/proc/loadavg", "re") : NULL;
	int running = 1;

	if (others < 0 && (!file || fscanf(file, "%*s %*s %*s %d/", &running) != 1))
		running = 1;
	if (file)
		fclose(file);
	if (others < 0)
		others = running > 1 ? running - 1 : 0;
	return others;
}

size_t litifut_parallel_workers(void)
{
	cpu_set_t set;
	int count = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	count -= count_others();
	return count < 1 ? 1 : count > LITIFUT_WORKERS_MAX ? LITIFUT_WORKERS_MAX : (size_t)count;
}

/* The handlers of the program belong to its first thread. */
static bool start(pthread_t *thread, void *(*run)(void *), void *context)
{
	sigset_t all;
	sigset_t old;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	started = !pthread_create(thread, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return started;
}

struct items {
	litifut_parallel_work *work;
	void *context;
	size_t count;
	size_t next; /* to be taken; changed atomically */
};

struct worker {
	struct items *items;
	size_t number;
	pthread_t thread;
};

static void *work_on_items(void *context)
{
	const struct worker *worker = context;
	struct items *items = worker->items;
	size_t item;

	while ((item = __atomic_fetch_add(&items->next, 1, __ATOMIC_RELAXED)) < items->count)
		items->work(items->context, worker->number, item);
	return NULL;
}

void litifut_parallel(size_t count, litifut_parallel_work *work, void *context)
{
	struct items items = {work, context, count, 0};
	struct worker workers[LITIFUT_WORKERS_MAX];
	size_t wanted = litifut_parallel_workers();
	size_t started = 1;

	if (wanted > count)
		wanted = count;
	workers[0] = (struct worker){.items = &items};
	for (; started < wanted; started++) {
		workers[started] = (struct worker){.items = &items, .number = started};
		if (!start(&workers[started].thread, work_on_items, &workers[started]))
			break;
	}
	work_on_items(&workers[0]);
	for (size_t i = 1; i < started; i++)
		pthread_join(workers[i].thread, NULL);
}

struct litifut_queue {
	litifut_queue_work *work;
	void *context;
	pthread_t thread;
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	void *things[QUEUE_ROOM];
	size_t added; /* in all; all of these are counts */
	size_t taken;
	size_t noticed; /* of those added, that the worker has been notified of */
	bool closed;
};

static void *work_on_queue(void *context)
{
	struct litifut_queue *queue = context;

	pthread_mutex_lock(&queue->mutex);
	while (true) {
		size_t end = queue->added;

		if (queue->taken == end && queue->closed)
			break;
		if (queue->taken == end || (end - queue->taken < QUEUE_BATCH && !queue->closed)) {
			pthread_cond_wait(&queue->changed, &queue->mutex);
			continue;
		}
		if (end - queue->taken > QUEUE_BATCH_MAX)
			end = queue->taken + QUEUE_BATCH_MAX;
		pthread_mutex_unlock(&queue->mutex);
		for (size_t i = queue->taken; i < end; i++)
			queue->work(queue->context, queue->things[i % QUEUE_ROOM]);
		pthread_mutex_lock(&queue->mutex);
		queue->taken = end;
		pthread_cond_broadcast(&queue->changed);
	}
	pthread_mutex_unlock(&queue->mutex);
	return NULL;
}

struct litifut_queue *litifut_queue_open(litifut_queue_work *work, void *context)
{
	struct litifut_queue *queue;

	if (litifut_parallel_workers() < 2 || !(queue = calloc(1, sizeof(*queue))))
		return NULL;
	queue->work = work;
	queue->context = context;
	pthread_mutex_init(&queue->mutex, NULL);
	pthread_cond_init(&queue->changed, NULL);
	if (!start(&queue->thread, work_on_queue, queue)) {
		free(queue);
		return NULL;
	}
	return queue;
}

void litifut_queue_add(struct litifut_queue *queue, void *thing)
{
	pthread_mutex_lock(&queue->mutex);
	while (queue->added - queue->taken == QUEUE_ROOM)
		pthread_cond_wait(&queue->changed, &queue->mutex);
	queue->things[queue->added++ % QUEUE_ROOM] = thing;
	if (queue->added - queue->noticed >= QUEUE_BATCH) {
		queue->noticed = queue->added;
		pthread_cond_broadcast(&queue->changed);
	}
	pthread_mutex_unlock(&queue->mutex);
}

void litifut_queue_close(struct litifut_queue *queue)
{
	if (!queue)
		return;
	pthread_mutex_lock(&queue->mutex);
	queue->closed = true;
	pthread_cond_broadcast(&queue->changed);
	pthread_mutex_unlock(&queue->mutex);
	pthread_join(queue->thread, NULL);
	pthread_cond_destroy(&queue->changed);
	pthread_mutex_destroy(&queue->mutex);
	free(queue);
}
