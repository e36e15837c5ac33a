#!/bin/sh
# A backtrace from within the tracer goes through its stub to the caller and on to
# main: what a signal handler or a recorder of the user's own sees.
. "$(dirname "$0")/../lib.sh"

sources()
{
	cat >recorder.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <execinfo.h>
		#include <litifut/litifut.h>
		#include <stdio.h>
		#include <string.h>
		unsigned watched, complete, in_caller;
		int watching;
		static int busy;
		void litifut_record_trace(const struct litifut_call *call)
		{
			void *addresses[64];
			Dl_info info;
			int depth, i, found = 0;
			if (!watching || busy)
				return;
			busy = 1;
			depth = backtrace(addresses, 64);
			watched++;
			for (i = 0; i < depth; i++) {
				if ((((unsigned)addresses[i] ^ call->return_address) & ~1u) == 0 && !found++)
					in_caller++;
				if (dladdr(addresses[i], &info) && info.dli_sname && !strcmp(info.dli_sname, "main")) {
					complete++;
					break;
				}
			}
			busy = 0;
		}
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		extern unsigned watched, complete, in_caller;
		extern int watching;
		KEEP int leaf(int x) { return x + 1; }
		KEEP int middle(int (*function)(int), int x) { int r = function(x); r += leaf(r); return r + leaf(x); }
		KEEP int tail(int x) { return leaf(x * 2); }
		KEEP int deep(int n) { int r = n ? deep(n - 1) : middle(leaf, 3) + tail(4); __asm__ volatile(""); return r + 1; }
		int main(void)
		{
			int sum;
			watching = 1;
			sum = deep(5);
			watching = 0;
			printf("%d: %u of %u with main, %u with the caller\n", sum, complete, watched, in_caller);
			return 0;
		}
	END
	cat >handler.c <<-'END'
		#define _GNU_SOURCE
		#include <execinfo.h>
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/time.h>
		#define KEEP __attribute__((noipa))
		static volatile sig_atomic_t ticks, frames;
		static void on_tick(int number)
		{
			void *addresses[64];
			(void)number;
			frames += backtrace(addresses, 64) > 0;
			ticks++;
		}
		KEEP int leaf(int x) { return x + 1; }
		KEEP int work(int (*function)(int), int x) { return function(x) * 3 + leaf(x); }
		int main(void)
		{
			struct itimerval often = {{0, 500}, {0, 500}};
			struct sigaction action;
			void *addresses[64];
			unsigned sum = 0;
			memset(&action, 0, sizeof(action));
			action.sa_handler = on_tick;
			action.sa_flags = SA_RESTART;
			backtrace(addresses, 64); /* loads the unwinder */
			sigaction(SIGALRM, &action, 0);
			setitimer(ITIMER_REAL, &often, 0);
			while (ticks < 300)
				for (unsigned i = 0; i < 100; i++)
					sum += (unsigned)work(leaf, (int)i);
			memset(&often, 0, sizeof(often));
			setitimer(ITIMER_REAL, &often, 0);
			puts(frames == ticks ? "each had frames" : "none");
			return 0;
		}
	END
}

behaviour()
{
	sources
	flags="-fPIC -funwind-tables -I$root/include -c"
	compiler -o recorder.o recorder.c
	export LITIFUT_RECORDER=../recorder.o
	mkdir -p traced
	flags="-funwind-tables -rdynamic"
	ok "link with a recorder that makes backtraces" traced_link program ../main.c -ldl
	unset LITIFUT_RECORDER
	run traced program
	# of the tail call the caller is gone, as it should be
	is "a recorder's backtrace: through the stub to the caller, and on to main" \
		"$(cat traced.out)" "28: 12 of 12 with main, 11 with the caller"
	# wherever the signal comes: not an honest backtrace each time, but no crash
	link handler ../handler.c || return
	same_run handler
}

traced_link()
{
	(cd traced && front="$BUILD/bin/litifut build" compiler -o "$@")
}

for_targets behaviour
