#!/bin/sh
# Runs and builds beside one another: diff of times, merge of runs, phases of a run, and how long the
# calls of a function took. Times are those of the page clock, so that they are the same every time.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

post=$BUILD/bin/litifut-post

# trace FOLDER DATA: a run of traced/program there, into DATA
trace()
{
	folder=$1 data=$2
	(
		cd "$folder" || exit
		qemu_options="-plugin $BUILD/tests/oracle.so,calls=oracle,clock=1"
		guest_environment="LITIFUT_CLOCK=page LITIFUT_DIR=$(pwd)/../$data"
		run traced program
		[ "$(cat traced.status)" = 0 ]
	)
}

builds_differ()
{
	"$post" -q diff one two old/traced/program new/traced/program >diff.text 2>diff.err
	[ ! -s diff.err ] && python3 - <<-'END'
		import re
		text = open("diff.text").read()
		times = text[:text.index("caller -> callee")]
		assert "mean of 2 old and 2 new runs" in times, times
		rows = {m[2]: m for m in re.finditer(r"^(\w+) .* ([a-z]+) \[program\]$", times, re.M)}
		assert rows["grown"][1] == "slower" and rows["shrunk"][1] == "faster", times
		assert rows["added"][1] == "new" and "same" not in rows, times
		change = float(re.search(r"([-+][0-9.]+)%", rows["grown"][0])[1])
		assert 80 < change < 105, rows["grown"][0] # twice the work
		assert "-> added" in text
	END
}

runs_join()
{
	"$post" -q merge one old/traced/program >merge.text 2>merge.err && [ ! -s merge.err ] &&
		"$post" -q -f csv one old/traced/program >one.csv && python3 - <<-'END'
		import csv, re
		text = open("merge.text").read()
		assert text.startswith("# 2 runs"), text
		calls = {}
		for row in csv.DictReader(open("one.csv")):
		    calls[row["callee"]] = calls.get(row["callee"], 0) + int(row["calls"])
		rows = {m[2]: m[1].split() for m in re.finditer(r"^(.*)  (\S+) \[program\]$", text, re.M)}
		for name in "grown", "shrunk", "same":
		    assert float(rows[name][-3]) * 2 == calls[name], (rows, calls)
		    assert rows[name][-4] == "2" and rows[name][-2] == rows[name][-1]
	END
}

builds_do_not_join()
{
	"$post" -q merge one two old/traced/program new/traced/program >both.text 2>both.err
	grep 'of several builds' both.err
}

# phase MARK: rows of the table, "KIND NAME"
phase()
{
	"$post" -q report --phase "$1" one/trace/*.trace one/maps old/traced/program 2>phase.err |
		awk '/^only before:/ { kind = "before" } /^before and after:/ { kind = "both" }
			/^only after:/ { kind = "after" } / \[program\]$/ { print kind, $(NF - 1) }' |
		grep -v '_' | sort
}

phases_part()
{
	mv one all && mkdir -p one/trace && for file in all/trace/*.trace; do
		cp "$file" one/trace/ && break
	done
	cp -r all/maps one/
	phase shrunk >phases
	rm -rf one && mv all one
	equal "$(cat phases)" "after shrunk
before grown
both same" && [ ! -s phase.err ]
}

never_happens()
{
	"$post" -q report --phase nothing one old/traced/program 2>&1 | grep 'nothing did not happen'
}

durations_fit()
{
	"$post" -q histogram grown one old/traced/program >histogram.text &&
		"$post" -q -f sqlite -o spans.db one old/traced/program && python3 - <<-'END'
		import re, sqlite3
		text = open("histogram.text").read()
		head = re.match(r"grown \[program\]: (\d+) calls, least ([0-9.]+) (\w+), .* most ([0-9.]+) (\w+)\n", text)
		units = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
		database = sqlite3.connect("spans.db")
		spans = [row[0] for row in database.execute(
		    "SELECT s.duration FROM spans s JOIN functions f ON f.id = s.function "
		    "WHERE f.name = 'grown' AND s.duration IS NOT NULL")]
		assert len(spans) == int(head[1]) == 10, (len(spans), text)
		least, most = float(head[2]) * units[head[3]], float(head[4]) * units[head[5]]
		assert abs(least - min(spans)) <= 1e-3 * least and abs(most - max(spans)) <= 1e-3 * most, (text, spans)
		bins = [(float(m[1]) * units[m[2]], int(m[3])) for m in re.finditer(r"^ *([0-9.]+) (\w+) \|.*\| (\d+)$", text, re.M)]
		assert sum(count for _, count in bins) == len(spans), text
		for i, (start, count) in enumerate(bins):
		    end = bins[i + 1][0] if i + 1 < len(bins) else 1e18
		    assert count == sum(start * 0.999 <= s < end * 0.999 for s in spans), (start, text, spans)
	END
}

behaviour()
{
	if [ "$target" = armel ]; then
		skip "times" "the thunks of spans need a CPU that armel programs do not"
		return
	fi
	cat >main.c <<-'END'
		#include <stdio.h>
		#ifndef WORK
		#define WORK 400
		#endif
		#define KEEP __attribute__((noipa))
		static volatile unsigned sink;
		KEEP unsigned grown(unsigned n) { unsigned i = 0; while (i < n * WORK) sink += i++; return i; }
		KEEP unsigned shrunk(unsigned n) { unsigned i = 0; while (i < n * 200000 / WORK) sink += i++; return i; }
		KEEP unsigned same(void) { unsigned i = 0; while (i < 300) sink += i++; return i; }
		KEEP unsigned added(void) { return sink++; }
		int main(void)
		{
			/* what is done with a result leaves room for a patch where the call returns */
			for (unsigned i = 0; i < 5; i++) {
				sink += grown(i + 1) * 3;
				sink += same() * 5;
			}
			sink += shrunk(3) * 7;
			sink += same() * 3;
		#ifdef ADDED
			sink += added() * 5;
		#endif
			printf("%u\n", sink != 0);
			return 0;
		}
	END
	compare spans
	# the sums that a device has made give the same
	mkdir table && cd table || return
	cp ../main.c .
	compare table
	cd ..
}

# compare MODE: both builds in that mode, two runs of each
compare()
{
	export LITIFUT_MODE="$1" LITIFUT_CLOCK=page
	mkdir old new
	for build in old new; do
		(
			cd $build || exit
			set --
			[ $build = old ] || set -- -DWORK=800 -DADDED
			mkdir -p plain traced
			cd traced || exit
			# shellcheck disable=SC2086
			"$BUILD/bin/litifut" build -q "$triplet-gcc" $machine_flags -O1 ../../main.c \
				-o program "$@" >../traced.log 2>&1
		) || ok "$build: link" false
	done
	unset LITIFUT_MODE LITIFUT_CLOCK
	for round in 1 2; do
		ok "$1: old build, run $round" trace old one
		ok "$1: new build, run $round" trace new two
	done
	ok "$1: diff: what became slower, faster, new; not what stayed" builds_differ
	ok "$1: merge: runs of one build" runs_join
	[ "$1" = spans ] || return 0
	ok "merge: not of two builds" builds_do_not_join
	ok "report --phase: before and after a function" phases_part
	ok "report --phase: what never happens" never_happens
	ok "histogram: every call in its bin" durations_fit
}
for_targets behaviour
