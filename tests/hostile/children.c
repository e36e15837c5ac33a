/* Children of programs with threads, in namespaces, and whose traces are removed. */

#define _GNU_SOURCE
#include "hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void around_fork(void)
{
	hostile_sum += work(300);
}

static void *forks_once(void *nothing)
{
	run_forks(3, 2000);
	return nothing;
}

/* Handlers of libc's fork that make calls, in several threads. */
static void run_atfork(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 5; i++)
		pthread_atfork(around_fork, around_fork, around_fork);
	run_forks(10, 3000);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], 0, forks_once, 0);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], 0);
}

/* The child closes all that it has, and takes the numbers that libraries like. */
static void run_spawn_closed(void)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t all;

	posix_spawn_file_actions_init(&actions);
	for (int i = 3; i < 1024; i++)
		posix_spawn_file_actions_addclose(&actions, i);
	for (int i = 898; i < 910; i++)
		posix_spawn_file_actions_addopen(&actions, i, "/dev/null", O_RDWR, 0);
	posix_spawnattr_init(&attributes);
	sigfillset(&all);
	posix_spawnattr_setsigmask(&attributes, &all);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
	for (int i = 0; i < 8; i++) {
		pid_t child;
		int status = 0;

		if (posix_spawn(&child, hostile_arguments[0], &actions, &attributes,
				hostile_arguments, environ))
			puts("no child");
		else if (waitpid(child, &status, 0), status != 0x700)
			printf("status %x\n", (unsigned)status);
		hostile_sum += work(3000);
	}
}

static void *works_for_ever(void *nothing)
{
	for (;;)
		hostile_sum += work(100);
	return nothing;
}

static void *executes(void *nothing)
{
	hostile_sum += work(3000);
	execv(hostile_arguments[0], hostile_arguments);
	puts("no exec");
	return nothing;
}

/* A thread executes a program while others record. */
static void run_exec_thread(void)
{
	for (int i = 0; i < 8; i++) {
		int status = 0;
		pid_t child = fork();

		if (!child) {
			pthread_t thread;

			for (int j = 0; j < 3; j++)
				pthread_create(&thread, 0, works_for_ever, 0);
			pthread_create(&thread, 0, executes, 0);
			works_for_ever(0);
		}
		waitpid(child, &status, 0);
		if (status != 0x700)
			printf("status %x\n", (unsigned)status);
	}
}

/* As programs do that want their addresses to be the same each time. */
static void run_personality(void)
{
	int old = personality(0xffffffff);

	hostile_sum += work(3000);
	if (old == -1 || personality((unsigned)old | ADDR_NO_RANDOMIZE) == -1)
		puts("no personality");
	run_forks(2, 3000);
	fflush(stdout);
	execv(hostile_arguments[0], hostile_arguments);
	puts("no exec");
}

/* A child in a user namespace, first as an unknown user, then as root. */
static void run_user_space(void)
{
	pid_t child = fork();

	if (!child) {
		printf("%d\n", unshare(CLONE_NEWUSER));
		hostile_sum += work(50000);
		run_forks(2, 30000);
		run_threads(3, 3000, 0);
		printf("%d\n", unshare(CLONE_NEWNS | CLONE_NEWNET));
		hostile_sum += work(50000);
		run_forks(2, 30000);
		fflush(stdout);
		_exit(0);
	}
	wait_for(child);
}

/* Processes of one number, each in a PID namespace, at the same time. */
static void run_same_pid(void)
{
	enum { COUNT = 6 };
	pid_t children[COUNT];

	for (int i = 0; i < COUNT; i++) {
		children[i] = fork();
		if (!children[i]) {
			pid_t child;

			if (unshare(CLONE_NEWPID))
				puts("no namespace");
			child = fork();
			if (!child) {
				work(30000);
				run_forks(3, 3000);
				_exit(0);
			}
			wait_for(child);
			_exit(0);
		}
	}
	for (int i = 0; i < COUNT; i++)
		wait_for(children[i]);
}

/* Writes over its arguments and its environment, as daemons do for ps. */
static void run_title(void)
{
	char *first = environ[0];
	char *at = first;

	for (int i = 0; environ[i]; i++)
		if (environ[i] >= at)
			at = environ[i] + strlen(environ[i]);
	memset(first, 'x', (size_t)(at - first));
	environ = 0;
	hostile_sum += work(50000);
	run_forks(3, 30000);
	run_threads(3, 3000, 0);
}

static int removes(const char *path, const struct stat *about, int kind, struct FTW *where)
{
	(void)about;
	(void)kind;
	(void)where;
	return remove(path) && errno != ENOENT && errno != ENOTEMPTY;
}

/* The traces are removed while they are written. */
static void run_gone(void)
{
	const char *folder = getenv("LITIFUT_DIR");

	for (int i = 0; i < 4; i++) {
		hostile_sum += work(50000);
		if (folder)
			nftw(folder, removes, 20, FTW_DEPTH | FTW_PHYS);
		hostile_sum += work(50000);
		run_forks(3, 30000);
		run_threads(2, 20000, 0);
	}
}

/* A file of that name takes the place of the folder. */
static void run_replaced(void)
{
	const char *folder = getenv("LITIFUT_DIR");

	hostile_sum += work(50000);
	if (folder) {
		nftw(folder, removes, 20, FTW_DEPTH | FTW_PHYS);
		close(open(folder, O_CREAT | O_WRONLY, 0600));
	}
	hostile_sum += work(50000);
	run_forks(3, 30000);
	for (int i = 3; i < 1024; i++)
		close(i);
	run_forks(3, 30000);
	if (folder)
		remove(folder);
}

/* The parent ends first. */
static void run_orphan(void)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		puts("no pipe");
	for (int i = 0; i < 4; i++) {
		if (fork())
			continue;
		close(ends[0]);
		usleep(30000);
		work(30000);
		run_forks(1, 3000);
		_exit(0);
	}
	close(ends[1]);
	if (!fork()) {
		if (read(ends[0], &byte, 1))
			puts("?");
		hostile_sum += work(30000);
		_exit(0);
	}
}

const struct hostile_case child_cases[] = {
	{"atfork", run_atfork},
	{"spawnclosed", run_spawn_closed},
	{"execthread", run_exec_thread},
	{"personality", run_personality},
	{"userspace", run_user_space},
	{"samepid", run_same_pid},
	{"title", run_title},
	{"gone", run_gone},
	{"replaced", run_replaced},
	{"orphan", run_orphan},
	{NULL, NULL},
};
