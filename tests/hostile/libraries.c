/* Libraries that come and go. They lie beside the program; linked statically it has none. */

#define _GNU_SOURCE
#include "hostile.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define COPIES 70

typedef unsigned (*library_work)(unsigned n);

/* Opens copy `number` of the library. */
static void *open_copy(unsigned number, Lmid_t space)
{
	char name[600];
	void *library;

	snprintf(name, sizeof(name), "%s/copies/libhostile%u.so", hostile_folder, number);
	library = space == LM_ID_BASE ? dlopen(name, RTLD_NOW | RTLD_LOCAL)
				      : dlmopen(space, name, RTLD_NOW | RTLD_LOCAL);
	if (!library)
		printf("no library: %s\n", dlerror());
	return library;
}

static unsigned call_library(void *library, unsigned n)
{
	library_work function = library ? (library_work)dlsym(library, "library_work") : 0;

	return function ? function(n) : 0;
}

static void *opens(void *first)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 40; i++) {
		void *library = open_copy(((unsigned)(uintptr_t)first + i) % 6, LM_ID_BASE);

		sum += call_library(library, 300) + work(50);
		if (library)
			dlclose(library);
	}
	return (void *)(uintptr_t)sum;
}

static void run_reopen(void)
{
	pthread_t threads[3];

	for (unsigned i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, opens, (void *)(uintptr_t)i);
	for (unsigned i = 0; i < 3; i++) {
		void *sum;

		pthread_join(threads[i], &sum);
		printf("%u\n", (unsigned)(uintptr_t)sum);
	}
}

/* The same while a timer's handler calls, and children are made. */
static void run_reopen_signals(void)
{
	handle(SIGALRM, on_tick, SA_RESTART);
	tick(2000);
	for (int i = 0; i < 3; i++) {
		printf("%u\n", (unsigned)(uintptr_t)opens(0));
		run_forks(2, 1000);
	}
	tick(0);
}

static pthread_barrier_t barrier;
static void *libraries[COPIES];

static void *uses_all(void *nothing)
{
	unsigned sum = work(100);

	(void)nothing;
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < COPIES; i++) {
		sum += call_library(libraries[i], 20);
		hostile_sum += work(20);
	}
	return (void *)(uintptr_t)sum;
}

/* More libraries with thread-local variables than a thread had room for when it began. */
static void run_many(void)
{
	for (int round = 0; round < 2; round++) {
		pthread_t threads[3];

		pthread_barrier_init(&barrier, 0, 4);
		for (int i = 0; i < 3; i++)
			pthread_create(&threads[i], 0, uses_all, 0);
		pthread_barrier_wait(&barrier);
		for (unsigned i = 0; i < COPIES; i++)
			libraries[i] = open_copy(i, LM_ID_BASE);
		pthread_barrier_wait(&barrier);
		for (unsigned i = 0; i < COPIES; i++)
			hostile_sum += call_library(libraries[i], 20);
		for (int i = 0; i < 3; i++) {
			void *sum;

			pthread_join(threads[i], &sum);
			printf("%u\n", (unsigned)(uintptr_t)sum);
		}
		for (unsigned i = 0; i < COPIES; i++)
			if (libraries[i])
				dlclose(libraries[i]);
		pthread_barrier_destroy(&barrier);
	}
	run_forks(2, 1000);
}

static void *calls_spaces(void *nothing)
{
	unsigned sum = 0;

	(void)nothing;
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < 4; j++)
			sum += call_library(libraries[j], 200) + work(10);
	return (void *)(uintptr_t)sum;
}

/* Several namespaces, each with a recorder. */
static void run_spaces(void)
{
	pthread_t threads[3];

	for (unsigned i = 0; i < 4; i++)
		libraries[i] = open_copy(i, LM_ID_NEWLM);
	printf("%u\n", (unsigned)(uintptr_t)calls_spaces(0));
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, calls_spaces, 0);
	for (int i = 0; i < 3; i++) {
		void *sum;

		pthread_join(threads[i], &sum);
		printf("%u\n", (unsigned)(uintptr_t)sum);
	}
	run_forks(2, 1000);
	for (unsigned i = 0; i < 4; i++)
		if (libraries[i])
			dlclose(libraries[i]);
	for (unsigned i = 0; i < 20; i++) {
		void *library = open_copy(i % 4, LM_ID_NEWLM);

		hostile_sum += call_library(library, 100);
		if (library)
			dlclose(library);
	}
}

static void *opens_in_thread(void *nothing)
{
	void *library = open_copy(0, LM_ID_BASE);
	pthread_key_t key = 0;
	int (*make)(pthread_key_t *) =
		library ? (int (*)(pthread_key_t *))dlsym(library, "library_key") : 0;

	hostile_sum += call_library(library, 100);
	if (make && !make(&key))
		pthread_setspecific(key, (void *)50);
	return nothing;
}

/* A thread's end calls a destructor in a library, which stays. */
static void run_library_keys(void)
{
	for (int i = 0; i < 20; i++) {
		pthread_t thread;

		pthread_create(&thread, 0, opens_in_thread, 0);
		pthread_join(thread, 0);
	}
}

/* Handlers of atexit() that open, call and close a library. */
static void opens_at_end(void)
{
	printf("at the end %u\n", (unsigned)(uintptr_t)opens(0));
}

static void run_open_at_end(void)
{
	atexit(opens_at_end);
	open_copy(8, LM_ID_BASE);
	hostile_sum += work(1000);
	exit(11);
}

const struct hostile_case library_cases[] = {
	{"reopen", run_reopen},
	{"reopensignals", run_reopen_signals},
	{"many", run_many},
	{"spaces", run_spaces},
	{"librarykeys", run_library_keys},
	{"openatend", run_open_at_end},
	{NULL, NULL},
};
