#!/bin/sh
# A backtrace from within the tracer goes through its stub to the caller and on to
# main: what a signal handler or a recorder of the user's own sees.
. "$(dirname "$0")/../lib.sh"
few_targets armhf-arm armel mips

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
	cat >edges.c <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <execinfo.h>
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#define KEEP __attribute__((noipa))
		static volatile int signals, complete, in_work;
		static void on_signal(int number)
		{
			/* of `work' the trampoline takes the place, and it is left in a tail call */
			static const char *const frames[] = {"between", "main"};
			void *addresses[64];
			Dl_info info;
			int depth = backtrace(addresses, 64), found = 0;
			(void)number;
			for (int i = 0; i < depth && found < 2; i++)
				if (dladdr(addresses[i], &info) && info.dli_sname) {
					found += !strcmp(info.dli_sname, frames[found]);
					in_work += !strcmp(info.dli_sname, "work");
				}
			signals++;
			complete += found == 2;
			if (found < 2)
				fprintf(stderr, "signal %d: %d frames\n", signals, depth);
		}
		KEEP int leaf(int x) { return x + 1; }
		KEEP int work(int (*function)(int), int x) { return function(x) * 3; }
		KEEP int passes(int x) { return leaf(x * 2); }
		KEEP int direct(int x) { return leaf(x) * 3; }
		KEEP int between(int x)
		{
			int sum = work(leaf, x);
			sum += passes(x);
			sum += direct(x);
			return sum;
		}
		int main(void)
		{
			void *addresses[64];
			unsigned sum = 0;
			signal(SIGUSR1, on_signal);
			backtrace(addresses, 64); /* loads the unwinder */
			for (int i = 0; i < 400; i++)
				sum += (unsigned)between(i);
			printf("%u, each of %d complete, work is there: %d\n", sum, complete == signals ? signals : -1, in_work > 5);
			return 0;
		}
	END
	cat >edges.py <<-'END'
		import gdb

		def name():
		    return gdb.newest_frame().name() or ""

		def places(caller):
		    """Where the tracer is between the call that `caller` makes and the callee."""
		    point = gdb.Breakpoint(caller)
		    gdb.execute("continue")
		    gdb.execute("continue")
		    point.delete()
		    found = []
		    while name() != "leaf":
		        if name().startswith(("litifut_stub", "litifut_thunk", "litifut_trampolines")):
		            found.append(gdb.newest_frame().pc())
		        gdb.execute("stepi")
		    return found

		gdb.execute("handle SIGUSR1 nostop noprint pass")
		steps = [(caller, places(caller)) for caller in ("work", "direct", "passes")]
		for caller, found in steps:
		    for place in found:
		        start = gdb.Breakpoint(caller)
		        gdb.execute("continue")
		        start.delete()
		        gdb.execute(f"tbreak *{place}")
		        gdb.execute("continue")
		        gdb.execute("queue-signal SIGUSR1")
		        gdb.execute("stepi")
		gdb.execute("continue")
		print("steps", *(len(found) for caller, found in steps))
	END
	cat >fault.cc <<-'END'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <execinfo.h>
		#include <setjmp.h>
		#include <signal.h>
		#include <stdio.h>
		#include <string.h>
		#define KEEP __attribute__((noipa))
		struct object { int (*method)(int); };
		struct holder { int value; object *one; };
		struct noisy { int *counter; KEEP ~noisy() { ++*counter; } };
		static sigjmp_buf place;
		static int counter;
		static void on_fault(int)
		{
			void *addresses[64];
			Dl_info info;
			int depth = backtrace(addresses, 64);
			for (int i = 0; i < depth; i++)
				if (dladdr(addresses[i], &info) && info.dli_sname && strstr(info.dli_sname, "caller"))
					puts(info.dli_sname);
				else if (info.dli_sname && !strcmp(info.dli_sname, "main"))
					puts("main");
			siglongjmp(place, 1);
		}
		/* what reads the missing object is just before the call */
		extern "C" KEEP int faults(int x, holder *h) { return h->one->method(x) + x; }
		extern "C" KEEP int caller_of_faults(int x, holder *h) { return faults(x + 1, h) * 2; }
		extern "C" KEEP int faults_with_large_frame(int x, holder *h)
		{
			volatile int room[30];
			room[x] = x;
			return h->one->method(room[x]) + room[x];
		}
		extern "C" KEEP int caller_of_large(int x, holder *h) { return faults_with_large_frame(x, h) + 1; }
		extern "C" KEEP int faults_with_destructor(int x, holder *h)
		{
			noisy here{&counter};
			return h->one->method(x) + x;
		}
		extern "C" KEEP int caller_of_destructor(int x, holder *h) { return faults_with_destructor(x, h) + 1; }
		extern "C" KEEP int faults_in_tail(int, holder *h) { return h->one->method(5); }
		extern "C" KEEP int caller_of_tail(int x, holder *h) { return faults_in_tail(x, h) + 1; }
		int main()
		{
			int (*const functions[])(int, holder *) = {caller_of_faults, caller_of_large,
								   caller_of_destructor, caller_of_tail};
			holder h = {3, nullptr};
			void *addresses[64];
			backtrace(addresses, 64); /* loads the unwinder */
			for (int i = 0; i < 4; i++) {
				signal(SIGSEGV, on_fault);
				if (!sigsetjmp(place, 1))
					functions[i](i, &h);
			}
			return counter;
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
	language=g++
	for optimisation in -O2 -Os; do
		for LITIFUT_ENGINE in db thunk; do
			export LITIFUT_ENGINE
			link fault "$optimisation" ../fault.cc -ldl && same_run fault
			# of the others too, unless the compiler lets them fault in their prologue
			ok "$LITIFUT_ENGINE: the callers of what faults are there" \
				grep -qz 'caller_of_large.main' traced.out
		done
	done
	unset LITIFUT_ENGINE
	language=gcc
	# wherever the signal comes: not an honest backtrace each time, but no crash
	link handler ../handler.c || return
	same_run handler
	command -v gdb-multiarch >/dev/null || {
		skip "a signal at each instruction of the stub" "no gdb-multiarch"
		return
	}
	# the handler's own calls would stop the debugger
	export LITIFUT_EXCLUDE=on_signal
	flags="-funwind-tables -rdynamic"
	for LITIFUT_ENGINE in db thunk; do
		export LITIFUT_ENGINE
		link edges ../edges.c -ldl && at_each_instruction
	done
	# other thunks
	if [ "$target" != armel ]; then
		for LITIFUT_MODE in counts table; do
			export LITIFUT_MODE
			link edges ../edges.c -ldl && at_each_instruction
		done
	fi
	# of each callee
	if [ "$cpu" != arm ]; then
		flags="$flags -no-pie -fno-pic"
		for LITIFUT_MODE in calls counts spans; do
			export LITIFUT_MODE
			link edges ../edges.c -ldl && at_each_instruction
		done
	fi
	unset LITIFUT_EXCLUDE LITIFUT_ENGINE LITIFUT_MODE
}

