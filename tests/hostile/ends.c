/* Ends of the program. */

#define _GNU_SOURCE
#include "hostile.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void at_end(void)
{
	printf("end %u\n", work(5000));
	fflush(stdout);
}

static void *busy(void *argument)
{
	for (;;)
		hostile_sum += work(100);
	return argument;
}

static void run_exit(void)
{
	pthread_t thread;

	atexit(at_end);
	for (int i = 0; i < 6; i++)
		pthread_create(&thread, 0, busy, 0);
	usleep(20000);
	exit(5);
}

static void run_abort(void)
{
	hostile_sum += work(100000);
	fflush(0);
	abort();
}

static void run_quick(void)
{
	at_quick_exit(at_end);
	hostile_sum += work(100000);
	quick_exit(4);
}

static void run_at_once(void)
{
	hostile_sum += work(100000);
	_exit(6);
}

static int ends_with_calls;

/* Behind the handlers of atexit(). */
static __attribute__((destructor)) void at_destruction(void)
{
	if (ends_with_calls)
		at_end();
}

static __attribute__((destructor(101))) void at_last(void)
{
	pthread_t thread;

	if (!ends_with_calls)
		return;
	at_end();
	if (!pthread_create(&thread, 0, work_in_thread, (void *)3000))
		pthread_join(thread, 0);
	run_forks(2, 1000);
}

static void run_destructors(void)
{
	pthread_t thread;

	ends_with_calls = 1;
	atexit(at_end);
	pthread_create(&thread, 0, busy, 0);
	hostile_sum += work(20000);
}

static void *exits(void *argument)
{
	hostile_sum += work(1000);
	exit(12);
	return argument;
}

/* A thread ends the program, while others record. */
static void run_exit_thread(void)
{
	pthread_t thread;

	ends_with_calls = 1;
	pthread_create(&thread, 0, busy, 0);
	pthread_create(&thread, 0, exits, 0);
	for (;;)
		hostile_sum += work(100);
}

static void on_exit_signal(int number)
{
	hostile_sum += work(100);
	exit(number);
}

/* A handler ends the program, in the middle of anything. */
static void run_exit_signal(void)
{
	handle(SIGALRM, on_exit_signal, 0);
	ends_with_calls = 1;
	tick(15000);
	for (;;)
		hostile_sum += work(100);
}

const struct hostile_case end_cases[] = {
	{"exit", run_exit},
	{"abort", run_abort},
	{"quick", run_quick},
	{"atonce", run_at_once},
	{"destructors", run_destructors},
	{"exitthread", run_exit_thread},
	{"exitsignal", run_exit_signal},
	{NULL, NULL},
};
