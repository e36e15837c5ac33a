/* Tasks: they run one after the other, to their ends, and only interrupt handlers come between.
 * There are two queues: that of the application is served first. */
#include "system.h"

#include <stddef.h>

#define TASKS 8

struct queue {
	void (*tasks[TASKS])(void);
	unsigned first, count, most, refused;
};

static struct queue now, later;

static enum result put(struct queue *queue, void (*task)(void))
{
	if (queue->count == TASKS) {
		queue->refused++;
		return FAIL;
	}
	queue->tasks[(queue->first + queue->count++) % TASKS] = task;
	if (queue->count > queue->most)
		queue->most = queue->count;
	return SUCCESS;
}

static void (*take(struct queue *queue))(void)
{
	void (*task)(void);

	if (!queue->count)
		return NULL;
	task = queue->tasks[queue->first];
	queue->first = (queue->first + 1) % TASKS;
	queue->count--;
	return task;
}

/* A task of the system that waits already does not wait twice. */
static bool is_there(const struct queue *queue, void (*task)(void))
{
	for (unsigned i = 0; i < queue->count; i++)
		if (queue->tasks[(queue->first + i) % TASKS] == task)
			return true;
	return false;
}

enum result post(void (*task)(void))
{
	return put(&now, task);
}

enum result post_later(void (*task)(void))
{
	return is_there(&later, task) ? EALREADY : put(&later, task);
}

bool tasks_run_next(void)
{
	void (*task)(void) = take(&now);

	if (!task)
		task = take(&later);
	if (!task)
		return false;
	task();
	return true;
}

bool tasks_are_there(void)
{
	return now.count || later.count;
}

unsigned tasks_most(void)
{
	return now.most > later.most ? now.most : later.most;
}

unsigned tasks_refused(void)
{
	return now.refused + later.refused;
}
