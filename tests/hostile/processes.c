/* Children, programs that are executed, and other users. */

#define _GNU_SOURCE
#include "hostile.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void run_spawned(void)
{
	hostile_sum += work(2000);
	exit(7);
}

static void run_spawn(void)
{
	for (int i = 0; i < 20; i++) {
		pid_t child;
		int status = 0;

		/* qemu, -L, sysroot, program, case */
		if (posix_spawn(&child, hostile_arguments[0], 0, 0, hostile_arguments, environ))
			puts("no child");
		else if (waitpid(child, &status, 0), status != 0x700)
			printf("status %x\n", (unsigned)status);
		hostile_sum += work(1000);
	}
}

static KEEP void vfork_once(bool executes)
{
	int status = 0;
	pid_t child = vfork();

	if (!child) {
		if (executes)
			execv(hostile_arguments[0], hostile_arguments);
		_exit(7);
	}
	waitpid(child, &status, 0);
	if (status != 0x700)
		printf("status %x\n", (unsigned)status);
}

static void run_vforks(void)
{
	for (int i = 0; i < 30; i++) {
		vfork_once(i & 1);
		hostile_sum += work(3000);
	}
}

/* The program is executed from memory. */
static void run_memory_file(void)
{
	char number[40];
	char buffer[4096];
	FILE *file = fopen(hostile_arguments[3], "r");
	int copy = memfd_create("copy", 0);
	size_t got;

	while (file && (got = fread(buffer, 1, sizeof(buffer), file)))
		if (write(copy, buffer, got) != (ssize_t)got)
			puts("no copy");
	snprintf(number, sizeof(number), "/proc/self/fd/%d", copy);
	hostile_arguments[3] = number;
	execv(hostile_arguments[0], hostile_arguments);
	puts("no exec");
}

static void run_bomb(void)
{
	enum { COUNT = 300 };
	static pid_t children[COUNT];
	int bad = 0;

	for (int i = 0; i < COUNT; i++) {
		children[i] = fork();
		if (!children[i]) {
			work(300);
			_exit(i & 1);
		}
	}
	for (int i = 0; i < COUNT; i++) {
		int status = 0;

		if (children[i] < 0 || waitpid(children[i], &status, 0) < 0 ||
		    status != (i & 1) << 8)
			bad++;
		hostile_sum += work(100);
	}
	printf("bad %d\n", bad);
}

static int child_in_memory(void *argument)
{
	(void)argument;
	return work(5000) == 0;
}

/* In qemu-user there is no such child. */
static void run_clone(void)
{
	static char stack[65536] __attribute__((aligned(16)));

	for (int i = 0; i < 10; i++) {
		pid_t child = clone(child_in_memory, stack + sizeof(stack), CLONE_VM | SIGCHLD, 0);

		hostile_sum += work(5000);
		if (child > 0)
			wait_for(child);
		child = clone(child_in_memory, stack + sizeof(stack), SIGCHLD, 0);
		wait_for(child);
	}
}

static void run_nproc(void)
{
	struct rlimit none = {0, 0};

	setrlimit(RLIMIT_NPROC, &none);
	hostile_sum += work(100000);
	run_forks(2, 1000);
}

static void run_dumpable(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	hostile_sum += work(50000);
	run_forks(3, 3000);
	run_threads(3, 3000, 0);
	if (!geteuid() && (setgid(65534) || setuid(65534)))
		puts("no other user");
	prctl(PR_SET_DUMPABLE, 0);
	hostile_sum += work(50000);
	run_forks(5, 3000);
	run_threads(3, 3000, 0);
}

static void run_chroot(void)
{
	mkdir("jail", 0755);
	printf("%d\n", chroot("jail"));
	printf("%d\n", chdir("/"));
	hostile_sum += work(50000);
	run_forks(3, 30000);
	run_threads(3, 3000, 0);
	for (int i = 3; i < 1024; i++)
		close(i);
	hostile_sum += work(50000);
	run_forks(3, 30000);
}

static void run_daemon(void)
{
	pid_t child = fork();

	if (!child) {
		pid_t second;
		int status;

		setsid();
		second = fork();
		if (!second) {
			for (int i = 0; i < 1024; i++)
				close(i);
			work(50000);
			_exit(0);
		}
		waitpid(second, &status, 0);
		_exit(status != 0);
	}
	wait_for(child);
}

/* qemu-user has no ptrace: then there is nothing to see but the error. */
static void run_ptrace(void)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, 0, 0))
			_exit(0);
		for (int i = 0; i < 5; i++) {
			work(3000);
			raise(SIGUSR1);
		}
		_exit(0);
	}
	while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
		ptrace(PTRACE_CONT, child, 0, 0);
	printf("%x\n", (unsigned)status);
}

/* A child that executes the program, which does the same, some deep. */
static void run_chain(void)
{
	const char *text = getenv("HOSTILE_DEPTH");
	int depth = text ? atoi(text) : 0;
	char *words[11] = {0};
	char number[20];
	int status = 0;
	pid_t child;

	/* what it is given, and once more for the child to give */
	for (int i = 0; i < 10; i++)
		words[i] = hostile_arguments[i % 5];

	hostile_sum += work(1000);
	if (depth == 5)
		exit(7);
	snprintf(number, sizeof(number), "%d", depth + 1);
	setenv("HOSTILE_DEPTH", number, 1);
	child = vfork();
	if (!child) {
		execv(words[0], words);
		_exit(1);
	}
	hostile_sum += work(1000);
	waitpid(child, &status, 0);
	printf("%d: %x\n", depth, (unsigned)status);
	exit(7);
}

/* Leaves what it shares with others, as a container's first process. */
static void run_unshare(void)
{
	static const int flags[] = {CLONE_FILES, CLONE_FS,     CLONE_SYSVSEM,
				    CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC};
	int space = open("/proc/self/ns/uts", O_RDONLY);

	for (unsigned i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		printf("%d\n", unshare(flags[i]));
		hostile_sum += work(20000);
		run_forks(2, 2000);
	}
	printf("%d\n", setns(space, CLONE_NEWUTS));
	hostile_sum += work(20000);
	run_threads(3, 3000, 0);
	/* children are in another PID namespace from here on, and have number 1 there */
	printf("%d\n", unshare(CLONE_NEWPID));
	hostile_sum += work(20000);
	run_forks(1, 3000);
}

const struct hostile_case process_cases[] = {
	{"spawned", run_spawned}, {"spawn", run_spawn},
	{"vforks", run_vforks},   {"memfile", run_memory_file},
	{"bomb", run_bomb},       {"clone", run_clone},
	{"nproc", run_nproc},     {"dumpable", run_dumpable},
	{"chroot", run_chroot},   {"daemon", run_daemon},
	{"ptrace", run_ptrace},   {"chain", run_chain},
	{"unshare", run_unshare}, {NULL, NULL},
};
