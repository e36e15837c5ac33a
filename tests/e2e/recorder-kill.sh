#!/bin/sh
# A busy program with several threads is killed at random moments: every event
# completed before is read back, in order, and none is invented. What it did
# until then the oracle has written down, in memory that is mapped to a file as
# well; only the last call of each thread may be recorded and not yet made. A
# table is whole as well, but for the call that each thread was summing up.
#
#   KILLS=200 tests/e2e/recorder-kill.sh      the long form
. "$(dirname "$0")/../lib.sh"
few_targets armhf-arm mipsel

KILLS=${KILLS:-4}

# On a busy machine it takes longer until there is anything.
too_early()
{
	echo "killed before it began, or before the first event"
	patience=$((patience * 2))
}

# Are more to be killed? Those that there were may all have been too early.
more_kills()
{
	[ "$killed" -lt "$KILLS" ] || { [ "$seen" -le "$KILLS" ] && [ "$patience" -lt 256 ]; }
}

# kill_run NUMBER CLOCK PROGRAM [OPTIONS [ARGUMENT]]: runs it for a while, under the oracle with these
# options
kill_run()
{
	rm -rf data oracle.*
	delay=$(awk -v seed="$1$$" -v patience="$patience" \
		'BEGIN { srand(seed); printf "%.3f", (0.2 + rand() * 0.3) * patience }')
	python3 "$root/tests/oracle/oracle.py" ranges "traced/$3" >through
	env -i timeout -s KILL "$delay" "qemu-$cpu" -L "$sysroot" \
		-plugin "$BUILD/tests/oracle.so,calls=oracle,through=through${4:-}" -E LITIFUT_BULK_KB=16 \
		-E "LITIFUT_CLOCK=$2" -E "LITIFUT_DIR=$(pwd)/data" "traced/$3" ${5:+"$5"} >/dev/null 2>&1
}

# read_killed FORMAT OUTPUT PROGRAM: 2: it was killed too early; 1: its trace can't be read
read_killed()
{
	if [ ! -s "$(echo data/trace/*)" ]; then
		too_early
		return 2
	fi
	"$BUILD/bin/litifut-post" -f "$1" -o "$2" data/trace data/maps "traced/$3" 2>post.err
	kill_status=$?
	cat post.err
	if grep -q 'its header was never written' post.err || [ "$(wc -l <"$2")" = 1 ]; then
		too_early
		return 2
	fi
	[ $kill_status = 0 ]
}

kill_once()
{
	kill_run "$1" "$2" busy
	read_killed tsv events.tsv busy || return $(($? != 2))
	seen=$((seen + $(wc -l <events.tsv) - 1))
	python3 "$root/tests/oracle/oracle.py" compare-killed oracle events.tsv traced/busy
}

# kill_table NUMBER [ARGUMENT]
kill_table()
{
	kill_run "$1" page summing ,returns=1,clock=1 "${2:-}"
	read_killed csv out.csv summing || return $(($? != 2))
	python3 "$root/tests/oracle/table.py" killed oracle out.csv traced/summing >killed.out
	kill_status=$?
	cat killed.out
	seen=$((seen + $(sed -n 's/^\([0-9]*\) timed calls.*/\1/p' killed.out)))
	return $kill_status
}

behaviour()
{
	cat >busy.c <<-'END'
		#include <pthread.h>
		#ifndef SPINS
		#define SPINS 320
		#endif
		static volatile int spent;
		#define STEP(t, n) \
			__attribute__((noipa)) void step_##t##_##n(void) \
			{ \
				for (int i = 0; i < SPINS; i++) \
					spent = i; \
			}
		#define STEPS(t) STEP(t, 0) STEP(t, 1) STEP(t, 2) STEP(t, 3)
		STEPS(0) STEPS(1) STEPS(2) STEPS(3)
		#define WORKER(t) \
			static void *worker_##t(void *argument) \
			{ \
				void (*volatile indirect)(void) = step_##t##_2; \
				for (;;) { \
					step_##t##_0(); \
					step_##t##_1(); \
					indirect(); \
					step_##t##_3(); \
				} \
				return argument; \
			}
		WORKER(0) WORKER(1) WORKER(2) WORKER(3)
		int main(int argc, char **argv)
		{
			pthread_t thread;
			if (argc > 1)
				worker_0(*argv);
			pthread_create(&thread, 0, worker_1, 0);
			pthread_create(&thread, 0, worker_2, 0);
			pthread_create(&thread, 0, worker_3, 0);
			worker_0(0);
			return 0;
		}
	END
	flags=-pthread
	link busy ../busy.c || return
	killed=0 seen=0 patience=1
	while more_kills; do
		killed=$((killed + 1))
		clock=none
		[ $((killed % 3)) = 0 ] && clock=mono
		ok "killed, number $killed: nothing missing, nothing invented" kill_once $killed $clock
	done
	ok "there were events: $seen" test "$seen" -gt "$KILLS"

	[ "$target" != armel ] || return 0 # it has no such mode
	# short functions, so that much of the time goes to the summing up
	export LITIFUT_MODE=table LITIFUT_CLOCK=page
	link summing ../busy.c -DSPINS=8
	unset LITIFUT_MODE LITIFUT_CLOCK
	killed=0 seen=0 patience=1
	while more_kills; do
		killed=$((killed + 1))
		ok "table, killed, number $killed: as the oracle has it" kill_table $killed
		ok "table of one thread, killed, number $killed: its times, too" kill_table $killed one
	done
	ok "table: there were calls: $seen" test "$seen" -gt "$KILLS"
}

for_targets behaviour
