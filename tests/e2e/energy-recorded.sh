#!/bin/sh
# Energy of functions from what the real recorder on an AVR sends (LITIFUT_MODE=spans), on the simulated
# board whose truth is known: the recorder sets the pin for the marks, and its code says what a call of it
# costs; transfers and interrupts are events. A tool that is given wrong costs of hooks or wrong marks must be
# caught by the same comparison.
# Functions are called by ok.
# shellcheck disable=SC2317
. "$(dirname "$0")/../energy.sh"

# energy POWER OPTIONS...
energy()
{
	"$post" energy -f tsv --volts 3.3 --machine "$root/tests/energy/radio.machine" --power "$@" \
		serial "$recorded" >result.tsv
}

compare()
{
	"$root/tests/energy/compare.py" "$@" truth.tsv result.tsv
}

recorded=$BUILD/tests/energy/recorded-60.elf
ok "the rig measures the truth" sh -c "'$rig' truth '$BUILD/tests/energy/firmware-60.elf' >truth.tsv"
ok "a run of the traced firmware" "$rig" -p power.csv -u serial recorded "$recorded"
ok "nothing is lost" sh -c "'$post' -f report serial '$recorded' 2>&1 | grep -q ' 0 lost'"
ok "energies are found" energy power.csv
grep 'marks used' log >marks
ok "by all marks" grep -q '\(1[0-9][0-9]\) of \1 marks used, 0 outliers,.* shift [^;]*$' marks
ok "functions of 1 % are within 1 %, a peripheral within 1 %, sums are exact" compare

ok "what a peripheral does is learned" sh -c "'$post' energy learn -q --trigger radio_send --power \
	power.csv --volts 3.3 serial '$recorded' >learned.machine"
cat learned.machine >log
ok "levels within 2 %, durations within two samples" awk '
	/state s/ && $6 + 0 > 30 { n++; power[n] = $4 + 0; time[n] = $6 + 0 }
	function off(a, b, by) { return a - b > by || b - a > by }
	END { exit n != 3 || off(power[1], 19.8, 0.4) || off(power[2], 56.1, 1.1) ||
		off(power[3], 39.6, 0.8) || off(time[1], 150, 40) || off(time[2], 360, 20) ||
		off(time[3], 900, 20) }' learned.machine

# An analyser that shows its pins two samples late, or one too early: what is learned is the same.
shifted()
{
	awk -F, -v OFS=, 'NR > 1 { pin[NR] = $3; print $1, $2, (NR > 3 ? pin[NR - 2] : $3); next } { print }' power.csv >late.csv &&
		awk -F, -v OFS=, 'NR == 1 { print } NR > 2 { print before, $3 } { before = $1 "," $2 }' power.csv >early.csv || return
	for moved in late early; do
		"$post" energy learn -q --trigger radio_send --power "$moved.csv" --volts 3.3 serial "$recorded" >"$moved.machine" || return
		cat "$moved.machine"
		# to half a microsecond and a thousandth of the level
		paste learned.machine "$moved.machine" | awk 'function off(a, b, by) { return a - b > by || b - a > by }
			/state s/ { n++; wrong += $2 != $8 || off($4 + 0, $10 + 0, $4 / 1000) || off($6 + 0, $12 + 0, 0.5) }
			END { exit n != 3 || wrong }' || return
	done
}
ok "the same with pins that are two samples late, or one early" shifted

# The curve on the page lies on the firmware's clock: what draws most follows the calls that send.
page()
{
	"$post" energy -q -f html --volts 3.3 --machine "$root/tests/energy/radio.machine" --power power.csv \
		-o page.html serial "$recorded" || return
	python3 - <<-'END'
		import csv, json, re
		data = json.loads(re.search('id="data">(.*?)</script>', open("page.html").read(), re.S).group(1))
		power, functions = data["power"], data["functions"]
		(curve,) = power["curves"]
		low = [v and v * power["step"] for v in curve["low"]]
		high = [v + h * power["step"] for v, h in zip(low, curve["high"])]
		mean = [v + m * power["step"] for v, m in zip(low, curve["mean"])]
		sends = []
		for row in data["timeline"]["lanes"][0]["rows"]:
		    at = 0
		    for begin, length, function in zip(row["begin"], row["length"], row["function"]):
		        at += begin
		        if functions["name"][function] == "radio_send":
		            sends.append(at + length)
		assert len(sends) == 30
		# 150 us later it sends for 360 us, which takes 56.1 mW more
		def sending(i):
		    at = power["from"] + i * power["width"]
		    return any(at + power["width"] > end + 50e3 and at < end + 600e3 for end in sends)
		most = sorted(range(len(high)), key=high.__getitem__)[-30:]
		assert all(sending(i) for i in most), [(high[i], power["from"] + i * power["width"]) for i in most]
		for end in sends:
		    i = int((end + 330e3 - power["from"]) / power["width"])
		    assert high[i] > 0.07, (end, high[i])
		# of the run: from the first event to the last, which is nearly all of the recording
		joules = sum(mean) * power["width"] * 1e-9
		assert 0.95 * power["total"] < joules < power["total"], (joules, power["total"])
		rows = {row["function"]: row for row in csv.DictReader(open("result.tsv"), delimiter="\t")}
		for column, of in ("energy", "self_j"), ("energy_later", "later_j"):
		    for name, value in zip(functions["name"], functions[column]):
		        assert abs(value - float(rows[name][of])) <= 1e-9 * power["total"], (name, column)
		assert functions["energy_later"][functions["name"].index("radio_send")] > 0.001
	END
}
ok "the page's curve is highest where the radio sends, its energies are those of tsv" page

