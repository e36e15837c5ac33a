#!/bin/sh
# What is not recorded costs no more than what is, and is counted: a trace that is full,
# recording that is off from the start, or is switched off.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# count FOLDER MODE: executed guest instructions of the program in it
count()
{
	rm -f counted*
	qemu_options="-plugin $BUILD/tests/oracle.so,count=$(pwd)/counted"
	run "$1" work "$2"
	qemu_options=
	tail -q -n 1 counted* | tail -n 1 | cut -d ' ' -f 1
}

# cost MODE SETTINGS...: what tracing adds to the run, in tenths of an instruction a call
cost()
{
	cost_mode=$1
	shift
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_CLOCK=none $*"
	traced=$(count traced "$cost_mode")
	guest_environment=
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/work 2>post.err ||
		cat post.err >&2
	lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' post.err)
	echo $(((traced - $(count plain "$cost_mode")) * 10 / calls))
}

at_most()
{
	echo "$1, when recorded $2"
	[ "$1" -le "$2" ]
}

engine()
{
	LITIFUT_ENGINE=$1 link work ../work.c || return 0
	recorded_cost=$(cost "")
	# a tenth for what there is only once in a run
	limit=$((recorded_cost + recorded_cost / 10))
	stopped_cost=$(cost s)
	ok "$1: stopped costs no more" at_most "$stopped_cost" "$limit"
	off_cost=$(cost "" LITIFUT_START=off)
	ok "$1: off from the start costs no more" at_most "$off_cost" "$limit"
	cost "" LITIFUT_START=off >/dev/null
	is "$1: what is not recorded is not lost" "$lost" 0
	full_cost=$(cost "" LITIFUT_MAX_MB=1)
	ok "$1: full costs no more" at_most "$full_cost" "$limit"
	cost "" LITIFUT_MAX_MB=1 >/dev/null
	is "$1: full: every call is in the trace or lost" \
		"$(($(recorded direct) + $(recorded pointed) + $(recorded main) + ${lost:-0} >= calls))" 1
	ok "$1: full: nothing else is lost" test "$((lost))" -le "$calls"
	# a folder that can't be made, a file that may have no room
	nowhere_cost=$(cost "" LITIFUT_DIR=/dev/null/nowhere 2>/dev/null)
	ok "$1: no trace can be made: costs no more" at_most "$nowhere_cost" "$limit"
	ok "$1: no room for a header: costs no more" at_most "$(
		ulimit -f 8
		cost "" 2>/dev/null
	)" "$limit"
	# a process that makes no system calls: also when its room is used up
	never_cost=$(cost "" LITIFUT_SYSCALLS=never)
	ok "$1: without system calls costs no more" at_most "$never_cost" "$limit"
	never_full_cost=$(cost "" LITIFUT_SYSCALLS=never LITIFUT_MAX_MB=1)
	ok "$1: without system calls, full, costs no more" at_most "$never_full_cost" "$limit"
	cost "" LITIFUT_SYSCALLS=never LITIFUT_MAX_MB=1 >/dev/null
	all_of_them=$(($(recorded direct) + $(recorded pointed) + ${lost:-0}))
	ok "$1: without system calls, full: $all_of_them of $calls calls are in the trace or lost" \
		test "$all_of_them" -ge "$calls" -a "$all_of_them" -le $((calls + 10))
	ok "$1: without system calls, full: some are lost" test "$lost" -gt 1000
	ok "$1: without system calls, off from the start, costs no more" \
		at_most "$(cost "" LITIFUT_SYSCALLS=never LITIFUT_START=off)" "$limit"
	echo "$target: $1: never $never_cost, never and full $never_full_cost" >&2
	echo "$target: $1: recorded $recorded_cost, stopped $stopped_cost, off $off_cost, full $full_cost, nowhere $nowhere_cost" >&2
}

# The same of branches, without what is counted.
paths()
{
	export LITIFUT_MODE=paths
	link work ../work.c
	unset LITIFUT_MODE
	recorded_cost=$(cost "")
	limit=$((recorded_cost + recorded_cost / 10))
	ok "paths: stopped costs no more" at_most "$(cost s)" "$limit"
	ok "paths: off from the start costs no more" at_most "$(cost "" LITIFUT_START=off)" "$limit"
	ok "paths: no trace can be made: costs no more" at_most \
		"$(cost "" LITIFUT_DIR=/dev/null/nowhere 2>/dev/null)" "$limit"
	guest_environment="LITIFUT_START=off"
	same_run work begins
	guest_environment=
	is "paths: off at the start, recorded once it is on" \
		"$("$BUILD/bin/litifut-post" -q -f blocks data traced/work | awk -F '\t' '$6 == "direct"' | wc -l | tr -d " ")" 6000
	# the first chunk may be all that there is
	ok "paths: full costs no more" at_most "$(
		ulimit -f 40
		cost ""
	)" "$limit"
	ok "paths: without system calls, full, costs no more" at_most "$(
		ulimit -f 160
		cost "" LITIFUT_SYSCALLS=never
	)" "$limit"
}

