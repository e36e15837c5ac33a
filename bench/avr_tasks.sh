#!/bin/sh
# usage: bench/avr_tasks.sh [COUNT [TASK...]]
# The five tasks of "Call Graphs on Sensor Nodes" (docs/firmware.md) on nodes that simavr simulates,
# exact to the cycle: CRC-16, Fibonacci, COUNT bundles (1000) sent and echoed between two nodes, and
# 60 samples at 1 Hz, each sent in a bundle. Prints a table; fails if a count is not exact. A TASK is
# crc, fibonacci, send, echo, sample or slow.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
BUILD=${BUILD:-$root/build}
export BUILD
count=${1:-1000}
[ $# = 0 ] || shift
tasks=${*:-crc fibonacci send echo sample slow}
folder=${OUT:-$BUILD/bench/avr_tasks}
unset OUT
simulator=$BUILD/tests/avr
rm -rf "$folder"
mkdir -p "$folder"
cp -r "$root/examples/node" "$folder/source"
cd "$folder"

# make_node NAME ARGUMENTS...: plain-NAME, fast-NAME, small-NAME and table-NAME
make_node()
{
	name=$1
	shift
	for kind in plain fast small table; do
		out=$folder/$kind-$name
		if [ "$kind" = plain ]; then
			make -s -C source OUT="$out" "$@"
		elif [ "$kind" = table ]; then
			LITIFUT_MODE=table LITIFUT_CLOCK=timer1:8000000 "$BUILD/bin/litifut" build \
				make -s -C source OUT="$out" "$@"
		else
			LITIFUT_STUBS=$kind "$BUILD/bin/litifut" build \
				make -s -C source OUT="$out" "$@"
		fi >"$kind-$name.log" 2>&1 || {
			cat "$kind-$name.log" >&2
			exit 1
		}
	done
}

# run KIND NAME [PEER]: leaves KIND-NAME/cycles and, when traced, the number of calls
run()
{
	elf=$1-$2/node.elf
	peer=
	[ $# = 2 ] || peer="-n plain-$3/node.elf"
	sites=/dev/null
	if [ "$1" != plain ]; then
		sites=$1-$2/sites
		python3 "$root/tests/oracle/firmware_avr.py" sites "$elf" >"$sites"
	fi
	# shellcheck disable=SC2086
	"$simulator" -c 4000000000 -s "$sites" -o "$1-$2/executed" -m "$1-$2/memory" \
		-u "$1-$2/serial" $peer atmega1284p "$elf" >"$1-$2/log" 2>&1
	sed -n 's/^cycles //p' "$1-$2/executed" >"$1-$2/cycles"
	[ "$1" = plain ] && return
	"$BUILD/bin/litifut-post" -q -f gmon -o "$1-$2/gmon" "$1-$2/memory" "$elf"
	python3 "$root/tests/oracle/firmware_avr.py" check "$elf" "$1-$2/executed" "$1-$2/gmon" \
		>"$1-$2/check" || {
		cat "$1-$2/check" >&2
		exit 1
	}
	sed -n 's/^executed \([0-9]*\) .*/\1/p' "$1-$2/check" >"$1-$2/calls"
	cmp -s "$1-$2/serial" "plain-$2/serial" || {
		echo "$elf: does not print what the plain program prints" >&2
		exit 1
	}
}

flash()
{
	avr-size "$1/node.elf" | awk 'NR == 2 { print $1 + $2 }'
}

# task TITLE NAME [PEER]
task()
{
	title=$1
	shift
	for kind in plain fast small table; do
		run "$kind" "$@"
	done
	plain=$(cat "plain-$1/cycles")
	awk -v title="$title" -v sites="$("$BUILD/bin/litifut" info "fast-$1/node.elf" |
		sed -n 's/.*sites patched *\([0-9]*\).*/\1/p')" -v calls="$(cat "fast-$1/calls")" \
		-v plain="$plain" -v fast="$(cat "fast-$1/cycles")" -v small="$(cat "small-$1/cycles")" \
		-v table="$(cat "table-$1/cycles")" -v rom_table="$(flash "table-$1")" \
		-v rom="$(flash "plain-$1")" -v rom_fast="$(flash "fast-$1")" \
		-v rom_small="$(flash "small-$1")" 'BEGIN {
			printf "%-12s %6d %9d %9.3f %+8.2f %% %+8.2f %% %+8.2f %% %7d %+6d %+6d %+6d\n",
				title, sites, calls, plain / 8e6, 100 * (fast / plain - 1),
				100 * (small / plain - 1), 100 * (table / plain - 1), rom,
				rom_fast - rom, rom_small - rom, rom_table - rom }'
}

echo "task         sites      calls  seconds       fast      small      table   flash   fast  small  table"
for each in $tasks; do
	case $each in
	crc)
		make_node crc TASK=crc
		task CRC-16 crc
		;;
	fibonacci)
		make_node fibonacci TASK=fibonacci
		task Fibonacci fibonacci
		;;
	send)
		make_node send TASK=send COUNT="$count"
		make_node receive TASK=receive COUNT="$count"
		task One-way send receive
		;;
	echo)
		make_node echo TASK=echo COUNT="$count"
		make_node answer TASK=answer COUNT="$count"
		task Pingpong echo answer
		;;
	sample)
		make_node sample TASK=sample COUNT=60
		make_node samples TASK=receive COUNT=60
		task Sample-Send sample samples
		;;
	slow)
		make_node slow TASK=send BUFFER=slow COUNT="$count"
		make_node receive TASK=receive COUNT="$count"
		task "One-way slow" slow receive
		;;
	*)
		echo "avr_tasks: no such task: $each" >&2
		exit 2
		;;
	esac
done
[ -f plain-slow/cycles ] && [ -f plain-send/cycles ] || exit 0
awk -v count="$count" -v slow="$(cat plain-slow/cycles)" -v ready="$(cat plain-send/cycles)" 'BEGIN {
	printf "throughput: %.0f bytes/s where memory grows for each byte, %.0f with a buffer of the right size\n",
		80 * count / (slow / 8e6), 80 * count / (ready / 8e6) }'
