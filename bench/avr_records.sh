#!/bin/sh
# usage: bench/avr_records.sh [NUMBER]
# Table II of "Call Graphs on Sensor Nodes" and its timing accuracy (docs/firmware.md): what a call
# costs when hooks of the compiler send or write a record at its begin and end, and when LITIFUT
# counts or times it. All ways run on a node that simavr simulates, at 8 MHz. Then a function that
# takes some 1.435 ms, as its pin says, the simulator's clock, and LITIFUT's. The calls are those of
# fibonacci(NUMBER) (15).
# shellcheck source=avr.sh
. "$(dirname "$0")/avr.sh"
number=${1:-15}
source=$root/bench/avr/records.c
: >none

# build NAME FLAGS...
build()
{
	name=$1
	shift
	avr-gcc -mmcu=atmega1284p -std=gnu11 -Os -Wall -Wextra -DF_CPU=${hertz}ul -c "$source" \
		-o "$name.o" "$@"
	$linker avr-gcc -mmcu=atmega1284p "$name.o" -o "$name.elf"
}

# cycles NAME OPTIONS...
cycles()
{
	name=$1
	shift
	"$simulator" -c 4000000000 -s none -o "$name.executed" -m "$name.memory" "$@" atmega1284p \
		"$name.elf" >"$name.log" 2>&1
	sed -n 's/^cycles //p' "$name.executed"
}

calls=$(awk -v n="$number" 'BEGIN { a = 1; b = 1
	for (i = 1; i < n; i++) { c = a + b + 1; a = b; b = c } print b }')

hertz=8000000

# row TITLE CYCLES
row()
{
	awk -v title="$1" -v ours="$2" -v plain="$plain" -v calls="$calls" -v hertz="$hertz" \
		'BEGIN {
		printf "%-44s %9.1f us\n", title, (ours - plain) / calls / hertz * 1e6 }'
}

linker=
hooks="-DLOOPS=0 -DNUMBER=$number -finstrument-functions"
build none -DWAY=0 -DLOOPS=0 -DNUMBER="$number"
plain=$(cycles none)
echo "fibonacci($number), $calls calls, untraced $plain cycles; added to a call:"
# shellcheck disable=SC2086
{
	build empty -DWAY=1 $hooks
	row "hooks that do nothing" "$(cycles empty)"
	hertz=7372800 # which these rates divide
	for baud in 19200 115200; do
		build serial$baud -DWAY=2 -DBAUD=$baud $hooks
		row "records by the serial line, $baud bit/s" "$(cycles serial$baud -u serial$baud.bytes -f $hertz)"
	done
	hertz=8000000
	build flash -DWAY=3 $hooks
	row "records to an AT45DB161" "$(cycles flash -d pages)"
	# Whole pages only.
	# shellcheck disable=SC2017
	[ "$(wc -c <pages)" = $((2 * calls / 52 * 528)) ] || {
		echo "avr_records: records are missing in the flash" >&2
		exit 1
	}
}
linker="$BUILD/bin/litifut build"
for kind in fast small; do
	LITIFUT_STUBS=$kind build count-$kind -DWAY=0 -DLOOPS=0 -DNUMBER="$number"
	row "LITIFUT_STUBS=$kind, counts" "$(cycles count-$kind)"
done
export LITIFUT_MODE=table LITIFUT_CLOCK=timer1:8000000
build table -DWAY=0 -DLOOPS=0 -DNUMBER="$number"
row "LITIFUT_MODE=table, counts and times" "$(cycles table)"

loops=50
build loop -DWAY=0 -DLOOPS=$loops -DNUMBER=0
avr-nm loop.elf | sed -n 's/^0*\([0-9a-f]*\) t loop$/\1/p' >functions
cycles loop -p edges -t functions >/dev/null
echo
echo "$loops calls of a function, mean of cycles, all in the same run:"
awk '$2 % 2 { start = $1; next } start { n++; sum += $1 - start; start = 0 }
	END { printf "  its pin is high  %9.1f\n", sum / n }' edges
awk 'NF == 5 && $2 > 1 { printf "  the simulator    %9.1f, with call and return\n", $5 / $2 }' loop.log
"$BUILD/bin/litifut-post" -q -f csv loop.memory loop.elf |
	awk -F, '/"loop","loop.elf",call/ { printf "  LITIFUT          %9.1f\n", $9 / $8 * 8 / 1000 }'
