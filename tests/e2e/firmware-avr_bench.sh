#!/bin/sh
# The tables of docs/firmware.md that repeat the evaluation of "Call Graphs on Sensor Nodes": what is added to
# a program function by function, what each way of recording costs, and how accurate times are; and recorders of paths
# (docs/paths.md), which are compared there. Those of whole tasks are in firmware-avr_nodes.sh. LONG=1: each of the 250 functions, and as many calls as in the page.
. "$(dirname "$0")/../lib.sh"

target=atmega1284p
folder=$BUILD/tests/e2e/$script
mkdir -p "$folder"
step=83
number=9
[ -z "${LONG:-}" ] || step=1 number=15

# bench NAME ARGUMENT: into the file NAME
bench()
{
	OUT=$folder/bench-$1 "$root/bench/$1.sh" "$2" >"$folder/$1" && cat "$folder/$1" >&2
}

# line KIND: the last of those of this kind
line()
{
	sed -n "/^$1:/,/for each/p" "$folder/avr_rom" | sed -n 's/^  \(.* for each\), .*/\1/p'
}

# for_all KIND: bytes of flash that do not depend on the number of sites
for_all()
{
	sed -n "/^$1:/,/for each/s/.* for each, \([0-9]*\) and .*/\1/p" "$folder/avr_rom"
}

# Of memory, a counter of a byte takes one for each site and another one for its share in the table of carries. That
# grows by doubling, so that a line through all of its sizes may be steeper: the last size is compared with the first.
at_most_two()
{
	sed -n '/^counts, byte:/,/for each/s/^ *\([0-9]*\) functions .*+\([0-9]*\) of memory$/\1 \2/p' "$folder/avr_rom" |
		awk 'NR == 1 { sites = $1; bytes = $2 } { print }
			END { exit !(NR == 2 && $1 > sites && $2 - bytes <= 2 * ($1 - sites)) }' >&2
}

# cost TITLE: tenths of a microsecond for a call
cost()
{
	sed -n "s/^$1  *\([0-9]*\)\.\([0-9]\) us\$/\1\2/p" "$folder/avr_records"
}

# at_most DESCRIPTION LIMIT VALUE
at_most()
{
	ok "$1: at most $2" [ "${3:-0}" -gt 0 -a "${3:-0}" -le "$2" ]
}

# Times are those of the simulator to 1 %, and the pin's, which call and return are not in.
accurate()
{
	awk '/its pin is high/ { pin = $5 } /the simulator/ { truth = $3 } /^  LITIFUT/ { ours = $2 }
		END { print pin, truth, ours; exit !(pin > 0 && ours >= pin && ours < 1.01 * pin &&
			ours - truth < truth / 100 && truth - ours < truth / 100) }' "$folder/avr_records" >&2
}

ok "bytes of a program of 250 functions" bench avr_rom $step
is "fast" "$(line 'counts, fast')" "36.0 bytes of flash and 4.0 of memory for each"
is "small" "$(line 'counts, small')" "8.0 bytes of flash and 4.0 of memory for each"
is "byte, flash" "$(line 'counts, byte' | sed 's/ and .*//')" "36.0 bytes of flash"
ok "byte: at most two of memory for a site" at_most_two
is "table" "$(line table)" "8.0 bytes of flash and 16.0 of memory for each"
at_most "table, bytes of flash for all" 640 "$(for_all table)"
ok "what a call costs" bench avr_records $number
for baud in 19200 115200; do
	ok "a record by the serial line takes as long as its bits, $baud bit/s" \
		[ "$(cost "records by the serial line, $baud bit\\/s")" -gt $((2000000000 / baud)) ]
done
at_most "tenths of a microsecond, hooks that do nothing" 70 "$(cost 'hooks that do nothing')"
at_most "records in the flash" 1300 "$(cost 'records to an AT45DB161')"
at_most "fast" 30 "$(cost 'LITIFUT_STUBS=fast, counts')"
at_most "small" 65 "$(cost 'LITIFUT_STUBS=small, counts')"
at_most "table, the paper's 1629" 400 "$(cost 'LITIFUT_MODE=table, counts and times')"
ok "times are accurate" accurate
ok "recorders of paths, with traces that are what was executed" \
	env PROGRAMS=sample COMPONENTS="sensor network" OUT="$folder/components" BUILD="$BUILD" \
	"$root/bench/avr_components.sh" 2
echo "1..$test_count"
