/* Stacks that the program makes and frees, and handlers that change what they return to. */

#define _GNU_SOURCE
#include "hostile.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK (64 << 10)

static ucontext_t home, away;
static volatile int finished;

static void short_routine(int number)
{
	hostile_sum += work(3000);
	swapcontext(&away, &home);
	hostile_sum += work((unsigned)number);
	finished = 1;
	/* home, and never back */
	setcontext(&home);
}

/* Each coroutine has a stack that is unmapped when it has ended, or while it is still suspended;
 * what is mapped next is in the same place. */
static void run_freed(void)
{
	for (volatile int i = 0; i < 200; i++) {
		char *stack =
			mmap(0, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		char *other;

		getcontext(&away);
		away.uc_stack.ss_sp = stack;
		away.uc_stack.ss_size = STACK;
		away.uc_link = 0;
		makecontext(&away, (void (*)(void))short_routine, 1, i);
		finished = 0;
		swapcontext(&home, &away);
		if (i % 3) { /* else it is left where it is */
			swapcontext(&home, &away);
			if (!finished)
				puts("not finished");
		}
		munmap(stack, STACK);
		hostile_sum += work(500);
		other = mmap(0, STACK, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		hostile_sum += work(500);
		for (int at = 0; at < STACK; at += 64)
			if (other[at]) {
				puts("the memory has changed");
				break;
			}
		munmap(other, STACK);
	}
}

static KEEP unsigned called_instead(unsigned n)
{
	return work(20) + n;
}

/* The callee does not exist: the handler goes on behind the call. */
static void on_null(int number, siginfo_t *info, void *argument)
{
	ucontext_t *context = argument;

	(void)number;
	(void)info;
	hostile_sum += work(30);
#ifdef __arm__
	context->uc_mcontext.arm_pc = context->uc_mcontext.arm_lr & ~1u;
	context->uc_mcontext.arm_cpsr &= ~0x20u;
	if (context->uc_mcontext.arm_lr & 1)
		context->uc_mcontext.arm_cpsr |= 0x20u;
	context->uc_mcontext.arm_r0 = 77;
#else
	context->uc_mcontext.pc = context->uc_mcontext.gregs[31];
	context->uc_mcontext.gregs[2] = 77;
#endif
}

static void handle_with_context(int number, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = handler;
	action.sa_flags = SA_SIGINFO;
	sigaction(number, &action, 0);
}

static unsigned (*volatile nothing_there)(unsigned);

static void run_null_call(void)
{
	unsigned sum = 0;
	char *data = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	handle_with_context(SIGSEGV, on_null);
	for (unsigned i = 0; i < 200; i++) {
		unsigned (*at)(unsigned) = i & 1 ? (unsigned (*)(unsigned))(uintptr_t)data : 0;

		nothing_there = at;
		sum += nothing_there(i);
		nothing_there = called_instead;
		sum += nothing_there(i);
	}
	printf("%u\n", sum);
}

static ucontext_t saved;
static ucontext_t *volatile interrupted;
static volatile int injected_count;

static KEEP void injected(void)
{
	ucontext_t mine;

	/* where a program that does this keeps it: on the stack of the thread */
	for (size_t i = 0; i < sizeof(mine) / sizeof(long); i++)
		((volatile long *)&mine)[i] = ((long *)&saved)[i];
	interrupted = &mine;
	hostile_sum += work(40);
	injected_count++;
	raise(SIGUSR2);
	puts("not back");
	_exit(9);
}

/* Goes on where the timer's handler has come between. */
static void on_back(int number, siginfo_t *info, void *argument)
{
	ucontext_t *context = argument;

	(void)number;
	(void)info;
	context->uc_mcontext = interrupted->uc_mcontext;
	context->uc_sigmask = interrupted->uc_sigmask;
}

/* As the preemption of Go: the handler returns to another function, and that one to where the
 * signal came. */
static void on_inject(int number, siginfo_t *info, void *argument)
{
	ucontext_t *context = argument;

	(void)number;
	(void)info;
	saved = *context;
	sigaddset(&context->uc_sigmask, SIGALRM);
#ifdef __arm__
	context->uc_mcontext.arm_sp = (context->uc_mcontext.arm_sp - 512) & ~15u;
	context->uc_mcontext.arm_pc = (uintptr_t)injected & ~(uintptr_t)1;
	context->uc_mcontext.arm_cpsr &= ~0x0600fc20u;
	if ((uintptr_t)injected & 1)
		context->uc_mcontext.arm_cpsr |= 0x20;
#else
	context->uc_mcontext.gregs[29] = (context->uc_mcontext.gregs[29] - 512) & ~15ull;
	context->uc_mcontext.gregs[25] = (uintptr_t)injected;
	context->uc_mcontext.pc = (uintptr_t)injected;
#endif
}

static void run_inject(void)
{
	handle_with_context(SIGUSR2, on_back);
	handle_with_context(SIGALRM, on_inject);
	tick(1500);
	while (injected_count < 150)
		hostile_sum += work(300);
	tick(0);
	puts("injected");
}

static KEEP void one_call(void)
{
	hostile_sum++;
}

static void on_fast(int number)
{
	(void)number;
	one_call();
	hostile_ticks++;
}

/* Ten thousand times a second. */
static void run_fast(void)
{
	handle(SIGALRM, on_fast, SA_RESTART);
	tick(100);
	for (int i = 0; i < 30; i++)
		hostile_sum += work(2000);
	tick(0);
	puts(hostile_ticks ? "ticks" : "no tick");
}

/* The least stacks that there are, each between two pieces that must not change. */
static void run_tiny(void)
{
	enum { COUNT = 12 };
	size_t size = (size_t)PTHREAD_STACK_MIN;
	char *room = mmap(0, (2 * COUNT + 1) * size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_t threads[COUNT];
	pthread_attr_t attributes;

	memset(room, 0x3c, (2 * COUNT + 1) * size);
	pthread_attr_init(&attributes);
	for (int i = 0; i < COUNT; i++)
		if (pthread_attr_setstack(&attributes, room + (2 * i + 1) * size, size) ||
		    pthread_create(&threads[i], &attributes, work_in_thread, (void *)20000)) {
			puts("no thread");
			exit(9);
		}
	for (int i = 0; i < COUNT; i++)
		pthread_join(threads[i], 0);
	for (size_t i = 0; i <= COUNT; i++)
		for (size_t at = 0; at < size; at++)
			if (room[2 * i * size + at] != 0x3c) {
				puts("the memory has changed");
				break;
			}
}

const struct hostile_case context_cases[] = {
	{"freed", run_freed}, {"nullcall", run_null_call}, {"inject", run_inject},
	{"fast", run_fast},   {"tiny", run_tiny},          {NULL, NULL},
};
