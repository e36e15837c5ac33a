/* hostile CASE: runs one case. */

#define _GNU_SOURCE
#include "hostile.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

char **hostile_arguments;
char hostile_folder[500];
volatile unsigned hostile_sum;
volatile int hostile_ticks;

static KEEP unsigned leaf(unsigned n)
{
	if (n & 1)
		return n * 3;
	return n + 1;
}

KEEP unsigned work(unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += leaf(i);
	return sum;
}

KEEP void *work_in_thread(void *n)
{
	return (void *)(uintptr_t)work((unsigned)(uintptr_t)n);
}

void run_threads(int count, unsigned n, size_t stack)
{
	pthread_t threads[32];
	pthread_attr_t attributes;
	unsigned sum = 0;

	pthread_attr_init(&attributes);
	if (stack && pthread_attr_setstacksize(&attributes, stack))
		puts("no such stack");
	for (int i = 0; i < count; i++) {
		if (pthread_create(&threads[i], &attributes, work_in_thread,
				   (void *)(uintptr_t)n)) {
			puts("no thread");
			exit(9);
		}
	}
	for (int i = 0; i < count; i++) {
		void *result;

		pthread_join(threads[i], &result);
		sum += (unsigned)(uintptr_t)result;
	}
	printf("threads %u\n", sum);
}

void wait_for(pid_t child)
{
	int status = 0;

	if (child <= 0 || waitpid(child, &status, 0) != child)
		puts("no child");
	else if (status)
		printf("child %x\n", (unsigned)status);
}

void run_forks(int count, unsigned n)
{
	for (int i = 0; i < count; i++) {
		pid_t child = fork();

		if (!child) {
			work(n);
			_exit(0);
		}
		wait_for(child);
	}
}

void tick(int microseconds)
{
	struct itimerval timer = {{0, microseconds}, {0, microseconds}};

	setitimer(ITIMER_REAL, &timer, 0);
}

void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	sigaction(number, &action, 0);
}

void on_tick(int number)
{
	(void)number;
	hostile_ticks++;
	hostile_sum += work(50);
}

int find_mappings(const char *with, unsigned long *from, unsigned long *to, int most)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[400];
	int count = 0;

	while (file && count < most && fgets(line, sizeof(line), file))
		if (strstr(line, with) && !strstr(line, "[v") &&
		    sscanf(line, "%lx-%lx", &from[count], &to[count]) == 2)
			count++;
	if (file)
		fclose(file);
	return count;
}

int main(int count, char **words)
{
	static const struct hostile_case *const all[] = {
		memory_cases, signal_cases,  process_cases, thread_cases,    descriptor_cases,
		end_cases,    fault_cases,   handler_cases, exception_cases, library_cases,
		kernel_cases, context_cases, limit_cases,   child_cases,     pointer_cases};
	const char *slash = strrchr(words[0], '/');
	bool found = false;

	hostile_arguments = words + 2;
	if (slash)
		snprintf(hostile_folder, sizeof(hostile_folder), "%.*s", (int)(slash - words[0]),
			 words[0]);
	setvbuf(stdout, 0, _IOLBF, 0);
	printf("%u\n", work(1000));
	for (unsigned i = 0; count > 1 && i < sizeof(all) / sizeof(all[0]); i++) {
		for (const struct hostile_case *at = all[i]; at->name; at++) {
			if (strcmp(at->name, words[1]))
				continue;
			found = true;
			at->run();
		}
	}
	if (!found)
		puts("there is no such case");
	printf("done %u\n", work(1000));
	return 3;
}
