#!/bin/sh
# litifut/calibrate.h: loops in the program from which energy finds what the hooks of a call cost, by thunks and
# by C code. With both costs, which are far apart, a function takes as long as it does.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mipsel

# of CLOCK FOLDER SETTING: the report of the program, linked with this clock, under the oracle's, which counts instructions
of()
{
	mkdir -p traced
	(cd traced && export LITIFUT_MODE=spans LITIFUT_CLOCK="$1" && front="$BUILD/bin/litifut build -q" &&
		compiler -O2 "-I$root/include" ../main.c -o program) >traced.log 2>&1 || return
	rm -rf "$2"
	qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,clock=1"
	guest_environment="LITIFUT_CLOCK=page LITIFUT_BULK_KB=4096 LITIFUT_DIR=$(pwd)/$2 $3"
	run traced program
	qemu_options='' guest_environment=''
	"$BUILD/bin/litifut-post" energy -q -f tsv --no-refine --at 0=0.0005 --power power.csv "$2" traced/program >"$2.tsv" &&
		"$BUILD/bin/litifut-post" energy -q --no-refine --at 0=0.0005 --power power.csv "$2" traced/program >"$2.report"
}

# How many instructions the functions take in a program that is not traced.
untraced()
{
	compiler -O2 "-I$root/include" main.c -o plain || return
	for rounds in "" none; do
		qemu_options="-plugin $BUILD/tests/oracle.so,count=count$rounds"
		run_in . plain $rounds
	done
	qemu_options=''
	echo $(($(cut -d ' ' -f 1 count) - $(cut -d ' ' -f 1 countnone))) >truth
}

# To 1 %, and what 5 % of the hooks take, by which these differ from site to site.
as_untraced()
{
	grep -h '^hooks: [0-9]' thunks.report code.report known.report || return
	python3 - <<-'END'
		import csv, re
		def hook(name):
		    line = next(line for line in open(name + ".report") if line.startswith("hooks:"))
		    return sum(map(float, re.match(r"hooks: (\S+) \+ (\S+) us", line).groups()))
		truth = int(open("truth").read()) * 1e-9
		print(hook("thunks"), hook("code"), hook("known"), truth)
		assert hook("code") > 3 * hook("thunks")
		assert abs(hook("thunks") / hook("known") - 1) < 0.15 # about what the recorder has measured of its thunks
		# (where instructions had to be moved for the return, it takes up to 15 more)
		rows = {row["function"]: row for row in csv.DictReader(open("code.tsv"), delimiter="\t")}
		found = sum(float(rows[function]["self_s"]) for function in ("leaf", "work"))
		print(found, found / truth)
		assert abs(found - truth) < 0.01 * truth + 0.05 * float(rows["(tracer)"]["self_s"])
	END
}

behaviour()
{
	cat >main.c <<-'END'
		#include <litifut/calibrate.h>
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		static volatile unsigned sink;
		KEEP unsigned leaf(unsigned n) { unsigned i = 0; while (i < n) sink += i++; return i; }
		KEEP unsigned work(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += leaf(5) + sink % 7; return s; }
		int main(int argc, char **argv)
		{
			(void)argv;
			energy_calibrate();
			for (int i = 0; i < (argc > 1 ? 0 : 100); i++)
				sink += work(100);
			printf("%u\n", sink != 0);
			return 0;
		}
	END
	awk 'BEGIN { print "Time (s),Power (W)"; for (i = 0; i < 20000; i++) printf "%.6f,0.01\n", i * 1e-6 }' >power.csv
	ok "the loops are in a trace by thunks" of page thunks LITIFUT_RAW=1
	ok "and by C code" of mono code LITIFUT_RAW=1
	ok "a trace whose cost the recorder has measured" of page known ""
	ok "instructions of the functions" untraced
	ok "with the hooks taken out they take as long" as_untraced
}
for_targets behaviour
