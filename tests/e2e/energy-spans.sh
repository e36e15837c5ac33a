#!/bin/sh
# Energy of functions from a trace with spans: a program runs under the page clock, each function draws
# another power, and an analyser with a clock of its own samples it. What energy finds is what the
# functions drew, and what it advises is a configuration that a link takes.
. "$(dirname "$0")/../lib.sh"

# curve SLICES: the samples of the analyser in power.csv, what each function drew in `truth`
curve()
{
	python3 - "$1" <<-'END'
		import sys
		POWER = {"leaf": 0.005, "work": 0.020, "rare": 0.050} # W
		BASE, STEP, LEAD = 0.010, 100, 250000 # W, ns between samples, ns before and after
		events = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
		events = [(int(event[3]), event[2], event[5]) for event in events]
		start, end = events[0][0], events[-1][0]
		pieces, stack, truth, last = [(start - LEAD, start, BASE)], [], {}, start
		for time, kind, name in events:
		    top = stack[-1] if stack else ""
		    power = POWER.get(top, BASE)
		    truth[top] = truth.get(top, 0) + power * (time - last) * 1e-9
		    pieces.append((last, time, power))
		    last = time
		    if kind == "B":
		        stack.append(name)
		    else:
		        stack.pop()
		pieces.append((end, end + 2 * LEAD, BASE))
		with open("power.csv", "w") as out:
		    out.write("Time (s),Power (W)\n")
		    at, piece = start - LEAD, 0
		    while at < end + LEAD:
		        energy, time = 0.0, at
		        while time < at + STEP:
		            while pieces[piece][1] <= time:
		                piece += 1
		            upto = min(at + STEP, pieces[piece][1])
		            energy += pieces[piece][2] * (upto - time)
		            time = upto
		        out.write("%.9f,%.9f\n" % ((at - start + LEAD) * 1e-9 * 1.0001, energy / STEP)) # 100 ppm fast
		        at += STEP
		with open("truth", "w") as out:
		    for name in POWER:
		        out.write("%s %.9g\n" % (name, truth[name]))
		    out.write("end %.9f\n" % ((end - start) * 1e-9))
	END
}

found()
{
	python3 - "$1" <<-'END'
		import sys
		truth = {line.split()[0]: float(line.split()[1]) for line in open("truth")}
		lines = [line.rstrip("\n").split("\t") for line in open("energy.tsv")]
		rows = {line[0]: dict(zip(lines[0], line)) for line in lines[1:]}
		wrong = False
		for name, calls in ("leaf", 80), ("work", 40), ("rare", 5):
		    error = float(rows[name]["self_j"]) / truth[name] - 1
		    print(name, rows[name]["calls"], error)
		    assert int(rows[name]["calls"]) == calls, rows[name]
		    wrong |= abs(error) > 0.01
		inside = sum(float(row["self_j"]) for name, row in rows.items() if name not in ("(total)",))
		assert abs(inside / float(rows["(total)"]["self_j"]) - 1) < 1e-6
		# work calls leaf: its own and what 40 of the 80 calls drew
		below = truth["work"] + truth["leaf"] / 2
		assert wrong == (sys.argv[1] == "wrong")
		assert wrong or abs(float(rows["work"]["inclusive_j"]) / below - 1) < 0.01
	END
}

energy()
{
	"$BUILD/bin/litifut-post" energy -q --no-refine --power power.csv "$@" data traced/program
}

measure()
{
	end=$(awk '$1 == "end" { print $2 }' truth)
	energy -f tsv --at 0=0.000250025 --at "$end=$(awk "BEGIN { printf \"%.9f\", ($end + 0.00025) * 1.0001 }")" \
		"$@" >energy.tsv
}

# the same comparison must see a wrong pair of times: 20 us on spans of 28
catches_a_shift()
{
	energy -f tsv --at 0=0.000270025 >energy.tsv && found wrong
}

# smeared right|wrong OPTIONS: the curve behind capacitors of 20 us
smeared()
{
	python3 - <<-'END'
		import math
		lines = open("power.csv").read().splitlines()
		kept, step, tau = math.exp(-100 / 20000), 100, 20000
		level = float(lines[1].split(",")[1])
		with open("smeared.csv", "w") as out:
		    out.write(lines[0] + "\n")
		    for line in lines[1:]:
		        time, power = line.split(",")
		        x = float(power)
		        out.write("%s,%.9f\n" % (time, x + (level - x) * tau / step * (1 - kept)))
		        level = x + (level - x) * kept
	END
	smeared_is=$1
	shift
	cp energy.tsv sharp.tsv
	mv power.csv sharp.csv && mv smeared.csv power.csv
	measure "$@" && found "$smeared_is"
	smeared_status=$?
	mv sharp.csv power.csv
	return $smeared_status
}

