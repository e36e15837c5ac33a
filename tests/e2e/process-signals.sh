#!/bin/sh
# Signal handlers that make traced calls: on the stack of the interrupted code,
# on an alternate stack, nested, left by siglongjmp, and a fault in a traced call.
. "$(dirname "$0")/../lib.sh"

behaviour()
{
	cat >main.c <<-'END'
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/time.h>
		#define KEEP __attribute__((noipa))
		static volatile sig_atomic_t ticks;
		static sigjmp_buf place;
		static KEEP int leaf(int x) { return x + 1; }
		static KEEP int work(int x) { return leaf(x) * 3; }
		static KEEP void count(void) { ticks++; }
		static void on_tick(int number) { (void)number; count(); __asm__ volatile(""); }
		static void on_first(int number) { work(number); raise(SIGUSR2); count(); __asm__ volatile(""); }
		static void on_second(int number) { work(number); count(); __asm__ volatile(""); }
		static void on_fault(int number) { work(number); siglongjmp(place, 1); }
		static void install(int number, void (*handler)(int), int flags)
		{
			struct sigaction action;
			memset(&action, 0, sizeof(action));
			action.sa_handler = handler;
			action.sa_flags = flags;
			sigaction(number, &action, 0);
		}
		int main(int arguments, char **words)
		{
			static char alternate[65536];
			stack_t stack = {.ss_sp = alternate, .ss_size = sizeof(alternate)};
			unsigned sum = 0;
			(void)words;
			sigaltstack(&stack, 0);
			install(SIGUSR1, on_first, SA_ONSTACK);
			install(SIGUSR2, on_second, 0);
			install(SIGSEGV, on_fault, SA_ONSTACK | SA_NODEFER);
			raise(SIGUSR1);
			printf("nested %d\n", (int)ticks);
			for (int i = 0; i < 3; i++) {
				if (sigsetjmp(place, 1))
					puts("fault");
				else
					*(volatile int *)8 = 1;
			}
			if (arguments > 1) {
				/* in the midst of traced calls, wherever that may be */
				struct itimerval often = {{0, 300}, {0, 300}};
				ticks = 0;
				install(SIGALRM, on_tick, SA_ONSTACK | SA_RESTART);
				setitimer(ITIMER_REAL, &often, 0);
				while (ticks < 100)
					for (unsigned i = 0; i < 1000; i++)
						sum += (unsigned)work((int)i);
				memset(&often, 0, sizeof(often));
				setitimer(ITIMER_REAL, &often, 0);
			}
			puts("done");
			return 0;
		}
	END
	link program ../main.c || return
	same_run program
	events_equal_calls program
	is "calls in handlers are recorded" "$(recorded work) $(recorded count)" "5 2"
	same_run program asynchronous
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/program
	ok "asynchronous signals: each work has its leaf" balanced
}

balanced()
{
	equal "$(recorded work)" "$(recorded leaf)" && [ "$(recorded count)" -ge 100 ]
}

for_targets behaviour
