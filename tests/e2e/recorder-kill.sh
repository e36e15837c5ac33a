#!/bin/sh
# A busy program with several threads is killed at random moments: every event
# completed before is read back, in order, and none is invented. The program
# itself says, in a shared mapping, how many calls each thread has returned
# from, so at most one more call of a thread may be in the trace.
#
#   KILLS=200 tests/e2e/recorder-kill.sh      the long form
. "$(dirname "$0")/../lib.sh"

KILLS=${KILLS:-6}

checker()
{
	cat >check.py <<-'END'
		import struct, sys
		order = {"l": "<", "b": ">"}[sys.argv[1]]
		with open(sys.argv[2], "rb") as file:
		    progress = struct.unpack(order + "4I", file.read(16))
		counts = [0] * 4
		with open(sys.argv[3]) as file:
		    columns = file.readline().rstrip("\n").split("\t")
		    callee = columns.index("callee")
		    for line in file:
		        name = line.rstrip("\n").split("\t")[callee]
		        if not name.startswith("step_"):
		            continue
		        _, thread, step = name.split("_")
		        thread, step = int(thread), int(step)
		        if step != counts[thread] % 4:
		            sys.exit(f"thread {thread}, event {counts[thread]}: step {step}")
		        counts[thread] += 1
		for thread in range(4):
		    if not progress[thread] <= counts[thread] <= progress[thread] + 1:
		        sys.exit(f"thread {thread}: {progress[thread]} calls, {counts[thread]} events")
		print(sum(counts))
	END
}

kill_once()
{
	rm -rf data progress
	delay=$(awk -v seed="$1$$" 'BEGIN { srand(seed); printf "%.3f", 0.25 + rand() * 0.6 }')
	(
		cd traced || exit 1
		env -i timeout -s KILL "$delay" "qemu-$cpu" -L "$sysroot" -E LITIFUT_BULK_KB=16 \
			-E "LITIFUT_CLOCK=$2" -E "LITIFUT_DIR=$(pwd)/../data" ./busy ../progress
	) >/dev/null 2>&1
	if [ ! -s progress ] || [ ! -d data/trace ]; then
		echo "killed before it began"
		return 0
	fi
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps traced/busy || return 1
	byte_order=l
	[ "$cpu" = mips ] && byte_order=b
	python3 check.py $byte_order progress events.tsv
}

behaviour()
{
	cat >busy.c <<-'END'
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdint.h>
		#include <sys/mman.h>
		#include <unistd.h>
		#define STEP(t, n) \
			__attribute__((noipa)) void step_##t##_##n(void) { __asm__ volatile(""); }
		#define STEPS(t) STEP(t, 0) STEP(t, 1) STEP(t, 2) STEP(t, 3)
		STEPS(0) STEPS(1) STEPS(2) STEPS(3)
		static volatile uint32_t *progress;
		#define WORKER(t) \
			static void *worker_##t(void *argument) \
			{ \
				void (*volatile indirect)(void) = step_##t##_2; \
				for (uint32_t done = 0;;) { \
					step_##t##_0(); \
					progress[t] = ++done; \
					step_##t##_1(); \
					progress[t] = ++done; \
					indirect(); \
					progress[t] = ++done; \
					step_##t##_3(); \
					progress[t] = ++done; \
				} \
				return argument; \
			}
		WORKER(0) WORKER(1) WORKER(2) WORKER(3)
		int main(int count, char **arguments)
		{
			pthread_t thread;
			int file = open(arguments[count - 1], O_RDWR | O_CREAT, 0600);
			if (ftruncate(file, 4096))
				return 1;
			progress = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
			pthread_create(&thread, 0, worker_1, 0);
			pthread_create(&thread, 0, worker_2, 0);
			pthread_create(&thread, 0, worker_3, 0);
			worker_0(0);
			return 0;
		}
	END
	flags=-pthread
	link busy ../busy.c || return
	checker
	killed=0
	while [ $killed -lt "$KILLS" ]; do
		killed=$((killed + 1))
		clock=none
		[ $((killed % 3)) = 0 ] && clock=mono
		ok "killed, number $killed: nothing missing, nothing invented" kill_once $killed $clock
	done
}

for_targets behaviour