# The recorder sends nearly all of the time between the rounds, and what is shaded is that.
ok "a picture shows where the recorder sends" sh -c "'$post' energy -q -f svg --from 0.05 --to 0.3 --volts 3.3 --power power.csv \
	serial '$recorded' | python3 -c 'import sys, xml.dom.minidom as m
width = sum(float(r.getAttribute(\"width\")) for r in m.parse(sys.stdin).getElementsByTagName(\"rect\") if r.getAttribute(\"class\") == \"sends\")
assert 0.75 * 1600 < width < 0.95 * 1600, width'"

# The same recording, with what is above 35 mW on a channel of its own: two curves, which add up to it.
two_channels()
{
	awk -F, 'NR == 1 { print "Time (s),CPU (W),Radio (W),D0"; next }
		{ watts = $2 * 3.3e-6; high = watts > 0.035 ? watts - 0.035 : 0
		printf "%.6f,%.9f,%.9f,%s\n", $1 / 1000, watts - high, high, substr($3, 1, 1) }' power.csv >two.csv
	"$post" energy -q -f html --power two.csv -o two.html serial "$recorded" || return
	[ "$(wc -c <two.html)" -lt 5000000 ] && python3 - <<-'END'
		import json, re
		def read(name):
		    return json.loads(re.search('id="data">(.*?)</script>', open(name).read(), re.S).group(1))["power"]
		def means(power):
		    return [[(low + mean) * power["step"] for low, mean in zip(c["low"], c["mean"])] for c in power["curves"]]
		two, one = read("two.html"), means(read("page.html"))[0]
		assert [c["name"] for c in two["curves"]] == ["CPU", "Radio"], [c["name"] for c in two["curves"]]
		processor, radio = means(two)
		assert len(processor) == len(radio) == len(one) / 2 == 16384
		for i, (a, b) in enumerate(zip(processor, radio)):
		    assert abs(a + b - (one[2 * i] + one[2 * i + 1]) / 2) < 1e-4 + 0.05 * (a + b), (i, a, b, one[2 * i], one[2 * i + 1])
		assert max(radio) > 0.03 > max(processor) - 0.006
	END
}
ok "two channels are two curves" two_channels

# Change, measure again, see the effect: adc_read does half of its rounds.
changed()
{
	sed 's/i < 24; i++/i < 12; i++/' "$root/tests/energy/firmware.c" >quick.c && ! cmp -s quick.c "$root/tests/energy/firmware.c" &&
		avr-gcc -mmcu=atmega1284p -Os -g -I"$root/include" -DROUNDS=60 quick.c -o quick.elf &&
		LITIFUT_MODE=spans LITIFUT_CLOCK=timer1:16000000 LITIFUT_RING_KB=8 LITIFUT_PORT=usart LITIFUT_MARK_SET=0x23:8 \
			LITIFUT_MARK_CLEAR=0x23:8 LITIFUT_MARK_EVERY=10 LITIFUT_SEND=call:work LITIFUT_EXCLUDE_CALLEES="__*,litifut_*" \
			"$BUILD/bin/litifut" build -q avr-gcc -mmcu=atmega1284p -Os -g -I"$root/include" -DROUNDS=60 -DRECORDED quick.c -o new.elf &&
		"$rig" truth quick.elf >quick.tsv && "$rig" -p new.csv -u new.serial recorded new.elf &&
		"$post" energy diff -q --volts 3.3 --machine "$root/tests/energy/radio.machine" --power power.csv --power new.csv \
			serial new.serial "$recorded" new.elf >difference || return
	cat difference
	python3 - <<-'END'
		import csv
		def truth(name):
		    rows = csv.DictReader((l for l in open(name) if "\t" in l), delimiter="\t")
		    return {r["function"]: float(r["self_j"]) / max(1, int(r["calls"])) for r in rows}
		old, new = truth("truth.tsv"), truth("quick.tsv")
		joules = {"mJ": 1e-3, "uJ": 1e-6, "nJ": 1e-9, "pJ": 1e-12}
		(row,) = (l.split() for l in open("difference") if " adc_read" in l)
		change, error = float(row[4]) * joules[row[5]], float(row[6]) * joules[row[7]]
		wanted = new["adc_read"] - old["adc_read"]
		assert wanted < -0.4e-6 and abs(change / wanted - 1) < 0.01 and abs(change - wanted) < 2 * error, (row, wanted)
		for name in "wait_ms", "mac", "filter", "crc8":
		    (line,) = (l for l in open("difference") if " %s" % name in l)
		    assert "within the error" in line, line
	END
}
ok "half of a function's work is seen in the comparison of two builds, and nothing else" changed

# Behind capacitors: what is short stays some per cent wrong in one recording, by where the samples lie and
# by their noise, so recordings are twice as long here. With LONG set there are three, whose analysers were
# switched on at other moments.
share()
{
	awk -F '\t' -v name="$1" 'NF > 1 && !(FILENAME in seen) { seen[FILENAME] = 1; for (i = 1; i <= NF; i++) column[FILENAME, $i] = i }
		$1 == name { value[FILENAME] = $column[FILENAME, "self_j"] }
		END { print 100 * (value["result.tsv"] / value["truth.tsv"] - 1) }' truth.tsv result.tsv
}
leads=0.0203
[ -z "${LONG:-}" ] || leads="0.0203 0.0207 0.0211"
record()
{
	for lead in $leads; do
		"$rig" -s tau=5e-5 -s "lead=$lead" -p "$lead.csv" -u "$lead.serial" recorded "$recorded" || return 1
	done
}
# attribute OPTIONS...: writes the errors in per cent into the file `errors`
attribute()
{
	: >errors
	for lead in $leads; do
		cp "$lead.serial" serial && energy "$lead.csv" "$@" || return 1
		echo "$(share crc8) $(share adc_read)" >>errors
	done
	cat errors
}
# off COLUMN PERCENT: the mean of all is further from the truth
off()
{
	awk -v column="$1" -v by="$2" '{ sum += $column } END { sum /= NR; print sum; exit !(sum > by || sum < -by) }' errors
}
# each_off COLUMN PERCENT: one of them is further
each_off()
{
	awk -v column="$1" -v by="$2" '{ print $column; off += $column > by || $column < -by } END { exit !off }' errors
}
cp serial sharp.serial
cp truth.tsv sharp.tsv
recorded=$BUILD/tests/energy/recorded-120.elf
ok "the truth of a run that is twice as long" sh -c "'$rig' truth '$BUILD/tests/energy/firmware-120.elf' >truth.tsv"
ok "a board with capacitors of 50 us is recorded" record
ok "is read" attribute
ok "short functions are wrong" off 1 5
ok "with --tau" attribute --tau 5e-5
ok "they are not" fails off 1 1.5
ok "in any recording" fails each_off 1 2
ok "nor are longer ones" fails off 2 1
ok "in any recording" fails each_off 2 1.5
mv sharp.serial serial
mv sharp.tsv truth.tsv
recorded=$BUILD/tests/energy/recorded-60.elf

# without a pin of the analyser: it feeds an LED, which the curve shows
no_pin()
{
	"$rig" -s "mark-current=$1" -p led.csv -u led.serial recorded "$recorded" && cp led.serial serial &&
		awk -F, -v OFS=, '{ print $1, $2 }' led.csv >bare.csv
}
cp serial sharp.serial
ok "an LED of 2 mA on the pin, which the analyser does not have" no_pin 2
ok "the marks are found in the curve" energy bare.csv --sync power
grep 'marks used' log >marks
ok "all of them" grep -q ' \(1[0-9][0-9]\) of \1 marks used' marks
ok "and what the LED draws is not charged to the program" compare
ok "a curve without them is refused" sh -c "awk -F, -v OFS=, '{ print \$1, \$2 }' power.csv >dark.csv &&
	! '$post' energy -q --sync power --volts 3.3 --power dark.csv serial '$recorded' 2>words && grep 'does not show the marks' words"
mv sharp.serial serial

# what must be caught
ok "hooks that cost 20 % more" energy power.csv --hook 4.37,4.3,30.36
ok "are seen" fails compare
ok "hooks that cost 20 % less" energy power.csv --hook 2.92,2.86,30.36
ok "are seen" fails compare
ok "all of the hooks' cost in the caller" energy power.csv --hook 0,7.23,30.36
ok "is seen" fails compare
late_marks power.csv late.csv
ok "marks that are three samples late" energy late.csv --no-refine
ok "are seen" fails compare
finish
