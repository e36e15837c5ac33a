/* Signal handlers, alternate stacks, jumps and contexts. */

#define _GNU_SOURCE
#include "hostile.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

static sigjmp_buf place;
static ucontext_t contexts[3];
static char stacks[2][65536] __attribute__((aligned(16)));
static int current;
static volatile int rounds;

static void run_alternate(void)
{
	static char room[16384];
	stack_t stack = {.ss_sp = room, .ss_size = MINSIGSTKSZ};

	printf("%d\n", sigaltstack(&stack, 0));
	handle(SIGALRM, on_tick, SA_ONSTACK);
	tick(700);
	while (hostile_ticks < 60)
		hostile_sum += work(200);
	tick(0);
}

static void *on_own_alternate(void *argument)
{
	char *room = malloc(8192);
	stack_t stack = {.ss_sp = room, .ss_size = 8192};
	stack_t none = {.ss_flags = SS_DISABLE};

	(void)argument;
	sigaltstack(&stack, 0);
	for (int i = 0; i < 50; i++) {
		hostile_sum += work(500);
		pthread_kill(pthread_self(), SIGUSR1);
	}
	sigaltstack(&none, 0);
	memset(room, 0x77, 8192);
	free(room);
	hostile_sum += work(5000);
	return 0;
}

static void on_usr1(int number)
{
	(void)number;
	hostile_sum += work(100);
}

/* Each thread has its own alternate stack, and frees it. */
static void run_alternates(void)
{
	pthread_t threads[6];

	handle(SIGUSR1, on_usr1, SA_ONSTACK);
	for (int i = 0; i < 6; i++)
		pthread_create(&threads[i], 0, on_own_alternate, 0);
	for (int i = 0; i < 6; i++)
		pthread_join(threads[i], 0);
}

static void on_jump(int number)
{
	hostile_sum += work(20);
	hostile_ticks++;
	siglongjmp(place, number);
}

static void run_jump(void)
{
	static char room[16384];
	stack_t stack = {.ss_sp = room, .ss_size = 2048};
	struct itimerval timer = {{0, 0}, {0, 500}};

	sigaltstack(&stack, 0);
	handle(SIGVTALRM, on_jump, SA_ONSTACK);
	sigsetjmp(place, 1);
	if (hostile_ticks < 60) {
		setitimer(ITIMER_VIRTUAL, &timer, 0);
		for (;;)
			hostile_sum += work(200);
	}
}

static void on_nest(int number)
{
	hostile_sum += work(100);
	if (++hostile_ticks < 40)
		raise(number);
	hostile_sum += work(100);
}

static void run_nest(void)
{
	handle(SIGUSR1, on_nest, SA_NODEFER);
	for (int i = 0; i < 30; i++) {
		hostile_ticks = 0;
		raise(SIGUSR1);
	}
}

static void on_fork(int number)
{
	pid_t child = fork();

	(void)number;
	if (!child) {
		work(3000);
		_exit(0);
	}
	wait_for(child);
}

static void run_fork_in_handler(void)
{
	handle(SIGALRM, on_fork, SA_RESTART);
	for (int i = 0; i < 25; i++)
		raise(SIGALRM);
}

static void routine(int number)
{
	for (int i = 0; i < 30; i++) {
		hostile_sum += work(3000);
		swapcontext(&contexts[number], &contexts[2]);
		hostile_sum += work(10);
	}
}

static void prepare(int number, void (*start)(void), ucontext_t *link)
{
	getcontext(&contexts[number]);
	contexts[number].uc_stack.ss_sp = stacks[number];
	contexts[number].uc_stack.ss_size = sizeof(stacks[number]);
	contexts[number].uc_link = link;
	makecontext(&contexts[number], start, 1, number);
}

static void run_routines(void)
{
	for (int i = 0; i < 2; i++)
		prepare(i, (void (*)(void))routine, &contexts[2]);
	for (int i = 0; i < 60; i++) {
		swapcontext(&contexts[2], &contexts[i & 1]);
		hostile_sum += work(100);
	}
}

static void *resume(void *argument)
{
	(void)argument;
	for (int i = 0; i < 5; i++)
		swapcontext(&contexts[2], &contexts[0]);
	return 0;
}

/* A coroutine that is continued by one thread after the other. */
static void run_migrate(void)
{
	prepare(0, (void (*)(void))routine, &contexts[2]);
	for (int i = 0; i < 5; i++) {
		pthread_t thread;

		pthread_create(&thread, 0, resume, 0);
		pthread_join(thread, 0);
		hostile_sum += work(1000);
	}
	puts("migrated");
}

static void on_switch(int number)
{
	int old = current;

	(void)number;
	if (rounds == 200) /* main may be back */
		return;
	rounds++;
	current = !current;
	swapcontext(&contexts[old], &contexts[current]);
}

static void preempted(void)
{
	sigset_t alarms;

	tick(2000); /* not before main has been left */
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_UNBLOCK, &alarms, 0);
	while (rounds < 200)
		hostile_sum += work(500);
	setcontext(&contexts[2]);
}

/* Contexts that a timer's handler switches. */
static void run_preempt(void)
{
	for (int i = 0; i < 2; i++) {
		prepare(i, preempted, 0);
		/* one at a time: a context that is switched while it is saved, or begins, is lost
		 */
		sigaddset(&contexts[i].uc_sigmask, SIGALRM);
	}
	handle(SIGALRM, on_switch, 0);
	swapcontext(&contexts[2], &contexts[0]);
	tick(0);
}

static void on_timer(union sigval value)
{
	(void)value;
	hostile_ticks++;
	work(100);
}

static void run_timer(void)
{
	struct itimerspec period = {{0, 3000000}, {0, 3000000}};
	struct sigevent event;
	timer_t timer;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD;
	event.sigev_notify_function = on_timer;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer)) {
		puts("no timer");
		return;
	}
	timer_settime(timer, 0, &period, 0);
	while (hostile_ticks < 20)
		hostile_sum += work(1000);
	timer_delete(timer);
}

static void run_ignored(void)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, 0);
	for (int i = 1; i < 65; i++)
		if (i != SIGKILL && i != SIGSTOP && i != 32 && i != 33 && i != SIGCHLD)
			signal(i, SIG_IGN);
	hostile_sum += work(100000);
	run_threads(3, 30000, 0);
	run_forks(3, 3000);
}

static void run_stop(void)
{
	int status = 0;
	pid_t child = fork();

	if (!child)
		for (;;)
			hostile_sum += work(100);
	for (int i = 0; i < 10; i++) {
		usleep(3000);
		kill(child, SIGSTOP);
		usleep(1000);
		kill(child, SIGCONT);
	}
	kill(child, SIGTERM);
	waitpid(child, &status, 0);
	printf("%x\n", (unsigned)status);
}

const struct hostile_case signal_cases[] = {
	{"alternate", run_alternate},
	{"alternates", run_alternates},
	{"jump", run_jump},
	{"nest", run_nest},
	{"forksignal", run_fork_in_handler},
	{"routines", run_routines},
	{"migrate", run_migrate},
	{"preempt", run_preempt},
	{"timer", run_timer},
	{"ignored", run_ignored},
	{"stop", run_stop},
	{NULL, NULL},
};
