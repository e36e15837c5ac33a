#!/bin/sh
# `litifut control`: a running program follows requests that are written to its trace.
. "$(dirname "$0")/../lib.sh"

control()
{
	"$BUILD/bin/litifut" control data "$@"
}

# The program waits for a line before each stage, and says what it has done: one line each.
stage()
{
	echo go >&3
	read -r answer <&4
	[ "$answer" = "$1" ]
}

refused()
{
	"$BUILD/bin/litifut" control "$@" 2>refused.err && return 1
	grep 'litifut: error' refused.err
}

# The same, with what is printed about a process
refused_as()
{
	about=$1
	shift
	refused "$@" >refused.out && grep "$about" refused.out
}

# The state, at offset 48, of 1 in place of 2, in the byte order of the trace
set_running()
{
	python3 - "$1" <<-'END'
		import sys
		with open(sys.argv[1], "r+b") as trace:
		    trace.seek(48)
		    state = trace.read(4)
		    assert sum(state) == 2, state
		    trace.seek(48)
		    trace.write(bytes(byte // 2 for byte in state))
	END
}

behaviour()
{
	cat >work.c <<-'END'
		#include <stdio.h>
		#define STAGE(n) __attribute__((noipa)) static int stage##n(int a) { return a + n; }
		STAGE(0) STAGE(1) STAGE(2) STAGE(3)
		#define RUN(n) for (int i = 0; i < 20000; i++) sum += stage##n(i)
		static int next(const char *done)
		{
			char line[16];
			puts(done);
			fflush(stdout);
			return fgets(line, sizeof(line), stdin) != NULL;
		}
		int main(void)
		{
			int sum = 0;
			if (!next("ready"))
				return 1;
			RUN(0);
			if (!next("zero"))
				return 1;
			RUN(1);
			if (!next("one"))
				return 1;
			RUN(2);
			if (!next("two"))
				return 1;
			RUN(3);
			puts("three");
			return sum == 1;
		}
	END
	link work ../work.c || return 0

	rm -rf data in out
	mkfifo in out
	mkdir -p copy
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_CLOCK=none LITIFUT_COMPACT=0 LITIFUT_FILE=map
		LITIFUT_COPY_TO=$(pwd)/copy LITIFUT_BULK_KB=16"
	run_in traced work <in >out 2>traced.err &
	program=$!
	guest_environment=
	exec 3>in 4<out
	read -r answer <&4
	is "the program is there" "$answer" ready
	ok "stage 0 is recorded" stage zero
	ok "status: running" sh -c "'$BUILD/bin/litifut' control data status | grep ': running'"
	ok "stop is asked for" control stop
	ok "stage 1 is not, but for its start" stage one
	ok "status: stopped, and done" sh -c "'$BUILD/bin/litifut' control data status | grep ': stopped.*stop: done'"
	ok "start is asked for" control start
	ok "stage 2 is recorded after its start" stage two
	ok "a reset is refused, there is no table" refused_as 'nothing to reset' data reset
	ok "a snapshot is asked for, which is copied" sh -c '"$1" control data snapshot >said && ! grep "not copied" said' \
		sh "$BUILD/bin/litifut"
	ok "stage 3" stage three
	exec 3>&- 4<&-
	wait $program
	is "the program ends as it would" $? 0
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/work
	is "stage 0 is whole" "$(recorded stage0)" 20000
	ok "stage 1 ends when the request is seen: $(recorded stage1)" test "$(recorded stage1)" -le 4200
	ok "stage 2 begins when it is: $(recorded stage2)" test "$(recorded stage2)" -ge 15000
	ok "and not before" test "$(recorded stage2)" -lt 20000
	is "stage 3 is whole" "$(recorded stage3)" 20000
	ok "a report says that there was a pause" sh -c "'$BUILD/bin/litifut-post' -q report data traced/work | sed -n 1p | grep '^# Recording of work (process [0-9]*) was switched off 1 time, [0-9]*\.[0-9]* s in all: '"
	ok "the snapshot was copied" test -s copy/trace/work.*.trace
	cat data/trace/work.*.trace >before
	for request in start stop reset snapshot; do
		ok "$request: the process has ended" refused_as 'the process has ended' data $request
	done
	ok "and its trace stays as it is" sh -c 'cat data/trace/work.*.trace | cmp - before'
	ok "status: it has ended" sh -c "'$BUILD/bin/litifut' control data status | grep ': the process has ended.*snapshot: done'"
	# the state of a process that was killed is still the one of a running one
	cp -r data killed
	for trace in killed/trace/work.*.trace; do
		set_running "$trace"
	done
	ok "a process that was killed is not asked" refused_as 'the process was killed' killed start

	mkdir -p 'killed[1]' killed1
	cp -r killed/trace 'killed[1]'
	ok "a folder's name is not a pattern" refused_as 'the process was killed' 'killed[1]' start
	ok "a folder without traces is reported" refused . stop
	is "nothing was ever recorded: one line says so" "$("$BUILD/bin/litifut" control never status 2>&1)" \
		"litifut: error: never: there is no such folder: a traced program makes it with the first call that it records (litifut info PROGRAM says if it is traced; LITIFUT_START, LITIFUT_DIR)"
	ok "so is what is not a trace" refused work.c stop
	rm -rf data in out
	mkfifo in out
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_CLOCK=none LITIFUT_FILE=map"
	run_in traced work <in >out 2>traced.err &
	program=$!
	guest_environment=
	exec 3>in 4<out
	read -r answer <&4
	stage zero
	ok "a snapshot without a place for copies: what is to be done is said" sh -c '
		"$1" control data snapshot | grep "snapshot: .*not copied.*LITIFUT_COPY_TO.*copy the trace"' sh "$BUILD/bin/litifut"
	exec 3>&- 4<&-
	wait $program
	ok "the help explains each request" sh -c '
		"$1" control --help >help
		for request in "start, stop" snapshot reset status; do grep "^  $request  *[a-z]" help || exit; done' sh "$BUILD/bin/litifut"
	ok "and a request that does not exist" sh -c "! '$BUILD/bin/litifut' control data restart 2>/dev/null"
}

for_targets behaviour
