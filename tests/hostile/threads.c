/* Threads that end in all ways. */

#define _GNU_SOURCE
#include "hostile.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_key_t key;
static __thread sigjmp_buf place;

static void *busy(void *asynchronous)
{
	if (asynchronous)
		pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
	for (;;) {
		hostile_sum += work(100);
		if (!asynchronous)
			pthread_testcancel();
	}
	return 0;
}

static void run_cancel(void)
{
	for (int i = 0; i < 60; i++) {
		pthread_t thread;
		void *result;

		pthread_create(&thread, 0, busy, (void *)(uintptr_t)(i & 1));
		usleep(1000 + i * 37);
		pthread_cancel(thread);
		pthread_join(thread, &result);
		if (result != PTHREAD_CANCELED)
			puts("not cancelled");
	}
	hostile_sum += work(100000);
}

static void key_end(void *n)
{
	static __thread int again;

	if (work((unsigned)(uintptr_t)n) == 1)
		puts("?");
	if (again++ < 3)
		pthread_setspecific(key, n);
}

static void *keyed(void *n)
{
	pthread_setspecific(key, n);
	return work_in_thread(n);
}

static void run_keys(void)
{
	pthread_key_create(&key, key_end);
	for (int i = 0; i < 40; i++) {
		pthread_t thread;

		pthread_create(&thread, 0, keyed, (void *)2000);
		pthread_join(thread, 0);
	}
}

static void on_end(int number)
{
	hostile_sum += work(30);
	siglongjmp(place, number);
}

/* Jumps out of a handler, and ends, in the frame that the jump comes to. */
static KEEP void *jumps_and_ends(void *argument)
{
	if (sigsetjmp(place, 1)) {
		hostile_sum += work(300);
		pthread_exit(argument);
	}
	hostile_sum += work(2000);
	pthread_kill(pthread_self(), SIGUSR2);
	puts("no jump");
	return 0;
}

static void run_jumpend(void)
{
	handle(SIGUSR2, on_end, 0);
	for (int i = 0; i < 100; i++) {
		pthread_t threads[2];

		for (int j = 0; j < 2; j++)
			pthread_create(&threads[j], 0, jumps_and_ends, 0);
		for (int j = 0; j < 2; j++)
			pthread_join(threads[j], 0);
	}
}

/* Threads whose kernel ids come again: ns_last_pid sets the next one, in a separate PID
 * namespace. */
static void run_sameid(void)
{
	int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);

	for (int i = 0; i < 60; i++) {
		pthread_t thread;

		if (file >= 0 && pwrite(file, "700", 3, 0) != 3)
			puts("can't say which");
		pthread_create(&thread, 0, work_in_thread, (void *)(uintptr_t)(i % 7 * 1000));
		hostile_sum += work(3000);
		pthread_join(thread, 0);
	}
	run_threads(8, 3000, 0);
}

static void run_mainexit(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, work_in_thread, (void *)100000);
	pthread_exit(0);
}

/* Ten thousand threads, one after the other. */
static void run_sequence(void)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 10000; i++) {
		pthread_t thread;
		void *result;

		if (pthread_create(&thread, 0, work_in_thread, (void *)(uintptr_t)(i % 5))) {
			puts("no thread");
			return;
		}
		pthread_join(thread, &result);
		sum += (unsigned)(uintptr_t)result;
	}
	printf("%u\n", sum);
}

static pthread_barrier_t barrier;

static void *in_crowd(void *n)
{
	hostile_sum += work(5);
	pthread_barrier_wait(&barrier);
	return work_in_thread(n);
}

static void crowd(int count, size_t stack)
{
	static pthread_t threads[2000];
	pthread_attr_t attributes;
	unsigned sum = 0;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, stack);
	pthread_barrier_init(&barrier, 0, (unsigned)count + 1);
	for (int i = 0; i < count; i++)
		if (pthread_create(&threads[i], &attributes, in_crowd, (void *)200)) {
			puts("no thread");
			exit(9);
		}
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < count; i++) {
		void *result;

		pthread_join(threads[i], &result);
		sum += (unsigned)(uintptr_t)result;
	}
	printf("%u\n", sum);
}

/* Five hundred at once. */
static void run_crowd(void)
{
	crowd(500, 256 << 10);
}

/* More than the table of threads has room for. */
static void run_crowds(void)
{
	crowd(2000, (size_t)PTHREAD_STACK_MIN);
	run_forks(1, 3000);
}

static void *detached(void *n)
{
	pthread_detach(pthread_self());
	hostile_sum += work(1000);
	return n;
}

/* They are not waited for, and some are there when the program ends. */
static void run_detached(void)
{
	pthread_t thread;

	for (int i = 0; i < 60; i++)
		pthread_create(&thread, 0, detached, 0);
	hostile_sum += work(2000);
}

/* Threads that have the thread pointer of the one that made them, and so its cursor. */
static int shares_pointer(void *ended)
{
	hostile_sum = work(60000);
	*(volatile int *)ended = 1;
	return 0;
}

static void run_same_pointer(void)
{
	enum { COUNT = 4, STACK = 256 << 10 };
	static char stacks[COUNT][STACK] __attribute__((aligned(16)));
	static volatile int ended[COUNT];

	for (int i = 0; i < COUNT; i++)
		if (clone(shares_pointer, stacks[i] + STACK - 64,
			  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
				  CLONE_SYSVSEM,
			  (void *)&ended[i]) < 0)
			puts("no thread");
	printf("%u\n", work(60000));
	for (int i = 0; i < COUNT; i++)
		while (!ended[i])
			;
	usleep(20000);
}

const struct hostile_case thread_cases[] = {
	{"cancel", run_cancel},
	{"keys", run_keys},
	{"jumpend", run_jumpend},
	{"sameid", run_sameid},
	{"mainexit", run_mainexit},
	{"sequence", run_sequence},
	{"crowd", run_crowd},
	{"detached", run_detached},
	{"crowds", run_crowds},
	{"samepointer", run_same_pointer},
	{NULL, NULL},
};
