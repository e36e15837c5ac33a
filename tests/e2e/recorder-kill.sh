#!/bin/sh
# A busy program with several threads is killed at random moments: every event
# completed before is read back, in order, and none is invented. What it did
# until then the oracle has written down, in memory that is mapped to a file as
# well; only the last call of each thread may be recorded and not yet made.
#
#   KILLS=200 tests/e2e/recorder-kill.sh      the long form
. "$(dirname "$0")/../lib.sh"

KILLS=${KILLS:-4}

kill_once()
{
	rm -rf data oracle.*
	delay=$(awk -v seed="$1$$" 'BEGIN { srand(seed); printf "%.3f", 0.2 + rand() * 0.3 }')
	python3 "$root/tests/oracle/oracle.py" ranges traced/busy >through
	env -i timeout -s KILL "$delay" "qemu-$cpu" -L "$sysroot" \
		-plugin "$BUILD/tests/oracle.so,calls=oracle,through=through" -E LITIFUT_BULK_KB=16 \
		-E "LITIFUT_CLOCK=$2" -E "LITIFUT_DIR=$(pwd)/data" traced/busy >/dev/null 2>&1
	if [ ! -s "$(echo data/trace/*)" ]; then
		echo "killed before it began"
		return 0
	fi
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/busy 2>post.err
	kill_status=$?
	cat post.err
	if grep -q 'its header was never written' post.err; then
		echo "killed before the first event"
		return 0
	fi
	if [ "$(wc -l <events.tsv)" = 1 ]; then
		echo "killed before the first event"
		return 0
	fi
	[ $kill_status = 0 ] || return 1
	seen=$((seen + $(wc -l <events.tsv) - 1))
	python3 "$root/tests/oracle/oracle.py" compare-killed oracle events.tsv traced/busy
}

behaviour()
{
	cat >busy.c <<-'END'
		#include <pthread.h>
		static volatile int spent;
		#define STEP(t, n) \
			__attribute__((noipa)) void step_##t##_##n(void) \
			{ \
				for (int i = 0; i < 320; i++) \
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
		int main(void)
		{
			pthread_t thread;
			pthread_create(&thread, 0, worker_1, 0);
			pthread_create(&thread, 0, worker_2, 0);
			pthread_create(&thread, 0, worker_3, 0);
			worker_0(0);
			return 0;
		}
	END
	flags=-pthread
	link busy ../busy.c || return
	killed=0 seen=0
	while [ $killed -lt "$KILLS" ]; do
		killed=$((killed + 1))
		clock=none
		[ $((killed % 3)) = 0 ] && clock=mono
		ok "killed, number $killed: nothing missing, nothing invented" kill_once $killed $clock
	done
	ok "there were events: $seen" test "$seen" -gt "$KILLS"
}

for_targets behaviour
