#!/bin/sh
# A static program with threads: the start of a thread, in the C library's clone(), is
# a branch with a condition to another function, on MIPS far from the tracer. And its
# children: the C library's fork() is in the program as well.
. "$(dirname "$0")/../lib.sh"

nothing_is_left()
{
	! "$BUILD/bin/litifut" info --skipped "$1" | grep ^0x | grep -v ' not-a-call '
}

behaviour()
{
	cat >main.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <sys/wait.h>
		#include <unistd.h>

		static __attribute__((noinline)) long twice(long n)
		{
			return 2 * n;
		}

		static void *run(void *number)
		{
			return (void *)twice((long)number);
		}

		int main(void)
		{
			pthread_t threads[3];

			for (long i = 0; i < 3; i++)
				if (pthread_create(&threads[i], NULL, run, (void *)i))
					return 1;
			for (int i = 0; i < 3; i++) {
				void *result;

				pthread_join(threads[i], &result);
				printf("%ld\n", (long)result);
			}
			fflush(stdout);
			pid_t child = fork();
			int status;

			if (!child)
				_exit((int)twice(20));
			waitpid(child, &status, 0);
			printf("%d\n", WEXITSTATUS(status));
			return 0;
		}
	END
	link program ../main.c -static -pthread || return
	ok "no call is left" nothing_is_left traced/program
	same_run program
	events_equal_calls program
	case $cpu in
	mips*) is "each thread starts with an event" "$(recorded __thread_start)" 3 ;;
	esac
}

for_targets behaviour
