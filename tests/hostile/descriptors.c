/* Descriptors that are closed, taken, or not to be had, and files that may not grow. */

#define _GNU_SOURCE
#include "hostile.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static void run_closefrom(void)
{
	for (int i = 0; i < 20; i++) {
		int file;

		for (int j = 3; j < 1024; j++)
			close(j);
		hostile_sum += work(5000);
		file = open("/dev/null", O_RDWR);
		if (file != 3)
			printf("%d\n", file);
	}
	run_forks(3, 5000);
}

/* As many programs do before they execute another. */
static void run_closelist(void)
{
	for (int i = 0; i < 20; i++) {
		DIR *list = opendir("/proc/self/fd");
		struct dirent *item;

		while (list && (item = readdir(list))) {
			int number = atoi(item->d_name);

			if (number > 2 && number != dirfd(list))
				close(number);
		}
		if (list)
			closedir(list);
		hostile_sum += work(5000);
	}
	run_forks(3, 5000);
}

static void run_taken(void)
{
	int file = open("/dev/null", O_RDWR);

	for (int i = 890; i < 1000; i++)
		if (dup2(file, i) != i)
			printf("no %d\n", i);
	hostile_sum += work(100000);
	run_forks(2, 3000);
	for (int i = 890; i < 1000; i++)
		if (write(i, "x", 1) != 1)
			printf("not written to %d\n", i);
}

static void run_closed(void)
{
	int first, second;

	close(0);
	close(2);
	first = open("/dev/null", O_RDONLY);
	second = open("/dev/null", O_WRONLY);
	printf("%d %d\n", first, second);
	hostile_sum += work(50000);
	run_forks(3, 3000);
}

static void run_limited(int what, rlim_t to)
{
	struct rlimit limit = {to, to};

	printf("%d\n", setrlimit((__rlimit_resource_t)what, &limit));
	hostile_sum += work(100000);
	run_threads(4, 20000, 0);
	run_forks(5, 20000);
}

static void run_nofile(void)
{
	run_limited(RLIMIT_NOFILE, 3);
}

static void run_fsize(void)
{
	run_limited(RLIMIT_FSIZE, 0);
}

/* One file under every number that there is: the recorder may not write to it. */
static void run_over(void)
{
	int file = open(".", O_RDWR | O_TMPFILE, 0600);
	struct rlimit limit;

	getrlimit(RLIMIT_NOFILE, &limit);
	for (int i = 3; i < (int)limit.rlim_cur && i < 4096; i++)
		if (i != file)
			dup2(file, i);
	hostile_sum += work(100000);
	run_forks(2, 30000);
	printf("%ld\n", (long)lseek(file, 0, SEEK_END));
	if (syscall(SYS_close_range, 3, ~0u, 0))
		for (int i = 3; i < (int)limit.rlim_cur && i < 4096; i++)
			close(i);
	hostile_sum += work(100000);
	run_forks(2, 30000);
}

static void *closes_range(void *flags)
{
	syscall(SYS_close_range, 3, ~0u, (unsigned)(uintptr_t)flags);
	return work_in_thread((void *)20000);
}

/* All descriptors at once: in a thread that then has a table of descriptors to itself, to be closed
 * by exec, and for all. */
static void run_close_range(void)
{
	static const unsigned flags[] = {2, 4, 0};

	for (unsigned i = 0; i < 3; i++) {
		pthread_t thread;

		pthread_create(&thread, 0, closes_range, (void *)(uintptr_t)flags[i]);
		hostile_sum += work(50000);
		pthread_join(thread, 0);
		hostile_sum += work(50000);
		run_forks(2, 20000);
	}
}

const struct hostile_case descriptor_cases[] = {
	{"closefrom", run_closefrom}, {"closelist", run_closelist},    {"taken", run_taken},
	{"closed", run_closed},       {"nofile", run_nofile},          {"fsize", run_fsize},
	{"over", run_over},           {"closerange", run_close_range}, {NULL, NULL},
};