behaviour()
{
	calls=700000
	cat >work.c <<-'END'
		#include <litifut/litifut.h>
		__attribute__((noipa)) static int direct(int n) { return n + 1; }
		__attribute__((noipa)) static int pointed(int n) { return n + 2; }
		int (*volatile pointer)(int) = pointed;
		int main(int argc, char **argv)
		{
			int sum = 0;
			if (argc > 1 && *argv[1] == 's' && litifut_stop)
				litifut_stop();
			for (int i = 0; i < 100000; i++) {
				if (i == 99000 && argc > 1 && *argv[1] == 'b' && litifut_start)
					litifut_start();
				sum += direct(i);
				sum += direct(i);
				sum += direct(i);
				sum += direct(i);
				sum += direct(i);
				sum += direct(i);
				sum += pointer(i);
			}
			return sum & 1;
		}
	END
	flags="-I$root/include"
	engine thunk
	rm -rf plain traced
	case $target in
	armel) ;; # it has no such mode
	*) paths ;;
	esac
	rm -rf plain traced
	engine db
}

# A limit that the program raises again: recording goes on, and says what it has missed.
goes_on()
{
	cat >again.c <<-'END'
		#define _GNU_SOURCE
		#include <sys/resource.h>
		__attribute__((noipa)) static int before(int n) { return n + 1; }
		__attribute__((noipa)) static int during(int n) { return n + 2; }
		__attribute__((noipa)) static int after(int n) { return n + 3; }
		int main(void)
		{
			struct rlimit limit;
			int sum = 0;
			if (getrlimit(RLIMIT_FSIZE, &limit))
				return 1;
			limit.rlim_cur = 100000;
			for (int i = 0; i < 1000; i++)
				sum += before(i);
			if (setrlimit(RLIMIT_FSIZE, &limit))
				return 1;
			for (int i = 0; i < 100000; i++)
				sum += during(i);
			limit.rlim_cur = limit.rlim_max;
			if (setrlimit(RLIMIT_FSIZE, &limit))
				return 1;
			for (int i = 0; i < 50000; i++)
				sum += after(i);
			return sum & 1;
		}
	END
	flags=
	link again ../again.c || return 0
	for way in LITIFUT_FILE=map LITIFUT_FILE=write LITIFUT_CLOCK=mono; do
		guest_environment="LITIFUT_CLOCK=none LITIFUT_COMPACT=0 $way"
		same_run again
		"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/again 2>post.err
		lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' post.err)
		is "$way: what was before is there" "$(recorded before)" 1000
		ok "$way: some is lost: $lost" test "$lost" -gt 50000
		ok "$way: recording goes on when there is room again" test "$(recorded after)" -ge 45000
		[ $way != LITIFUT_CLOCK=mono ] ||
			ok "$way: litifut-post says when calls were lost" lost_in_between
		ok "$way: every call is in the trace or lost, and none is both" \
			all_calls $(($(recorded before) + $(recorded during) + $(recorded after) + lost))
	done
	guest_environment=
}

# main and what libc calls are among them
all_calls()
{
	echo "$1 calls"
	[ "$1" -ge 151000 ] && [ "$1" -le 151020 ]
}

lost_in_between()
{
	cat post.err
	awk '/calls were lost from .* s to .* s after the start$/ { found = $6 > 0 && $9 > $6 } END { exit !found }' post.err
}

# A program that takes all addresses: memory is not asked for at each call.
no_memory()
{
	cat >memory.c <<-'END'
		#include <stdio.h>
		#include <sys/mman.h>
		__attribute__((noipa)) static int step(int n) { return n + 1; }
		int main(void)
		{
			int sum = 0;
			for (size_t size = 1u << 28; size >= 4096; size /= 4)
				while (mmap(0, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) !=
				       MAP_FAILED)
					;
			for (int i = 0; i < 40000; i++)
				sum += step(i);
			printf("%d\n", sum);
			return 0;
		}
	END
	flags=
	link memory ../memory.c || return 0
	qemu_options=-strace
	guest_environment="LITIFUT_CLOCK=none LITIFUT_COMPACT=0 LITIFUT_DIR=$(pwd)/data"
	rm -rf data
	run plain memory
	run traced memory
	qemu_options='' guest_environment=''
	ok "no memory: the program prints the same" diff plain.out traced.out
	more=$(($(grep -c mmap traced.err) - $(grep -c mmap plain.err)))
	ok "no memory: it is not asked for at each call: $more times" test "$more" -le 1000
}

everything()
{
	behaviour
	goes_on
	no_memory
}

for_targets everything
