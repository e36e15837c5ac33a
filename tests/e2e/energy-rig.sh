#!/bin/sh
# Energy of functions on a simulated board whose truth is known: functions, a peripheral that
# goes on after its call, analysers that are slower, noisier or lose samples. A tool that is
# given wrong costs of hooks or wrong marks must be caught by the same comparison.
# Functions are called by ok; awk has expressions of its own.
# shellcheck disable=SC2317,SC2016
. "$(dirname "$0")/../energy.sh"
compare=$root/tests/energy/compare.py

# energy NAME OPTIONS...: the tsv of a run
energy()
{
	name=$1
	shift
	"$post" energy -q -f tsv --power "$name.csv" --volts 3.3 --machine \
		"$root/tests/energy/radio.machine" "$@" "$name.events" >"$name.tsv"
}

# traced NAME SETTINGS...
traced()
{
	name=$1
	shift
	# shellcheck disable=SC2046
	"$rig" -p "$name.csv" -e "$name.events" $(printf -- '-s %s ' "$@") traced "$firmware"
}

firmware=$BUILD/tests/energy/firmware-60.elf
hook=3.5,3.25,30.36

ok "the rig measures the truth" sh -c "'$rig' truth '$firmware' >truth.tsv"
ok "a run with a tracer and an analyser of 100 kS/s" traced plain seed=1
ok "energies are found" energy plain --hook $hook
ok "functions of 1 % are within 1 %, a peripheral within 1 %, sums are exact" \
	"$compare" truth.tsv plain.tsv
ok "the power of hooks is found in the data" energy plain --hook 3.5,3.25
ok "and the energies as well" "$compare" --direct 2 truth.tsv plain.tsv

ok "the same run untraced" "$rig" -p untraced.csv plain "$firmware"
ok "the hooks' cost agrees with it" sh -c "'$post' energy -f tsv --power plain.csv --volts 3.3 \
	--hook $hook --plain-run untraced.csv plain.events 2>&1 | grep 'by what is known of one [0-9.]* ms\$'"
ok "and a wrong one does not" sh -c "'$post' energy -f tsv --power plain.csv --volts 3.3 \
	--hook 4.2,3.9 --plain-run untraced.csv plain.events 2>&1 | grep 'differ by more than'"

# the processor's supply and the peripherals', each on a channel
apart()
{
	awk -F, -v OFS=, '{ print $1, $3, $2, $4 }' two.csv >swapped.csv && cp two.events swapped.events || return
	for run in two swapped; do
		energy "$run" --hook 3.5,3.25 && "$compare" --direct 2 truth.tsv "$run.tsv" || return
		"$post" energy -q -f json --power "$run.csv" --volts 3.3 --machine "$root/tests/energy/radio.machine" \
			--hook 3.5,3.25 "$run.events" >"$run.json" || return
	done
	python3 - <<-'END'
		import csv, json
		truth = {r["function"]: r for r in csv.DictReader((l for l in open("truth.tsv") if "\t" in l), delimiter="\t")}
		for run, processor in ("two", 0), ("swapped", 1):
		    radio = 1 - processor
		    data = json.load(open(run + ".json"))
		    assert data["channels"][radio] == "Radio", data["channels"]
		    later = sum(f["later_j"] for f in data["functions"])
		    assert abs(later / data["total_j"][radio] - 1) < 0.01, (run, later, data["total_j"])
		    assert abs(data["tracer_j"][radio]) < 0.01 * data["tracer_j"][processor]
		    rows = {r["function"]: r for r in csv.DictReader(open(run + ".tsv"), delimiter="\t")}
		    for f in data["functions"]:
		        # of a function nothing is on the radio's supply
		        assert abs(f["self_j"][radio]) < 0.002 * data["total_j"][radio], (run, f)
		        true = float(truth[f["name"]]["self_j"])
		        if true > 0.01 * data["total_j"][processor] and f["name"] != "main":
		            assert abs(f["self_j"][processor] / true - 1) < 0.02, (run, f, true)
		        row = rows[f["name"]]
		        for k in 0, 1:
		            assert abs(float(row["self_channel_%d_j" % (k + 1)]) - f["self_j"][k]) < 1e-9
	END
}
ok "processor and peripherals with a supply each" traced two seed=1 supplies=2
ok "each is charged to its channel, in either order" apart

# a program that raises the pin itself, in a function
by_call()
{
	awk '/^pin/ { print "enter", $2, 0, "raise_pin"; print "leave", $2, 0; next } { print }' plain.events >call.events &&
		"$post" energy --mark raise_pin -f tsv --power plain.csv --volts 3.3 --hook "$hook" call.events >call.tsv 2>words &&
		"$post" energy -f tsv --power plain.csv --volts 3.3 --hook "$hook" plain.events 2>/dev/null >pins.tsv &&
		grep "clock: [0-9]* of $(grep -c '^pin' plain.events) marks used, 0 outliers" words &&
		python3 - <<-'END'
			import csv
			a, b = ({r["function"]: float(r["self_j"]) for r in csv.DictReader(open(n), delimiter="\t")} for n in ("call.tsv", "pins.tsv"))
			assert abs(a["wait_ms"] / b["wait_ms"] - 1) < 1e-3 and a["raise_pin"] < 1e-2 * a["wait_ms"]
		END
}
ok "calls of a function are the marks" by_call
ok "one that is not called is said" sh -c "! '$post' energy -q --mark none --power plain.csv --volts 3.3 \
	plain.events 2>words && grep 'no call of none (--mark)' words"

