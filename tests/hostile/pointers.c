/* Thread pointers that are not libc's: of threads that clone() makes, and of one that changes its
 * pointer. What the pointer leads to is the program's, and must not change. */

#define _GNU_SOURCE
#include "hostile.h"

#include <asm/unistd.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREAD                                                                                     \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |        \
	 CLONE_SETTLS)

enum { COUNT = 4, STACK = 64 << 10, AREA = 64 << 10 };

#ifdef __NR_set_thread_area
#define SET_POINTER __NR_set_thread_area
#else
#define SET_POINTER __ARM_NR_set_tls
#endif

static uint32_t areas[COUNT][AREA / 4] __attribute__((aligned(16)));
static uint32_t others[64];
static char stacks[COUNT][STACK] __attribute__((aligned(16)));
static volatile int ended[COUNT];
static volatile unsigned sums[COUNT];

/* Nothing, what leads to memory of the program, and what leads nowhere. */
static uint32_t filling(int number)
{
	static const uint32_t constants[COUNT] = {0, 0, 3, 0xdeadbeec};

	return number == 1 ? (uint32_t)(uintptr_t)&others[8] : constants[number];
}

static void fill(void)
{
	for (int i = 0; i < COUNT; i++) {
		ended[i] = 0;
		for (int j = 0; j < AREA / 4; j++)
			areas[i][j] = filling(i);
	}
	for (unsigned i = 0; i < 64; i++)
		others[i] = (uint32_t)(uintptr_t)&others[40];
}

static void check(void)
{
	unsigned changed = 0;

	for (int i = 0; i < COUNT; i++)
		for (int j = 0; j < AREA / 4; j++)
			changed += areas[i][j] != filling(i);
	for (unsigned i = 0; i < 64; i++)
		changed += others[i] != (uint32_t)(uintptr_t)&others[40];
	printf("changed %u\n", changed);
}

static int works(void *number)
{
	int i = (int)(intptr_t)number;

	sums[i] = work(2000);
	ended[i] = 1;
	return 0;
}

static int make(int number)
{
	return clone(works, stacks[number] + STACK - 64, THREAD, (void *)(intptr_t)number, NULL,
		     (char *)areas[number] + AREA / 2, NULL);
}

static void wait_for_all(void)
{
	for (int i = 0; i < COUNT; i++) {
		while (!ended[i])
			;
		printf("%u\n", sums[i]);
	}
}

/* While threads of libc record as well. */
static void run_own_pointer(void)
{
	pthread_t thread;

	pthread_create(&thread, 0, work_in_thread, (void *)6000);
	fill();
	for (int i = 0; i < COUNT; i++)
		if (make(i) < 0)
			puts("no thread");
	printf("%u\n", work(2000));
	wait_for_all();
	pthread_join(thread, 0);
	check();
	run_forks(2, 1000);
	run_threads(3, 1000, 0);
}

/* The thread pointer of this thread is the program's for some time. */
static void run_set_pointer(void)
{
	char *own = __builtin_thread_pointer();
	sigset_t all, old;

	fill();
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	for (int i = 0; i < COUNT; i++) {
		syscall(SET_POINTER, (char *)areas[i] + AREA / 2);
		sums[i] = work(2000);
		ended[i] = 1;
		syscall(SET_POINTER, own);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	wait_for_all();
	check();
	run_forks(2, 1000);
	run_threads(3, 1000, 0);
}

const struct hostile_case pointer_cases[] = {
	{"ownpointer", run_own_pointer},
	{"setpointer", run_set_pointer},
	{NULL, NULL},
};