# The power that the timeline has while a function is on top is what the function drew.
timeline()
{
	energy -f chrome --at 0=0.000250025 --at "$end=$(awk "BEGIN { printf \"%.9f\", ($end + 0.00025) * 1.0001 }")" >energy.json
	python3 - <<-'END'
		import json
		events = json.load(open("energy.json"))["traceEvents"]
		curve = [(event["ts"], event["args"]["W"]) for event in events if event["ph"] == "C"]
		assert curve == sorted(curve, key=lambda point: point[0]) and len(curve) > 10000
		for name, watts, calls in ("leaf", 0.005, 80), ("rare", 0.050, 5):
		    spans = [(event["ts"], event["ts"] + event["dur"]) for event in events if event["ph"] == "X" and event["name"] == name]
		    assert len(spans) == calls, (name, len(spans))
		    inside = [w for begin, end in spans[:5] for time, w in curve if begin + 1 < time < end - 1]
		    assert inside and abs(sum(inside) / len(inside) / watts - 1) < 0.01, (name, sum(inside) / len(inside))
	END
}

advice_links()
{
	end=$(awk '$1 == "end" { print $2 }' truth)
	energy -f include --hook 4,4 --at 0=0.000250025 >fragment || return
	cat fragment
	grep '^exclude_callees = ' fragment || return
	LITIFUT_CONFIG=$(pwd)/fragment LITIFUT_MODE=spans "$BUILD/bin/litifut" build "$triplet-gcc" -O1 main.c \
		-o next >next.log 2>&1 && ! grep 'unknown key' next.log
	"$BUILD/bin/litifut" info --json next | grep -o '"excluded": [0-9]*' >excluded
	"$BUILD/bin/litifut" info --json traced/program | grep -o '"excluded": [0-9]*' >excluded.before
	! cmp -s excluded excluded.before
}

no_overlap()
{
	! energy --at 0=100 >none.report 2>none.words && [ ! -s none.report ] &&
		grep 'do not overlap: .* trace lies from 100 s to 100\.' none.words
}

# Returns are there, and the time is not: that is what has to be mended.
names_the_clock()
{
	guest_environment="LITIFUT_CLOCK=none LITIFUT_DIR=$(pwd)/clockless"
	run traced program
	guest_environment=''
	! "$BUILD/bin/litifut-post" energy -q --power power.csv --at 0=0 clockless traced/program \
		>clockless.words 2>&1 && cat clockless.words &&
		grep 'has returns, but no times: .*LITIFUT_CLOCK=mono' clockless.words
}

behaviour()
{
	if [ "$target" = armel ]; then
		skip "energy" "the thunks of spans need a CPU that armel programs do not"
		return
	fi
	cat >main.c <<-'END'
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned sink;
		KEEP unsigned leaf(unsigned n) { unsigned i = 0; while (i < n) sink += i++; return i; }
		KEEP unsigned work(unsigned n) { unsigned i = 0; while (i < n) sink += 3 * i++; i += leaf(4000) * 3; return i; }
		KEEP unsigned rare(unsigned n) { unsigned i = 0; while (i < n) sink ^= i++; return i; }
		int main(void)
		{
			for (unsigned i = 0; i < 40; i++) {
				sink += work(8000) * 3;
				sink += leaf(4000) * 5;
				if (i % 8 == 0)
					sink += rare(80000) * 7;
			}
			printf("%u\n", sink != 0);
			return 0;
		}
	END
	export LITIFUT_MODE=spans LITIFUT_CLOCK=page
	link program ../main.c -O1 || return
	unset LITIFUT_MODE LITIFUT_CLOCK
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,clock=1"
	# the curve is made of the events, with the tracer in them
	guest_environment="LITIFUT_CLOCK=page LITIFUT_RAW=1 LITIFUT_DIR=$(pwd)/data"
	run traced program
	qemu_options='' guest_environment=''
	"$BUILD/bin/litifut-post" -q -f perfetto -o spans.perfetto data traced/program
	python3 "$root/tests/perfetto.py" spans.perfetto >slices 2>mean
	ok "the curve of an analyser" curve slices
	ok "energy reads the trace" measure
	ok "what each function drew is found" found right
	ok "a wrong pair of times is seen" catches_a_shift
	ok "a timeline has the calls and the power" timeline
	ok "behind capacitors of 20 us: wrong" smeared wrong
	ok "and right again with --tau" smeared right --tau 20e-6
	ok "but not with another one" smeared wrong --tau 60e-6
	ok "a curve of another time is refused" no_overlap
	ok "a trace without times is refused with what to do" names_the_clock
	ok "the advice is a configuration that a link takes" advice_links
}
for_targets behaviour
