#!/bin/sh
# LITIFUT_MARK_EVERY: the recorder calls a function of the program that sets a pin, and the trace has the time
# of each rise. The function writes down when it is called, by the same clock: that is what a power analyser
# would see, and energy finds the clocks' relation from it.
. "$(dirname "$0")/../lib.sh"
few_targets armhf-arm mipsel

source_code()
{
	cat >main.c <<-'END'
		#include <fcntl.h>
		#include <pthread.h>
		#include <stdint.h>
		#include <stdio.h>
		#include <string.h>
		#include <sys/wait.h>
		#include <unistd.h>
		#include <litifut/clock_page.h>
		#include <litifut/litifut.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned sink;
		static unsigned late; /* lowers the pin after so many rounds */
		#ifdef PIN
		/* changes what a function may change of the registers, those of floating point as well */
		void litifut_mark_pin(int level)
		{
			static int out = -1;
			for (unsigned i = 0; !level && i < late; i++)
				sink++;
			const unsigned long long now = *(volatile uint64_t *)LITIFUT_CLOCK_PAGE_ADDRESS;
			char line[80];
			if (out < 0)
				out = open("pin", O_WRONLY | O_CREAT | O_TRUNC, 0666);
			const int length = snprintf(line, sizeof line, "%d %llu %d %.3f\n", level, now, (int)getpid(), now / 3.0);
		#ifdef __ARM_PCS_VFP
			__asm__ volatile("vmov.f64 d0, #1.0\n\tvmov.f64 d1, d0\n\tvmov.f64 d2, d0\n\tvmov.f64 d7, d0" ::: "d0", "d1", "d2", "d7");
		#endif
		#ifdef __mips_hard_float
			__asm__ volatile("mtc1 $0, $f12\n\tmtc1 $0, $f14\n\tmtc1 $0, $f0" ::: "$f12", "$f14", "$f0");
		#endif
			if (write(out, line, length) != length)
				_exit(9);
		}
		#endif
		KEEP unsigned leaf(unsigned n) { unsigned i = 0; while (i < n) sink += i++; return i; }
		KEEP double mix(double a, double b, float c, double d) { return a * b - c * d; }
		KEEP unsigned work(unsigned n) { unsigned i = 0; while (i < n) sink += 3 * i++; i += leaf(4000) * 3; return i; }
		KEEP unsigned rare(unsigned n) { unsigned i = 0; while (i < n) sink ^= i++; return i; }
		/* By turns, as the clock counts the instructions of all threads. Its own calls, which are not in a turn, are
		 * not recorded, and no thread ends, which takes the recorder some time, in the turn of another. */
		static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
		static pthread_barrier_t all;
		static int together;
		static void *thread(void *end)
		{
			for (int i = 0; i < 300; i++) {
				if (!together)
					pthread_mutex_lock(&turn);
				sink += work(4000) * 3;
				if (!together)
					pthread_mutex_unlock(&turn);
			}
			if (end)
				pthread_barrier_wait(end);
			return NULL;
		}
		int main(int argc, char **argv)
		{
			const char *how = argc > 1 ? argv[1] : "";
			double sum = 0;
			pthread_t one, two;
			late = strcmp(how, "late") ? 0 : 500000;
			together = !strcmp(how, "together");
			for (unsigned i = 0; i < 160; i++) {
				sink += work(8000) * 3;
				sink += leaf(4000) * 5;
				for (int k = 0; k < 40; k++)
					sum = mix(sum, 0.5, i, 0.125 * k) + i;
				if (i % 8 == 0)
					sink += rare(40000) * 7;
			}
			if (!strcmp(how, "threads") || together) {
				pthread_barrier_init(&all, 0, 2);
				pthread_create(&one, 0, thread, &all);
				pthread_create(&two, 0, thread, &all);
				pthread_join(one, 0);
				pthread_join(two, 0);
			}
			if (!strcmp(how, "child")) {
				fflush(stdout);
				if (!fork()) {
					thread(0);
					_exit(0);
				}
				wait(0);
				thread(0);
			}
			if (!strcmp(how, "stopped") && litifut_stop) {
				litifut_stop();
				thread(0);
				litifut_start();
				thread(0);
			}
			printf("%u %.17g\n", sink != 0, sum);
			return 0;
		}
	END
}

# watched ARGUMENTS...: the program under the clock of the oracle, which counts instructions
watched()
{
	rm -rf data pin
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,clock=1"
	guest_environment="LITIFUT_CLOCK=page LITIFUT_RAW=1 LITIFUT_DIR=$(pwd)/data"
	run traced "$@"
	qemu_options='' guest_environment=''
	"$BUILD/bin/litifut-post" -q -f perfetto -o marks.perfetto data traced/program &&
		python3 "$root/tests/perfetto.py" marks.perfetto >slices 2>mean
}

