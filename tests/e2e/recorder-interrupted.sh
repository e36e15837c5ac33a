#!/bin/sh
# A process that makes no system calls can't block signals: a handler comes at each instruction with
# which a thread changes to another chunk, or to one whose events are not recorded, and does the same.
# The program prints what it prints untraced, and its calls are in the trace or counted as lost.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# function NAME: its addresses, as the plugin takes them
function()
{
	nm -S traced/work | awk -v name="$1" '$4 == name { print $1, $2 }' | {
		read -r start size
		test -n "$size" || return
		printf 'from=%x,to=%x\n' $((0x$start & ~1)) $(((0x$start & ~1) + 0x$size))
	}
}

# interrupted RANGE COUNT: the handler comes behind so many instructions of a function
interrupted()
{
	rm -rf data
	qemu_options="-plugin $BUILD/tests/interrupt.so,$1,before=$2"
	run traced work
	qemu_options=
	# before the program has set its handler
	test "$(cat traced.status)" != 138 || return 2
	diff plain.status traced.status && diff plain.err traced.err || return
	grep -q interrupted traced.out || return 3
	grep -v interrupted traced.out | diff plain.out - &&
		"$BUILD/bin/litifut-post" -q -f report -o report.txt data/trace data/maps traced/work
}

# everywhere FUNCTION FIRST LAST STEP: at so many of its instructions, as far as it is executed
everywhere()
{
	came=0
	range=$(function "$1") || {
		echo "no function $1"
		return 1
	}
	for before in $(seq "$2" "$4" "$3"); do
		interrupted "$range" "$before"
		case $? in
		0) came=$((came + 1)) ;;
		2) ;;
		3) break ;;
		*)
			echo "$1, behind $before instructions"
			return 1
			;;
		esac
	done
	echo "the handler came $came times"
	[ "$came" -ge 3 ]
}

behaviour()
{
	cat >work.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned sum;
		KEEP void add(unsigned n) { sum += n; }
		KEEP void odd(unsigned n) { if (n & 1) add(n); }
		KEEP void work(unsigned n) { for (unsigned i = 0; i < n; i++) odd(i); }
		static void on_signal(int number)
		{
			unsigned before = sum;
			(void)number;
			work(300);
			sum = before;
			write(1, "interrupted\n", 12);
		}
		int main(void)
		{
			signal(SIGUSR1, on_signal);
			work(300000);
			printf("%u\n", sum);
			return 3;
		}
	END
	steps="8 600"
	[ -z "${LONG:-}" ] || steps="4 97"
	flags=-static
	for mode in paths calls; do
		export LITIFUT_MODE=$mode
		link work ../work.c || return
		unset LITIFUT_MODE
		run plain work
		guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_SYSCALLS=never LITIFUT_MAX_MB=1 LITIFUT_CLOCK=none"
		ok "$mode: while it leaves its last chunk" everywhere litifut_scratch_enter 0 400 "${steps% *}"
		ok "$mode: while it changes to another chunk" everywhere litifut_chunk_change 0 4000 "${steps#* }"
		guest_environment=
	done
}

for_targets behaviour