# A signal comes at each instruction between a call and its callee that the tracer
# brings; the backtrace that its handler makes goes on to main.
at_each_instruction()
{
	rm -rf data socket
	# de-duplication sends each call of a thunk the long way
	env -i LITIFUT_DIR="$(pwd)/data" LITIFUT_DEDUP=1 timeout 100 "qemu-$cpu" -L "$sysroot" -g socket \
		traced/edges >edges.out 2>edges.err &
	tries=0
	until [ -S socket ] || [ $tries -gt 200 ]; do
		sleep 0.05
		tries=$((tries + 1))
	done
	timeout 100 gdb-multiarch -nx -batch -ex "set remotetimeout 100" -ex "set sysroot $sysroot" -ex 'file traced/edges' \
		-ex 'target remote socket' -ex 'source edges.py' >gdb.out 2>&1
	wait
	# shellcheck disable=SC2046
	set -- $(sed -n 's/^steps//p' gdb.out) 0 0 0
	ok "$LITIFUT_ENGINE${LITIFUT_MODE:+, $LITIFUT_MODE}: the tracer is on the way of a call through a pointer ($1 instructions), of another ($2), and of a tail call ($3)" \
		test "$1" -gt 5 -a "$2" -gt 5 -a "$3" -gt 9
	is "$LITIFUT_ENGINE${LITIFUT_MODE:+, $LITIFUT_MODE}: a backtrace at each of them goes on to main" "$(cat edges.err edges.out)" \
		"641200, each of $(($1 + $2 + $3)) complete, work is there: 1"
}

traced_link()
{
	(cd traced && front="$BUILD/bin/litifut build -q" compiler -o "$@")
}

for_targets behaviour
