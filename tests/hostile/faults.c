/* Faults that the program repairs, stacks that overflow, and large frames. */

#define _GNU_SOURCE
#include "hostile.h"

#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAP_PAGES 64

static __thread sigjmp_buf place;
static char *heap;
static size_t page;
static volatile unsigned repaired;

static void on_fault(int number, siginfo_t *info, void *context)
{
	char *at = (char *)info->si_addr;

	(void)number;
	(void)context;
	hostile_sum += work(20);
	if (at < heap || at >= heap + HEAP_PAGES * page)
		_exit(99);
	mprotect((char *)((uintptr_t)at & ~(page - 1)), page, PROT_READ | PROT_WRITE);
	repaired++;
	hostile_sum += work(20);
}

static KEEP void store(unsigned number, char what)
{
	hostile_sum += work(1);
	heap[number * page + 5] = what;
	hostile_sum += work(1);
}

static void *stores(void *what)
{
	for (unsigned i = 0; i < HEAP_PAGES; i++)
		store(i, (char)(uintptr_t)what);
	return 0;
}

/* As a garbage collector that learns from faults what is written to. */
static void run_barrier(void)
{
	struct sigaction action;
	pthread_t threads[3];

	page = (size_t)sysconf(_SC_PAGESIZE);
	heap = mmap(0, HEAP_PAGES * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_fault;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &action, 0);
	for (int i = 0; i < 20; i++) {
		stores((void *)1);
		mprotect(heap, HEAP_PAGES * page, PROT_READ);
	}
	printf("repaired %u\n", repaired);
	for (int i = 0; i < 10; i++) {
		for (int j = 0; j < 3; j++)
			pthread_create(&threads[j], 0, stores, (void *)3);
		for (int j = 0; j < 3; j++)
			pthread_join(threads[j], 0);
		mprotect(heap, HEAP_PAGES * page, PROT_READ);
	}
	munmap(heap, HEAP_PAGES * page);
}

static KEEP unsigned endless(unsigned n)
{
	volatile char room[200];

	room[n % sizeof(room)] = (char)n;
	return endless(n + 1) + work(1) + (unsigned)room[0];
}

static void on_overflow(int number)
{
	hostile_sum += work(20);
	siglongjmp(place, number);
}

static void *overflows(void *nothing)
{
	size_t size = 65536;
	stack_t stack = {.ss_sp = malloc(size), .ss_size = size};
	stack_t none = {.ss_flags = SS_DISABLE};

	sigaltstack(&stack, 0);
	for (volatile int i = 0; i < 10; i++) {
		if (!sigsetjmp(place, 1))
			hostile_sum += endless(0);
		hostile_sum += work(500);
	}
	sigaltstack(&none, 0);
	free(stack.ss_sp);
	return nothing;
}

/* A thread's stack overflows, and the thread goes on behind. */
static void run_overflow(void)
{
	pthread_attr_t attributes;
	pthread_t threads[3];

	handle(SIGSEGV, on_overflow, SA_ONSTACK);
	handle(SIGBUS, on_overflow, SA_ONSTACK);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	for (int i = 0; i < 3; i++) {
		pthread_create(&threads[i], &attributes, overflows, 0);
		pthread_join(threads[i], 0);
	}
}

static KEEP unsigned large(unsigned n)
{
	char *room = alloca(n);

	memset(room, (int)n, 16);
	room[n - 1] = 1;
	return work(20) + (unsigned char)room[0] + (n > 4096 ? large(n / 2) : 0);
}

static void *larges(void *nothing)
{
	for (unsigned i = 0; i < 200; i++)
		hostile_sum += large(90000 + i * 8);
	return nothing;
}

/* Frames as large as the stack. */
static void run_large(void)
{
	pthread_attr_t attributes;
	pthread_t threads[3];

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 256 << 10);
	pthread_attr_setguardsize(&attributes, 65536);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], &attributes, larges, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
	for (unsigned i = 0; i < 20; i++)
		hostile_sum += large(3 << 20);
}

/* The program maps where it has found nothing, at places of its choice. */
static void run_fixed(void)
{
	static const uintptr_t starts[] = {0x30000000, 0x48000000, 0x60000000, 0x68000000,
					   0x50000000, 0x2a000000, 0x5f000000};
	size_t size = 4 << 20;

	for (unsigned i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		char *got = mmap((void *)starts[i], size, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		hostile_sum += work(20000);
		if (got == MAP_FAILED)
			continue;
		memset(got, (int)i + 1, size);
		hostile_sum += work(20000);
		for (size_t at = 0; at < size; at += 512)
			if (got[at] != (char)(i + 1)) {
				puts("the memory has changed");
				break;
			}
		/* it is not made smaller first: qemu 7.2 then takes away what lies behind it */
		got = mremap(got, size, size * 2, MREMAP_MAYMOVE);
		if (got == MAP_FAILED) {
			puts("no room");
			return;
		}
		hostile_sum += work(20000);
		munmap(got, size * 2);
	}
}

const struct hostile_case fault_cases[] = {
	{"barrier", run_barrier},
	{"overflow", run_overflow},
	{"large", run_large},
	{"fixed", run_fixed},
	{NULL, NULL},
};
