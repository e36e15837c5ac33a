#!/bin/sh
# Programs that end badly: by abort(), _exit(), SIGKILL, a stack that overflows, a
# crash in a signal handler that came in the middle of anything. The program counts
# its calls in a file that it maps: each of them is in the trace, and at
# most the one that it was in besides.
#
#   STRESS=20 tests/e2e/recorder-crash.sh      so many times, crashing elsewhere each time
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mips

checker()
{
	cat >check.py <<-'END'
		import struct, sys
		order = {"l": "<", "b": ">"}[sys.argv[1]]
		with open(sys.argv[2], "rb") as file:
		    steps, handled = struct.unpack(order + "2I", file.read(8))
		counts = {"step": 0, "in_handler": 0}
		with open(sys.argv[3]) as file:
		    column = file.readline().rstrip("\n").split("\t").index("callee")
		    for line in file:
		        name = line.rstrip("\n").split("\t")[column]
		        if name in counts:
		            counts[name] += 1
		for name, done in (("step", steps), ("in_handler", handled)):
		    if not done <= counts[name] <= done + 1:
		        sys.exit(f"{name}: {done} calls, {counts[name]} events")
		if steps < int(sys.argv[4]) or handled < int(sys.argv[5]):
		    sys.exit(f"only {steps} steps and {handled} in handlers: it proves nothing")
		print(steps, "and", handled, "calls")
	END
}

program()
{
	cat >crash.c <<-'END'
		#define _GNU_SOURCE
		#include <fcntl.h>
		#include <signal.h>
		#include <stdint.h>
		#include <stdlib.h>
		#include <string.h>
		#include <sys/mman.h>
		#include <sys/time.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		static volatile uint32_t *progress;
		static int crash_at;
		KEEP void step(void) { __asm__ volatile(""); }
		KEEP void in_handler(void) { __asm__ volatile(""); }
		static void on_alarm(int number)
		{
			(void)number;
			for (int i = 0; i < 20; i++) {
				in_handler();
				progress[1]++;
			}
			if (!--crash_at)
				*(volatile int *)8 = 1;
		}
		static void on_overflow(int number)
		{
			(void)number;
			for (int i = 0; i < 20; i++) {
				in_handler();
				progress[1]++;
			}
			_exit(9);
		}
		static void work(int times)
		{
			for (int i = 0; i != times; i++) {
				step();
				progress[0]++;
			}
		}
		KEEP int deeper(int n)
		{
			volatile char room[200];
			room[0] = (char)n;
			step();
			progress[0]++;
			return deeper(n + 1) + room[0];
		}
		int main(int count, char **arguments)
		{
			const char *how = arguments[1];
			int file = open(arguments[count - 1], O_RDWR | O_CREAT, 0600);
			struct itimerval every = { { 0, 700 }, { 0, 700 } };
			stack_t stack = { .ss_sp = malloc(65536), .ss_size = 65536 };
			struct sigaction action = { .sa_handler = on_overflow, .sa_flags = SA_ONSTACK };
			if (ftruncate(file, 4096))
				return 1;
			progress = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
			if (!strcmp(how, "handler")) {
				crash_at = atoi(arguments[2]);
				action.sa_handler = on_alarm;
				sigaction(SIGALRM, &action, 0);
				setitimer(ITIMER_REAL, &every, 0);
				work(-1);
			}
			work(5000);
			if (!strcmp(how, "abort"))
				abort();
			if (!strcmp(how, "exit"))
				_exit(7);
			if (!strcmp(how, "kill"))
				kill(getpid(), SIGKILL);
			if (!strcmp(how, "caught")) {
				sigaltstack(&stack, 0);
				sigaction(SIGSEGV, &action, 0);
			}
			return deeper(0);
		}
	END
}

# ends HOW STEPS HANDLED SETTINGS...: at least so many calls
ends()
{
	how=$1
	steps=$2
	handled=$3
	shift 3
	byte_order=l
	[ "$cpu" = mips ] && byte_order=b
	rm -rf data progress
	run plain crash "$how" "$crash_at" progress
	rm -f progress
	guest_environment="LITIFUT_DIR=$(pwd)/data $*"
	run traced crash "$how" "$crash_at" progress
	guest_environment=
	ok "$how $*: ends as it does untraced" diff plain.status traced.status
	ok "$how $*: the trace is read" \
		"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/crash
	ok "$how $*: nothing missing, nothing invented" \
		python3 check.py $byte_order progress events.tsv "$steps" "$handled"
}

# A library that was there only for a while, in a program that is killed later.
unloaded()
{
	cat >library.c <<-'END'
		__attribute__((noipa)) static int inner(int n) { return n + 3; }
		int outer(int n) { return inner(n) + inner(n + 1); }
	END
	cat >loader.c <<-'END'
		#include <dlfcn.h>
		#include <signal.h>
		#include <unistd.h>
		__attribute__((noipa)) void step(void) { __asm__ volatile(""); }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 3; i++) {
				void *library = dlopen("libouter.so", RTLD_NOW);
				int (*function)(int);
				if (!library)
					return 1;
				function = (int (*)(int))dlsym(library, "outer");
				sum += function(i);
				dlclose(library);
				step();
			}
			kill(getpid(), SIGKILL);
			return sum;
		}
	END
	flags="-shared -fPIC"
	link libouter.so ../library.c || return
	flags=
	link loader ../loader.c -ldl || return
	rm -rf data
	run plain loader
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced loader
	guest_environment=
	ok "unloaded library: ends as it does untraced" diff plain.status traced.status
	ok "unloaded library: the trace is read" "$BUILD/bin/litifut-post" -f tsv -o events.tsv \
		data/trace data/maps traced/loader traced/libouter.so
	is "unloaded library: its calls have their names" "$(recorded inner)" 6
	is "unloaded library: and the program's own" "$(recorded step)" 3
}

behaviour()
{
	program
	checker
	flags="-Wno-infinite-recursion -Wno-unknown-warning-option"
	link crash ../crash.c || return
	flags=
	for time in $(seq "${STRESS:-1}"); do
		crash_at=$((39 + time))
		for settings in LITIFUT_CLOCK=none "LITIFUT_CLOCK=mono LITIFUT_BULK_KB=16"; do
			# shellcheck disable=SC2086
			for how in abort exit kill; do
				ends $how 5000 0 $settings
			done
			# shellcheck disable=SC2086
			{
				ends overflow 6000 0 $settings
				ends caught 6000 20 $settings
				ends handler 1000 800 $settings
			}
		done
	done
	unloaded
}

for_targets behaviour
