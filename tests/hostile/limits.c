/* Limits that are low, or become so, and file systems that go. */

#define _GNU_SOURCE
#include "hostile.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Each limit, in the middle of the run; some by a child, from outside. */
static void limit_one(int what, rlim_t to, const char *name)
{
	struct rlimit limit = {to, RLIM_INFINITY};
	struct rlimit old;
	pid_t parent = getpid();
	pid_t child;

	getrlimit((__rlimit_resource_t)what, &old);
	child = fork();
	if (!child) {
		limit.rlim_max = old.rlim_max;
		work(500);
		_exit(prlimit(parent, (__rlimit_resource_t)what, &limit, 0) != 0);
	}
	wait_for(child);
	hostile_sum += work(100000);
	child = fork();
	if (!child) {
		work(30000);
		_exit(0);
	}
	if (child > 0)
		wait_for(child);
	prlimit(0, (__rlimit_resource_t)what, &old, 0);
	hostile_sum += work(20000);
	printf("%s\n", name);
}

static void run_limits(void)
{
	limit_one(RLIMIT_AS, 1 << 20, "as");
	limit_one(RLIMIT_DATA, 0, "data");
	limit_one(RLIMIT_STACK, 65536, "stack");
	limit_one(RLIMIT_NOFILE, 0, "nofile");
	limit_one(RLIMIT_FSIZE, 0, "fsize");
	limit_one(RLIMIT_MEMLOCK, 0, "memlock");
	limit_one(RLIMIT_NICE, 0, "nice");
	limit_one(RLIMIT_SIGPENDING, 0, "sigpending");
	limit_one(RLIMIT_MSGQUEUE, 0, "msgqueue");
	run_threads(3, 3000, 0);
}

/* A program whose limits are low from the beginning. */
static void execute_limited(int what, rlim_t to)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		struct rlimit limit = {to, to};

		setrlimit((__rlimit_resource_t)what, &limit);
		execv(hostile_arguments[0], hostile_arguments);
		_exit(1);
	}
	waitpid(child, &status, 0);
	printf("%x\n", (unsigned)status);
}

static void run_tight(void)
{
	execute_limited(RLIMIT_AS, 6 << 20);
	execute_limited(RLIMIT_AS, 24 << 20);
	execute_limited(RLIMIT_STACK, 96 << 10);
	execute_limited(RLIMIT_STACK, RLIM_INFINITY);
	execute_limited(RLIMIT_DATA, 1 << 20);
	execute_limited(RLIMIT_NOFILE, 8);
	execute_limited(RLIMIT_FSIZE, 20000);
}

static void run_without_proc(void)
{
	pid_t child = fork();

	if (!child) {
		printf("%d\n", unshare(CLONE_NEWNS));
		printf("%d\n", mount("none", "/", 0, MS_REC | MS_PRIVATE, 0));
		printf("%d\n", umount2("/proc", MNT_DETACH));
		hostile_sum += work(50000);
		run_forks(3, 30000);
		run_threads(3, 3000, 0);
		fflush(stdout);
		if (hostile_arguments[0])
			execv(hostile_arguments[0], hostile_arguments);
		_exit(0);
	}
	int status = 0;
	waitpid(child, &status, 0);
	printf("%x\n", (unsigned)status);
}

/* A new root that cannot be written to. */
static void run_pivot(void)
{
	pid_t child;

	mkdir("jail", 0755);
	child = fork();
	if (!child) {
		printf("%d\n", unshare(CLONE_NEWNS));
		printf("%d\n", mount("none", "/", 0, MS_REC | MS_PRIVATE, 0));
		printf("%d\n", mount("none", "jail", "tmpfs", 0, "size=64k"));
		mkdir("jail/old", 0755);
		if (chdir("jail"))
			puts("no jail");
		printf("%ld\n", syscall(SYS_pivot_root, ".", "old"));
		printf("%d\n", chdir("/"));
		hostile_sum += work(50000);
		run_forks(2, 20000);
		printf("%d\n", umount2("/old", MNT_DETACH));
		printf("%d\n", mount("none", "/", 0, MS_REMOUNT | MS_RDONLY, 0));
		hostile_sum += work(50000);
		run_forks(2, 20000);
		for (int i = 3; i < 1024; i++)
			close(i);
		hostile_sum += work(50000);
		run_forks(2, 20000);
		fflush(stdout);
		_exit(0);
	}
	wait_for(child);
}

const struct hostile_case limit_cases[] = {
	{"limits", run_limits}, {"tight", run_tight}, {"noproc", run_without_proc},
	{"pivot", run_pivot},   {NULL, NULL},
};
