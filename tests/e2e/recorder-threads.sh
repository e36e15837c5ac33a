#!/bin/sh
# The recorder with everything that can come between two events: threads that
# live long, many that are short, signal handlers that make calls while the
# same thread is recording, and forked and executed processes. The
# events of each thread are its executed calls, in order. On armel all of it is
# done on an ARMv5 CPU as well.
#
#   STRESS=4 tests/e2e/recorder-threads.sh      so many times as much
. "$(dirname "$0")/../lib.sh"
few_targets armhf mipsel

STRESS=${STRESS:-1}

threads()
{
	cat >threads.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		static unsigned sum[64];
		KEEP void leaf(unsigned n) { __atomic_add_fetch(&sum[n % 64], n, __ATOMIC_RELAXED); }
		KEEP void twice(unsigned n) { leaf(n); leaf(n + 1); __asm__ volatile(""); }
		static void *worker(void *argument)
		{
			for (unsigned i = 0; i < 20000 * STRESS; i++)
				twice((unsigned)(long)argument + i);
			return argument;
		}
		static void *brief(void *argument)
		{
			twice((unsigned)(long)argument);
			return argument;
		}
		int main(void)
		{
			pthread_t thread[4];
			unsigned total = 0;
			for (long i = 0; i < 4; i++)
				pthread_create(&thread[i], 0, worker, (void *)i);
			for (int i = 0; i < 4; i++)
				pthread_join(thread[i], 0);
			for (long i = 0; i < 300 * STRESS; i++) {
				pthread_create(&thread[i % 4], 0, brief, (void *)i);
				if (i % 4 == 3)
					for (int j = 0; j < 4; j++)
						pthread_join(thread[j], 0);
			}
			for (int i = 0; i < 64; i++)
				total += sum[i];
			printf("%u\n", total);
			return 0;
		}
	END
	flags="-pthread -DSTRESS=$STRESS"
	link threads ../threads.c || return
	same_run threads
	events_equal_calls threads
	ok "no event is lost" no_loss
}

no_loss()
{
	"$BUILD/bin/litifut-post" -o calls.txt data/trace data/maps traced 2>&1 | grep ' 0 lost'
}

signals()
{
	cat >signals.c <<-'END'
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <sys/time.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned handled, work;
		KEEP void in_handler(int n) { work += n; __asm__ volatile(""); }
		KEEP void nested(int n) { in_handler(n); in_handler(n); __asm__ volatile(""); }
		static void on_alarm(int number)
		{
			for (int i = 0; i < 50; i++)
				nested(number);
			handled++;
		}
		KEEP void leaf(void) { work++; }
		int main(void)
		{
			struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_RESTART };
			struct itimerval every = { { 0, 500 }, { 0, 500 } };
			sigaction(SIGALRM, &action, 0);
			setitimer(ITIMER_REAL, &every, 0);
			while (handled < 500 * STRESS)
				for (int i = 0; i < 100; i++)
					leaf();
			every.it_interval.tv_usec = every.it_value.tv_usec = 0;
			setitimer(ITIMER_REAL, &every, 0);
			puts("done");
			return 0;
		}
	END
	flags="-DSTRESS=$STRESS"
	link signals ../signals.c || return
	same_run signals
	oracle_compare=compare-any-order
	events_equal_calls signals
	oracle_compare=compare
	ok "no event is lost" no_loss
	is "each call of a handler is there" $(($(recorded in_handler) % 100)) 0
}

processes()
{
	cat >processes.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		KEEP void in_parent(void) { __asm__ volatile(""); }
		KEEP void in_child(void) { __asm__ volatile(""); }
		KEEP void in_grandchild(void) { __asm__ volatile(""); }
		KEEP void in_thread(void) { __asm__ volatile(""); }
		static void *thread(void *stop)
		{
			while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
				in_thread();
				usleep(100);
			}
			return 0;
		}
		static void join(pid_t child)
		{
			int status = 1;
			waitpid(child, &status, 0);
			printf("child: %d\n", status);
			fflush(stdout);
		}
		int main(int count, char **arguments)
		{
			pthread_t one;
			int stop = 0;
			pid_t child;
			(void)arguments;
			if (count > 1) { /* executed */
				in_grandchild();
				return 0;
			}
			pthread_create(&one, 0, thread, &stop);
			for (int i = 0; i < 20 * STRESS; i++) {
				in_parent();
				child = fork();
				if (!child) {
					for (int j = 0; j < 1000; j++)
						in_child();
					child = fork();
					if (!child) {
						in_grandchild();
						_exit(0);
					}
					waitpid(child, 0, 0);
					exit(0);
				}
				join(child);
			}
			in_parent();
			__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
			pthread_join(one, 0);
			in_parent();
			return 0;
		}
	END
	flags="-pthread -DSTRESS=$STRESS"
	link processes ../processes.c || return
	same_run processes
	ok "no event is lost" no_loss
	is "a trace for each process" "$(find data/trace -type f | wc -l)" $((40 * STRESS + 1))
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/processes 2>post.err
	is "the children's calls" "$(recorded in_child)" $((20000 * STRESS))
	is "their children's calls" "$(recorded in_grandchild)" $((20 * STRESS))
	is "the parent's calls" "$(recorded in_parent)" $((20 * STRESS + 2))
	is "each process keeps to its own trace" \
		"$(awk -F '\t' '$9 == "in_child" || $10 == "in_child" { print $1 }' events.tsv | sort -u | wc -l)" $((20 * STRESS))
}

behaviour()
{
	threads
	signals
	processes
	[ "$target" = armel ] || return 0
	# before ARMv6K: no thread register, no LDREX; the kernel's helper page instead
	target="armel on an ARM926"
	guest_environment=QEMU_CPU=arm926
	threads
	signals
	processes
	guest_environment=
}

for_targets behaviour
