/* Ends of the program. */

#define _GNU_SOURCE
#include "hostile.h"

#include <pthread.h>
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

const struct hostile_case end_cases[] = {
	{"exit", run_exit},      {"abort", run_abort}, {"quick", run_quick},
	{"atonce", run_at_once}, {NULL, NULL},
};
