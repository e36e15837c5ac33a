#!/bin/sh
# A process that makes no system calls can't block signals: a handler comes at each instruction with
# which a thread changes to another chunk, or to one whose events are not recorded, and does the same.
# The program prints what it prints untraced, and its calls are in the trace or counted as lost.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# address NAME: where a function begins, and where it ends
address()
{
	nm -S traced/work | awk -v name="$1" '$4 == name { print $1, $2 }' | {
		read -r start size
		test -n "$size" || return
		printf '%x %x\n' $((0x$start & ~1)) $(((0x$start & ~1) + 0x$size))
	}
}

# interrupted RANGE COUNT: the handler comes behind so many instructions of a function
interrupted()
{
	rm -rf data
	qemu_options="-plugin $BUILD/tests/interrupt.so,$1,before=$2"
	run traced work
	qemu_options=
	diff plain.status traced.status && diff plain.err traced.err || return
	grep -q interrupted traced.out || return 3
	grep -v interrupted traced.out | diff plain.out - &&
		"$BUILD/bin/litifut-post" -q -f "$format" -o out.txt data/trace data/maps traced/work 2>post.err &&
		[ ! -s post.err ] && $counted && return
	cat post.err
	return 1
}

# everywhere FUNCTION LAST STEP: at so many of its instructions, as far as it is executed
everywhere()
{
	came=0
	# paths: a pointer leads to odd(); the direct call of work() leads behind its start, which is not executed
	begin=$(address odd) || return
	range=$(address "$1") || {
		echo "no function $1"
		return 1
	}
	range="after=${begin% *},from=${range% *},to=${range#* }"
	for before in $(seq 0 "$3" "$2"); do
		interrupted "$range" "$before"
		case $? in
		0) came=$((came + 1)) ;;
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

# all_in_table: no call is missing, but the one that was interrupted while it was stored
all_in_table()
{
	awk -F, '{ calls[$4] += $7 }
		END {
			add = calls["\"add\""]
			odd = calls["\"odd\""]
			print "add", add, "odd", odd
			exit add > 10000 || odd > 20000 || add + odd < 29999
		}' out.txt
}

behaviour()
{
	# the CPUs of armel may be older, and these modes are not there; the recorder of armhf-arm is that of armhf
	case $target in armel | armhf-arm) return 0 ;; esac
	cat >work.c <<-'END'
		#include <signal.h>
		#include <stdio.h>
		#include <unistd.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned sum;
		KEEP void add(unsigned n) { sum += n; }
		KEEP void odd(unsigned n) { if (n & 1) add(n); }
		static void (*volatile pointer)(unsigned) = odd;
		KEEP void work(unsigned n) { for (unsigned i = 0; i < n; i++) CALLED(i); }
		static void on_signal(int number)
		{
			unsigned before = sum;
			(void)number;
			work(IN_HANDLER);
			sum = before;
			write(1, "interrupted\n", 12);
		}
		int main(void)
		{
			signal(SIGUSR1, on_signal);
			work(IN_MAIN);
			printf("%u\n", sum);
			return 3;
		}
	END
	steps="8 600 7"
	[ -z "${LONG:-}" ] || steps="4 97 1"
	# shellcheck disable=SC2086
	set -- $steps
	counted=
	for mode in paths calls; do
		# a function that a pointer leads to is recorded by its address, which fills chunks
		[ $mode = paths ] && called=pointer format=coverage || called=odd format=report
		flags="-static -DIN_MAIN=300000 -DIN_HANDLER=300 -DCALLED=$called"
		export LITIFUT_MODE=$mode
		link work ../work.c || return
		unset LITIFUT_MODE
		run plain work
		guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_SYSCALLS=never LITIFUT_MAX_MB=1 LITIFUT_CLOCK=none"
		ok "$mode: while it leaves its last chunk" everywhere litifut_scratch_enter 400 "$1"
		ok "$mode: while it changes to another chunk" everywhere litifut_chunk_change 4000 "$2"
		guest_environment=
	done

	# A table has the chunks that are folded again. The handler fills more than can wait for that.
	flags="-static -DIN_MAIN=8000 -DIN_HANDLER=12000 -DCALLED=odd"
	format=csv counted=all_in_table
	export LITIFUT_MODE=table
	link work ../work.c || return
	unset LITIFUT_MODE
	run plain work
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_SYSCALLS=never LITIFUT_MAX_MB=4"
	ok "table: while it takes a place in another chunk" everywhere litifut_put 2000 "$3"
	guest_environment=
}

for_targets behaviour
