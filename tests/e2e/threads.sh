#!/bin/sh
# Threads: each one's calls are recorded in its own order, on the smallest stack
# that the system allows, while others start and end.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.c <<-'END'
		#include <limits.h>
		#include <pthread.h>
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		static KEEP int leaf(int x) { return x + 1; }
		static KEEP int work(int x) { return leaf(x) + leaf(x + 1); }
		static int (*volatile pointer)(int) = work;
		static void *thread(void *argument)
		{
			int sum = 0;
			for (int i = 0; i < 100; i++)
				sum += i & 1 ? work(i) : pointer(i);
			*(int *)argument = sum;
			return 0;
		}
		int main(void)
		{
			pthread_t threads[8];
			pthread_attr_t small;
			int sums[8], all = 0;
			pthread_attr_init(&small);
			pthread_attr_setstacksize(&small, 16384 < PTHREAD_STACK_MIN ? PTHREAD_STACK_MIN : 16384);
			for (int round = 0; round < 3; round++) {
				for (int i = 0; i < 8; i++)
					if (pthread_create(&threads[i], &small, thread, &sums[i]))
						return 1;
				for (int i = 0; i < 8; i++) {
					pthread_join(threads[i], 0);
					all += sums[i];
				}
			}
			printf("%d\n", all);
			return 0;
		}
	END
	flags=-pthread
	link program ../main.c || return
	same_run program
	events_equal_calls program
	is "every call of every thread" "$(recorded leaf) $(recorded work)" "4800 2400"
	[ "$target" = armel ] || return
	# a CPU without the thread register and exclusive accesses
	guest_environment=QEMU_CPU=arm926
	same_run program
	events_equal_calls program
	is "arm926: every call of every thread" "$(recorded leaf) $(recorded work)" "4800 2400"
}

for_targets behaviour
