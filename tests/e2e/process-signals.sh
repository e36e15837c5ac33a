#!/bin/sh
# Signal handlers that make traced calls: on the stack of the interrupted code,
# on an alternate stack, nested, left by siglongjmp, and a fault in a traced call. And at
# each instruction of a thunk, also one whose calls take more than a chunk.
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
	stepped
	[ "$target" = armel ] || return 0
	# a CPU before ARMv6K: by the kernel's helpers
	target="armel on an ARM926" guest_environment=QEMU_CPU=arm926
	at_each_instruction 1
	at_each_instruction 5000
	guest_environment=
}

# The debugger stops at each instruction between a call and its callee, where a signal comes.
stepped_sources()
{
	cat >stepped.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned calls, signals;
		static int more;
		KEEP int leaf(int x) { calls++; return x + 1; }
		KEEP int pointer(int (*function)(int), int x) { return function(x) * 3; }
		KEEP int direct(int x) { return leaf(x) * 2; }
		KEEP int tail(int x) { return leaf(x * 2); }
		static void on_signal(int number)
		{
			signals++;
			for (int i = 0; i < more; i++)
				leaf(number);
		}
		int main(int arguments, char **words)
		{
			more = arguments > 1 ? atoi(words[1]) : 1;
			signal(SIGUSR1, on_signal);
			for (int i = 0; i < 100; i++)
				direct(i) + pointer(leaf, i) + tail(i);
			while (signals < (unsigned)(arguments > 2 ? atoi(words[2]) : 0))
				direct(0) + pointer(leaf, 0) + tail(0);
			printf("%u\n", calls);
			return 0;
		}
	END
	cat >stepped.py <<-'END'
		import gdb

		def name():
		    return gdb.newest_frame().name() or ""

		def places(caller):
		    """Where the tracer is between the call that the caller makes and the callee."""
		    point = gdb.Breakpoint(caller)
		    point.ignore_count = 50
		    gdb.execute("continue")
		    point.delete()
		    found = []
		    while name() != "leaf":
		        if name().startswith("litifut_"):
		            found.append(gdb.newest_frame().pc())
		        gdb.execute("stepi")
		    return found

		gdb.execute("handle SIGUSR1 nostop noprint pass")
		ways = [(caller, places(caller)) for caller in ("direct", "pointer", "tail")]
		for caller, found in ways:
		    for place in found:
		        start = gdb.Breakpoint(caller)
		        gdb.execute("continue")
		        start.delete()
		        gdb.execute(f"tbreak *{place}")
		        gdb.execute("continue")
		        gdb.execute("queue-signal SIGUSR1")
		        gdb.execute("stepi")
		gdb.execute("set var more = 0")
		gdb.execute("set var signals = 100000")
		gdb.execute("continue")
		print("steps", *(len(found) for caller, found in ways))
	END
}

# at_each_instruction CALLS: so many are made by the handler
at_each_instruction()
{
	rm -rf data socket
	# shellcheck disable=SC2086
	env -i $guest_environment LITIFUT_DIR="$(pwd)/data" LITIFUT_BULK_KB=16 timeout 100 "qemu-$cpu" \
		-L "$sysroot" -g socket traced/stepped "$1" 100000 >stepped.out 2>stepped.err &
	tries=0
	until [ -S socket ] || [ $tries -gt 200 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	timeout 100 gdb-multiarch -nx -batch -ex "set remotetimeout 100" -ex "set sysroot $sysroot" -ex 'file traced/stepped' \
		-ex 'target remote socket' -ex 'source stepped.py' >gdb.out 2>&1
	wait
	steps=$(sed -n 's/^steps//p' gdb.out)
	ok "a signal at each of$steps instructions, with $1 calls" \
		test "$(echo "$steps" | awk '$1 > 7 && $2 > 7 && $3 > 7')"
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/stepped 2>post.err
	is "each call is recorded once" "$(recorded leaf)" "$(cat stepped.out)"
	ok "and none is lost" grep -q ', 0 lost,' post.err
}

stepped()
{
	command -v gdb-multiarch >/dev/null || {
		skip "a signal at each instruction of a thunk" "no gdb-multiarch"
		return
	}
	stepped_sources
	link stepped ../stepped.c || return
	at_each_instruction 1
	at_each_instruction 5000
}

balanced()
{
	equal "$(recorded work)" "$(recorded leaf)" && [ "$(recorded count)" -ge 100 ]
}

for_targets behaviour
