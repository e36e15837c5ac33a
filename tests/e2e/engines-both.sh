#!/bin/sh
# Both engines record the same calls of the same program, in the same order, and
# both are proved by the oracle: calls and tail calls, direct and indirect, into
# libc, over the ends of pages and chunks, from a signal handler, in a forked
# child, with the cursors of a hundred threads that are gone. Thunks are the
# default where they can be had, and store what they record by themselves.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armel mips
unset ENGINE

source_code()
{
	cat >main.c <<-'END'
		#include <pthread.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#define FUNCTION __attribute__((noipa))
		static volatile unsigned sum;
		FUNCTION unsigned leaf(unsigned x) { return x * 3 + 1; }
		FUNCTION unsigned other(unsigned x) { return x ^ 5; }
		FUNCTION unsigned tail(unsigned x) { return leaf(x + 2); }
		FUNCTION unsigned jump(unsigned (*f)(unsigned), unsigned x) { return f(x + 7); }
		static unsigned (*const table[])(unsigned) = {leaf, other, tail};
		FUNCTION void work(unsigned rounds)
		{
			for (unsigned i = 0; i < rounds; i++) {
				sum += leaf(i) + tail(i) + table[i % 3](i) + jump(table[i % 2], i);
				if (i % 64 == 0)
					sum += (unsigned)abs(-(int)(i & 7));
			}
		}
		FUNCTION static void handler(int number) { sum += leaf((unsigned)number); }
		FUNCTION static void *thread(void *argument)
		{
			work(3);
			return argument;
		}
		int main(int argc, char **argv)
		{
			pthread_t id;
			int status = 0;

			work(9000);
			if (argc > 1)
				return argv[1][0] != 'w';
			signal(SIGUSR1, handler);
			for (int i = 0; i < 5; i++)
				raise(SIGUSR1);
			for (int i = 0; i < 100; i++) {
				pthread_create(&id, 0, thread, 0);
				pthread_join(id, 0);
			}
			fflush(stdout);
			if (!fork()) {
				work(2000);
				_exit((int)(sum & 63));
			}
			wait(&status);
			work(10);
			printf("%u %d\n", sum, WEXITSTATUS(status));
			return 0;
		}
	END
}

# build ENGINE ARGUMENTS...: into traced/program, and what it records in ENGINE.events
build()
{
	engine=$1
	shift
	rm -rf traced
	LITIFUT_ENGINE=$engine
	export LITIFUT_ENGINE
	[ -n "$engine" ] || unset LITIFUT_ENGINE
	link program ../main.c -pthread "$@" || return
	unset LITIFUT_ENGINE
	oracle_compare=compare events_equal_calls program
	# processes and threads have other numbers each time, but come in order
	awk -F '\t' 'NR > 1 {
		if (!($1 in process)) process[$1] = ++processes
		key = process[$1] " " $2
		if (!(key in thread)) thread[key] = ++threads[process[$1]]
		print process[$1], thread[key], $6, $9, $10, $11
	}' events.tsv | sed 's/0x[0-9a-f]*//g' >"${engine:-default}.events"
}

# count FOLDER: executed guest instructions of the program in it
count()
{
	rm -f counted*
	qemu_options="-plugin $BUILD/tests/oracle.so,count=$(pwd)/counted"
	run "$1" program w
	qemu_options=
	cat counted* | tail -n 1 | cut -d ' ' -f 1
}

# The instructions that a recorded call takes in traced/program.
call_cost()
{
	guest_environment="LITIFUT_DIR=$(pwd)/data LITIFUT_CLOCK=none LITIFUT_COMPACT=0"
	rm -rf data
	plain=$(count plain) traced=$(count traced)
	guest_environment=
	events=$("$BUILD/bin/litifut-post" -f tsv data/trace data/maps traced/program 2>post.err | wc -l)
	echo $(((traced - plain) / events))
}

engine_of()
{
	"$BUILD/bin/litifut" info "$1" | awk '$1 == "engine" { print $2 }'
}

# both ARGUMENTS...: the two engines in a program that is linked with these
both()
{
	build db "$@"
	is "$*: the engine that was asked for" "$(engine_of traced/program)" db
	db_cost=$(call_cost)
	build "" "$@"
	is "$*: the engine where none is asked for" "$(engine_of traced/program)" "$expected"
	ok "$*: enough calls for some chunks" test "$(wc -l <default.events)" -gt 30000
	# what libc does in a join, and which thread's chunk is the next, is a matter of time
	for each_events in db default; do
		grep -E '^[0-9]+ [0-9]+ (main|work|jump|tail|handler|thread) ' $each_events.events |
			sort -s -k 1,1n -k 2,2n >$each_events.own
	done
	ok "$*: both engines record the same" diff db.own default.own
	cost=$(call_cost)
	[ "$expected" = thunk ] || return 0
	ok "$*: thunks store what they record: $cost instructions a call, the other engine takes $db_cost" \
		test $((2 * cost)) -lt "$db_cost"
}

behaviour()
{
	expected=thunk
	source_code
	both
	# in a static program libc is traced as well, and calls are made before there is
	# a thread pointer
	both -static
	is "calls of the tracer by libc are not events" "$(grep -c litifut_ default.events)" 0
}

for_targets behaviour
