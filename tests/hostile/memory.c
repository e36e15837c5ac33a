/* Stacks, address space, and mappings. */

#define _GNU_SOURCE
#include "hostile.h"

#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* more than PTHREAD_STACK_MIN, which is 128 KB on MIPS */
static char stacks[2][256 << 10] __attribute__((aligned(16)));

static KEEP unsigned deep(unsigned n)
{
	return n ? deep(n - 1) + work(1) + n : 0;
}

static void run_deep(void)
{
	for (int i = 0; i < 10; i++)
		printf("%u\n", deep(10000));
}

static void run_small(void)
{
	run_threads(8, 30000, PTHREAD_STACK_MIN);
}

static void run_static(void)
{
	pthread_t threads[2];
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	for (int i = 0; i < 2; i++)
		if (pthread_attr_setstack(&attributes, stacks[i], sizeof(stacks[i])) ||
		    pthread_create(&threads[i], &attributes, work_in_thread, (void *)40000)) {
			puts("no thread");
			exit(9);
		}
	for (int i = 0; i < 2; i++) {
		void *result;

		pthread_join(threads[i], &result);
		printf("%u\n", (unsigned)(uintptr_t)result);
	}
}

/* No address is left, and later one megabyte is again. */
static void run_nomem(void)
{
	static const size_t sizes[] = {64 << 20,  16 << 20, 4 << 20,  1 << 20,
				       256 << 10, 64 << 10, 16 << 10, 4096};
	void *some = 0;
	pid_t child;

	for (int i = 0; i < 8; i++) {
		for (;;) {
			void *got = mmap(0, sizes[i], PROT_NONE,
					 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

			if (got == MAP_FAILED)
				break;
			if (i == 3)
				some = got;
		}
	}
	printf("%u\n", work(100000));
	child = fork();
	if (!child) {
		work(50000);
		_exit(0);
	}
	wait_for(child);
	handle(SIGALRM, on_tick, 0);
	raise(SIGALRM);
	if (some)
		munmap(some, 1 << 20);
	printf("%u\n", work(100000));
	run_forks(3, 20000);
}

static void run_mlock(void)
{
	struct rlimit limit = {1 << 16, 1 << 16};

	setrlimit(RLIMIT_MEMLOCK, &limit);
	mlockall(MCL_CURRENT | MCL_FUTURE);
	hostile_sum += work(200000);
	run_forks(2, 20000);
}

static void run_mprotect(void)
{
	unsigned long from[300], to[300];
	int count = find_mappings("r-x", from, to, 300);

	for (int i = 0; i < count; i++)
		mprotect((void *)from[i], to[i] - from[i], PROT_READ | PROT_EXEC);
	hostile_sum += work(50000);
}

static void run_msync(void)
{
	unsigned long from[300], to[300];
	int count = find_mappings("rw-s", from, to, 300);

	for (int i = 0; i < count; i++)
		msync((void *)from[i], to[i] - from[i], MS_SYNC | MS_INVALIDATE);
	hostile_sum += work(50000);
}

/* Finds room, gives it back, and maps the same place later. That is right where no other thread
 * maps anything. */
static void run_again(void)
{
	size_t size = 256 << 10;

	for (int i = 0; i < 20; i++) {
		unsigned char *room = mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		unsigned bad = 0;

		munmap(room, size);
		hostile_sum += work(20000);
		if (mmap(room, size, PROT_READ | PROT_WRITE,
			 MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != room) {
			puts("no room");
			return;
		}
		memset(room, 0x5a, size);
		hostile_sum += work(20000);
		for (size_t at = 0; at < size; at++)
			bad += room[at] != 0x5a;
		if (bad)
			puts("the memory has changed");
		munmap(room, size);
	}
}

/* Mappings with holes of a page, so that no place is free that others have between them. */
static void run_holes(void)
{
	enum { COUNT = 400 };
	static char *rooms[COUNT];

	for (int i = 0; i < COUNT; i++)
		rooms[i] =
			mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < COUNT; i++)
		munmap(rooms[i], 4096);
	for (int i = 0; i < COUNT; i++) {
		memset(rooms[i] + 4096, i, 4096);
		hostile_sum += work(500);
	}
	for (int i = 0; i < COUNT; i++)
		for (int at = 0; at < 4096; at++)
			if (rooms[i][4096 + at] != (char)i)
				puts("the memory has changed");
}

const struct hostile_case memory_cases[] = {
	{"deep", run_deep},   {"small", run_small}, {"static", run_static},
	{"nomem", run_nomem}, {"mlock", run_mlock}, {"mprotect", run_mprotect},
	{"msync", run_msync}, {"again", run_again}, {"holes", run_holes},
	{NULL, NULL},
};
