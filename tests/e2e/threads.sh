#!/bin/sh
# Threads: each one's calls are recorded in its own order, on the smallest stack
# that the system allows, while others start and end. Coroutines on stacks of 16 KB,
# and threads that are cancelled in the midst of calls.
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
	cat >stacks.c <<-'END'
		#include <pthread.h>
		#include <stdio.h>
		#include <ucontext.h>
		#define KEEP __attribute__((noipa))
		static ucontext_t here, there[4];
		static char stacks[4][16384] __attribute__((aligned(16)));
		static int order[64], count;
		KEEP int note(int x) { order[count++] = x; return x; }
		KEEP int deep(int n) { int r = n ? deep(n - 1) : note(-1); __asm__ volatile(""); return r + 1; }
		static void coroutine(int number)
		{
			for (int i = 0; i < 3; i++) {
				note(number * 10 + i);
				deep(5);
				swapcontext(&there[number], &there[(number + 1) % 4]);
			}
		}
		static volatile int spins;
		static pthread_barrier_t barrier;
		static void ends(void *text) { note(-2); puts(text); }
		KEEP int spin(int x) { spins++; return x + 1; }
		static void *spinner(void *argument)
		{
			int old, x = 0;
			pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &old);
			pthread_cleanup_push(ends, argument);
			pthread_barrier_wait(&barrier);
			for (;;) {
				x = spin(x);
				pthread_testcancel();
			}
			pthread_cleanup_pop(0);
			return 0;
		}
		int main(void)
		{
			pthread_t thread;
			void *result;
			for (int i = 0; i < 4; i++) {
				getcontext(&there[i]);
				there[i].uc_stack.ss_sp = stacks[i];
				there[i].uc_stack.ss_size = sizeof(stacks[i]);
				there[i].uc_link = &here;
				makecontext(&there[i], (void (*)(void))coroutine, 1, i);
			}
			swapcontext(&here, &there[0]);
			for (int i = 0; i < count; i++)
				printf("%d ", order[i]);
			puts("");
			pthread_barrier_init(&barrier, 0, 2);
			pthread_create(&thread, 0, spinner, "cancelled");
			pthread_barrier_wait(&barrier);
			while (spins < 1000)
				;
			pthread_cancel(thread);
			pthread_join(thread, &result);
			puts(result == PTHREAD_CANCELED ? "joined" : "not cancelled");
			return 0;
		}
	END
	flags=-pthread
	link stacks ../stacks.c || return
	same_run stacks
	events_equal_calls stacks
	is "stacks: every call of every coroutine" "$(recorded deep)" 72
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