# marks_fit LEAST [stopped|last|together]: at least so many; each rise is a mark at the time when the function was called, but for the few
# instructions in between; the pin goes up and down by turns, and the first rise is before all calls.
marks_fit()
{
	python3 - "$@" <<-'END'
		import sys
		pin = [line.split() for line in open("pin")]
		rises = [int(time) for level, time, *_ in pin if level == "1"]
		falls = [int(time) for level, time, *_ in pin if level == "0"]
		slices = [line.rstrip("\n").split("\t") for line in open("slices")]
		marks = sorted(int(row[3]) for row in slices if row[2] == "I" and row[5] == "mark 0")
		events = [int(row[3]) for row in slices if row[2] == "B"]
		print(len(rises), len(marks))
		assert [row[0] for row in pin] == ["1", "0"] * (len(pin) // 2), pin
		assert len({row[2] for row in pin}) == 1, "another process has set the pin"
		assert len(rises) == len(marks) >= int(sys.argv[1])
		if "together" in sys.argv: # threads that run at the same time count for both
		    sys.exit()
		behind = [rise - mark for rise, mark in zip(rises, marks)]
		print(behind)
		assert max(behind) - min(behind) < 20000, "a mark at another time"
		assert max(behind[1:]) - min(behind[1:]) < 3000, "a mark at another time"
		assert marks[0] < min(events)
		if "stopped" not in sys.argv: # the last pulse waits, and executes nothing
		    assert all(fall - rise >= 240000 for rise, fall in zip(rises[:-2], falls))
		    assert all(rise - fall >= 240000 for rise, fall in zip(rises[1:-1], falls))
		    assert all(b - a >= 1990000 for a, b in zip(rises, rises[1:-1]))
		if "last" in sys.argv:
		    assert marks[-1] > max(events)
	END
}

# curve NS: what an analyser would have recorded, which sees the pin so much too late
curve()
{
	"$root/tests/energy/curve.py" --step 500 --lead 300000 --pin pin --late "$1" slices
}

# energy_finds right|wrong: with nothing but the pin
energy_finds()
{
	"$BUILD/bin/litifut-post" energy --power power.csv --sync D0 data traced/program >energy.report 2>energy.words || return
	cat energy.report energy.words
	"$BUILD/bin/litifut-post" energy -q -f tsv --power power.csv --sync D0 data traced/program >energy.tsv &&
		grep -Eq '([0-9]+) of \1 marks used, 0 outliers' energy.report && python3 - "$1" <<-'END'
		import sys
		truth = {line.split()[0]: float(line.split()[1]) for line in open("truth") if not line.startswith("end ")}
		lines = [line.rstrip("\n").split("\t") for line in open("energy.tsv")]
		rows = {line[0]: dict(zip(lines[0], line)) for line in lines[1:]}
		errors = {name: float(rows[name]["self_j"]) / truth[name] - 1 for name in truth}
		print(errors)
		assert (max(map(abs, errors.values())) > 0.01) == (sys.argv[1] == "wrong"), errors
	END
}

shifted()
{
	curve 30000 && energy_finds wrong
}

# nothing PROGRAM: no marks, and energy says what is missing
nothing()
{
	rm -f pin
	LITIFUT_DIR=$(pwd)/none run_in traced "$1" >none.out
	guest_environment="LITIFUT_CLOCK=mono LITIFUT_DIR=$(pwd)/none"
	run traced "$1"
	guest_environment=''
	[ ! -e pin ] && ! "$BUILD/bin/litifut-post" energy -q --power power.csv none "traced/$1" >none.report 2>none.words &&
		grep 'the trace has 0 marks of the pin' none.words
}

refused()
{
	! LITIFUT_MODE=calls LITIFUT_MARK_EVERY=5 "$BUILD/bin/litifut" build "$triplet-gcc" -I.. "-I$root/include" \
		main.c -pthread -o calls >calls.log 2>&1
	grep 'LITIFUT_MARK_EVERY needs LITIFUT_MODE=spans; left out' calls.log || return
	LITIFUT_MODE=spans LITIFUT_MARK_EVERY=1 "$BUILD/bin/litifut" build "$triplet-gcc" -I.. "-I$root/include" \
		main.c -pthread -o often >often.log 2>&1
	grep 'LITIFUT_MARK_EVERY: from 2 to 1000000 milliseconds; left out' often.log
}

# marks_of CLOCK LEAST ARGUMENTS...: of a program whose thunks read the clock, or whose events all go by C code
marks_of()
{
	export LITIFUT_MODE=spans LITIFUT_CLOCK="$1" LITIFUT_MARK_EVERY=2 LITIFUT_EXCLUDE=litifut_mark_pin,thread
	marks_program=program
	(cd traced && front="$BUILD/bin/litifut build -q" compiler -O2 -DPIN "-I$root/include" -pthread ../main.c \
		-o "$marks_program") >traced.log 2>&1 || return
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_MARK_EVERY LITIFUT_EXCLUDE
	marks_least=$2
	shift 2
	watched "$marks_program" "$@" && cmp traced.out plain.out && marks_fit "$marks_least" "${1:-}"
}

behaviour()
{
	if [ "$target" = armel ]; then
		skip "marks" "the thunks of spans need a CPU that armel programs do not"
		return
	fi
	source_code
	flags="-pthread -I$root/include"
	mkdir -p plain traced
	compiler -O2 -DPIN main.c -o plain/program >plain.log 2>&1
	run plain program
	ok "each rise is a mark, all events by C code" marks_of mono 10
	ok "the last rise is behind the last call" marks_fit 10 last
	ok "the curve of an analyser" curve 0
	ok "energy aligns both by the pin alone" energy_finds right
	ok "and is wrong where the pin is late" shifted
	ok "threads" marks_of mono 12 threads
	ok "threads at the same time" marks_of mono 12 together
	ok "a child does not set the pin" marks_of mono 12 child
	ok "recording off and on" marks_of mono 12 stopped
	ok "a pin that is slow has no short pulses either" marks_of mono 8 late
	ok "each rise is a mark, with thunks" marks_of page 4
	ok "the curve of an analyser" curve 0
	ok "energy aligns both by the pin alone" energy_finds right
	export LITIFUT_MODE=spans LITIFUT_MARK_EVERY=2
	link none ../main.c -O2
	unset LITIFUT_MODE LITIFUT_MARK_EVERY
	ok "a program without such a function has no marks" nothing none
	ok "what can't be is refused at the link" refused
}
for_targets behaviour
