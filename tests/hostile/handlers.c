/* Handlers and forks beside threads that record. */

#define _GNU_SOURCE
#include "hostile.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int stop;
static volatile int depth;

static void on_level(int number)
{
	hostile_sum += work(50);
	if (++depth < 150)
		raise(number == SIGUSR1 ? SIGUSR2 : SIGUSR1);
	hostile_sum += work(50);
}

static void *levels(void *nothing)
{
	size_t size = 1 << 20;
	stack_t stack = {.ss_sp = malloc(size), .ss_size = size};
	stack_t none = {.ss_flags = SS_DISABLE};

	sigaltstack(&stack, 0);
	for (int i = 0; i < 20; i++) {
		depth = 0;
		raise(SIGUSR1);
	}
	sigaltstack(&none, 0);
	free(stack.ss_sp);
	return nothing;
}

/* A hundred and fifty handlers deep, on one alternate stack. */
static void run_levels(void)
{
	pthread_t thread;

	handle(SIGUSR1, on_level, SA_ONSTACK | SA_NODEFER);
	handle(SIGUSR2, on_level, SA_ONSTACK | SA_NODEFER);
	levels(0);
	pthread_create(&thread, 0, levels, 0);
	pthread_join(thread, 0);
}

/* The alternate stack lies between pieces of the heap that must not change. */
static void run_heap_stack(void)
{
	enum { COUNT = 16 };
	char *pieces[COUNT];
	size_t size = MINSIGSTKSZ;
	stack_t none = {.ss_flags = SS_DISABLE};

	handle(SIGUSR1, on_tick, SA_ONSTACK);
	for (int i = 0; i < COUNT; i++) {
		pieces[i] = malloc(size);
		memset(pieces[i], 0x40 + i, size);
	}
	for (int i = 1; i < COUNT; i += 2) {
		stack_t stack = {.ss_sp = pieces[i], .ss_size = size};

		sigaltstack(&stack, 0);
		for (int j = 0; j < 40; j++) {
			hostile_sum += work(600);
			raise(SIGUSR1);
		}
		sigaltstack(&none, 0);
	}
	for (int i = 0; i < COUNT; i += 2)
		for (size_t at = 0; at < size; at++)
			if (pieces[i][at] != 0x40 + i) {
				puts("the heap has changed");
				break;
			}
	for (int i = 0; i < COUNT; i++)
		free(pieces[i]);
}

static void *records(void *nothing)
{
	while (!stop)
		hostile_sum += work(100);
	return nothing;
}

static void start_records(pthread_t *threads, int count)
{
	stop = 0;
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], 0, records, 0);
}

static void end_records(const pthread_t *threads, int count)
{
	stop = 1;
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], 0);
}

static void *forks(void *nothing)
{
	for (int i = 0; i < 10; i++) {
		pid_t child = fork();

		if (!child) {
			pid_t second;

			work(2000);
			second = fork();
			if (!second) {
				work(2000);
				_exit(0);
			}
			wait_for(second);
			_exit(0);
		}
		hostile_sum += work(300);
		wait_for(child);
	}
	return nothing;
}

/* Several threads fork, and their children, while others record. */
static void run_fork_threads(void)
{
	pthread_t threads[2], forking[3];

	start_records(threads, 2);
	for (int i = 0; i < 3; i++)
		pthread_create(&forking[i], 0, forks, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(forking[i], 0);
	end_records(threads, 2);
}

static void on_child(int number)
{
	pid_t child = fork();

	(void)number;
	if (!child) {
		work(3000);
		_exit(0);
	}
	wait_for(child);
	/* here, as a child may take longer than the timer, so that main does not run */
	if (++hostile_ticks >= 20)
		tick(0);
}

/* A timer's handler forks while threads record. */
static void run_fork_timer(void)
{
	pthread_t threads[2];
	sigset_t alarms;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	handle(SIGALRM, on_child, SA_RESTART);
	pthread_sigmask(SIG_BLOCK, &alarms, 0);
	start_records(threads, 2);
	pthread_sigmask(SIG_UNBLOCK, &alarms, 0);
	tick(20000);
	while (hostile_ticks < 20)
		hostile_sum += work(200);
	end_records(threads, 2);
}

static void *signals_main(void *thread)
{
	for (int i = 0; i < 300; i++) {
		pthread_kill(*(pthread_t *)thread, SIGUSR1);
		hostile_sum += work(30);
	}
	stop = 1;
	return 0;
}

/* Signals of another thread, as a garbage collector stops threads with. */
static void run_stop_world(void)
{
	pthread_t self = pthread_self();
	pthread_t threads[3];

	stop = 0;
	handle(SIGUSR1, on_tick, SA_RESTART);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, signals_main, &self);
	while (!stop)
		hostile_sum += work(100);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
}

const struct hostile_case handler_cases[] = {
	{"levels", run_levels},
	{"heapstack", run_heap_stack},
	{"forkthreads", run_fork_threads},
	{"forktimer", run_fork_timer},
	{"stopworld", run_stop_world},
	{NULL, NULL},
};
