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
ok "the rig knows the truth" sh -c "'$rig' truth '$BUILD/tests/energy/firmware-60.elf' >truth.tsv"
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

# Behind capacitors: what is short stays some per cent wrong in one recording, by where the samples lie,
# so the mean of three is compared, whose analysers were switched on at other moments.
share()
{
	awk -F '\t' -v name="$1" 'NF > 1 && !(FILENAME in seen) { seen[FILENAME] = 1; for (i = 1; i <= NF; i++) column[FILENAME, $i] = i }
		$1 == name { value[FILENAME] = $column[FILENAME, "self_j"] }
		END { print 100 * (value["result.tsv"] / value["truth.tsv"] - 1) }' truth.tsv result.tsv
}
leads="0.0203 0.0207 0.0211"
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
ok "a board with capacitors of 50 us is recorded three times" record
ok "is read" attribute
ok "short functions are wrong" off 1 5
ok "with --tau" attribute --tau 5e-5
ok "they are not" fails off 1 1.5
ok "in any of the three" fails each_off 1 2
ok "nor are longer ones" fails off 2 1
ok "in any of the three" fails each_off 2 1.5
mv sharp.serial serial

# what must be caught
ok "hooks that cost 20 % more" energy power.csv --hook 5.4,5.27,30.36
ok "are seen" fails compare
ok "hooks that cost 20 % less" energy power.csv --hook 3.6,3.51,30.36
ok "are seen" fails compare
ok "all of the hooks' cost in the caller" energy power.csv --hook 0,8.89,30.36
ok "is seen" fails compare
late_marks power.csv late.csv
ok "marks that are three samples late" energy late.csv --no-refine
ok "are seen" fails compare
finish