# what must be caught
ok "hooks that cost 20 % more" energy plain --hook 4.2,3.9,30.36
ok "are seen" fails "$compare" truth.tsv plain.tsv
ok "hooks that cost 20 % less" energy plain --hook 2.8,2.6,30.36
ok "are seen" fails "$compare" truth.tsv plain.tsv
ok "all of the hooks' cost in the caller" energy plain --hook 0,6.75,30.36
ok "is seen" fails "$compare" truth.tsv plain.tsv
late_marks plain.csv late.csv
cp plain.events late.events
ok "marks that are three samples late" energy late --hook $hook --no-refine
ok "are seen" fails "$compare" truth.tsv late.tsv

# harder analysers
ok "50 kS/s" traced slow seed=2 rate=50e3 noise=0.1 mark-length=400e-6
ok "is read" energy slow --hook $hook
ok "and is within 6 %, as are its error bars" "$compare" --direct 6 --small 10 truth.tsv slow.tsv
ok "coloured noise and ripple" traced noisy seed=3 correlation=0.9 ripple=0.1
ok "is read" energy noisy --hook $hook
ok "and is within 2 %" "$compare" --direct 2 --small 10 truth.tsv noisy.tsv
ok "a transfer of the recorder's buffer" traced transfer seed=4 transfer=800
ok "is read" energy transfer --hook $hook
ok "and is not charged to a function" "$compare" --direct 2 --small 10 truth.tsv transfer.tsv

# what to trace next: from main's own calls to those of work, and no farther
ok "only main's calls are traced" traced first seed=1 \
	skip=sense,filter,compress,radio_send,flash_write,adc_read,mac,crc8,wait_ms
ok "work is worth opening" sh -c "'$post' energy -q -f include --power first.csv --volts 3.3 \
	--hook $hook first.events | grep '^include = work '"
ok "work's calls are traced as well" traced second seed=1 skip=adc_read,mac,crc8
ok "with its peripherals known nothing else is" sh -c "'$post' energy -q -f tsv --power second.csv \
	--volts 3.3 --hook $hook --machine '$root/tests/energy/radio.machine' second.events |
	awk -F'\t' 'NR > 1 && \$13 == 1 { exit 1 }'"

# outputs
ok "callgrind" sh -c "'$post' energy -q -f callgrind --power plain.csv --volts 3.3 \
	--hook $hook --machine '$root/tests/energy/radio.machine' plain.events >callgrind.out && callgrind_annotate callgrind.out | grep wait_ms"
ok "its nanojoules add up to the total" sh -c "awk '/^totals:/ { total = \$2 } /^fn=/ { self = 1; next }
	/^cfn=/ { self = 0; next } /^0 / && self { sum += \$2; self = 0 }
	END { exit !(sum > 0 && sum - total < 2 && total - sum < 2) }' callgrind.out"
ok "json" sh -c "'$post' energy -q -f json --power plain.csv --volts 3.3 plain.events |
	python3 -c 'import json, sys; assert json.load(sys.stdin)[\"functions\"]'"
ok "a picture" sh -c "'$post' energy -q -f svg --from 0.05 --to 0.08 --power plain.csv --volts 3.3 \
	plain.events | python3 -c 'import sys, xml.dom.minidom as m
titles = m.parse(sys.stdin).getElementsByTagName(\"title\")
assert any(\"radio_send\" in t.firstChild.data for t in titles)'"
ok "one line a call" sh -c "'$post' energy -q -f calls --power plain.csv --volts 3.3 plain.events |
	awk -F'\t' '\$4 == \"mac\" { n++ } END { exit n != 14400 }'"
ok "what a peripheral does is learned" sh -c "'$post' energy learn -q --trigger radio_send --power \
	plain.csv --volts 3.3 --hook $hook plain.events >learned.machine"
ok "three states, levels within 2 %, durations within two samples" awk '
	/state s/ { n++; power[n] = $4 + 0; time[n] = $6 + 0 }
	function off(a, b, by) { return a - b > by || b - a > by }
	END { exit n != 3 || off(power[1], 19.8, 0.4) || off(power[2], 56.1, 1.1) ||
		off(power[3], 39.6, 0.8) || off(time[1], 150, 20) || off(time[2], 360, 20) ||
		off(time[3], 900, 20) }' learned.machine
ok "it can be read again" sh -c "'$post' energy -q -f tsv --power plain.csv --volts 3.3 --hook $hook \
	--machine learned.machine plain.events >learned.tsv"
ok "two runs of the same program do not differ" sh -c "'$post' energy diff -q --power plain.csv \
	--power noisy.csv --volts 3.3 --hook $hook plain.events noisy.events | grep wait_ms"
cp noisy.events other.events
ok "a comparison takes what serves both sides behind them" sh -c "'$post' energy diff -q --power plain.csv --power \
	noisy.csv --volts 3.3 --hook $hook plain.events other.events >two && grep 'all functions' two"
ok "a page can't be made of a text of events, which is said" sh -c "! '$post' energy -q -f html \
	--power plain.csv --volts 3.3 plain.events >page 2>words && [ ! -s page ] && grep 'html needs traces' words"
ok "a trace without returns is refused" sh -c "printf 'litifut-events 1\nhz 1000\nenter 1 0 main\n' \
	>calls.events; ! '$post' energy -q --power plain.csv --volts 3.3 calls.events"
finish
