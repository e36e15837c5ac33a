#!/bin/sh
# usage: bench/avr_tasks.sh [COUNT [TASK...]]
# The five tasks of "Call Graphs on Sensor Nodes" (docs/firmware.md) on nodes that simavr simulates,
# exact to the cycle: CRC-16, Fibonacci, COUNT bundles (1000) sent and echoed between two nodes, and
# 60 samples at 1 Hz, each sent in a bundle. Without inlining, as the paper has it. Prints a table; fails
# if a count is not exact. A TASK is crc, fibonacci, send, echo, sample or slow. KINDS are plain, fast,
# small and table.
# shellcheck source=avr.sh
. "$(dirname "$0")/avr.sh"
count=${1:-1000}
[ $# = 0 ] || shift
kinds=${KINDS:-plain fast small table}
tasks=${*:-crc fibonacci send echo sample slow}
unset OUT

# make_node KINDS NAME ARGUMENTS...: KIND-NAME/node.elf
make_node()
{
	node_kinds=$1
	name=$2
	shift 2
	for kind in $node_kinds; do
		(
			litifut="$BUILD/bin/litifut build"
			case $kind in
			plain) litifut= ;;
			table) export LITIFUT_MODE=table LITIFUT_CLOCK=timer1:8000000 LITIFUT_DEPTH=200 ;;
			*) export LITIFUT_STUBS="$kind" ;;
			esac
			$litifut make -s -C "$root/examples/node" OUT="$folder/objects-$name" \
				ELF="$folder/$kind-$name/node.elf" INLINE=no "$@"
		) >"$kind-$name.log" 2>&1 || {
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
	for kind in $kinds; do
		run "$kind" "$@"
	done
	plain=$(cat "plain-$1/cycles")
	sites=$("$BUILD/bin/litifut" info "fast-$1/node.elf" | sed -n 's/.*sites patched *\([0-9]*\).*/\1/p')
	printf '%-12s %6d %9d %9s ' "$title" "$sites" "$(cat "fast-$1/calls")" \
		"$(awk -v plain="$plain" 'BEGIN { printf "%.3f", plain / 8e6 }')"
	for kind in $kinds; do
		[ "$kind" = plain ] || awk -v plain="$plain" -v traced="$(cat "$kind-$1/cycles")" \
			'BEGIN { printf "%+8.2f %% ", 100 * (traced / plain - 1) }'
	done
	printf '%7d' "$(flash "plain-$1")"
	for kind in $kinds; do
		[ "$kind" = plain ] || printf ' %+6d' $(($(flash "$kind-$1") - $(flash "plain-$1")))
	done
	echo
}

echo "task         sites     calls   seconds  $kinds: cycles, flash"
for each in $tasks; do
	case $each in
	crc)
		make_node "$kinds" crc TASK=crc
		task CRC-16 crc
		;;
	fibonacci)
		make_node "$kinds" fibonacci TASK=fibonacci
		task Fibonacci fibonacci
		;;
	send)
		make_node "$kinds" send TASK=send COUNT="$count"
		make_node plain receive TASK=receive COUNT="$count"
		task One-way send receive
		;;
	echo)
		make_node "$kinds" echo TASK=echo COUNT="$count"
		make_node plain answer TASK=answer COUNT="$count"
		task Pingpong echo answer
		;;
	sample)
		make_node "$kinds" sample TASK=sample LISTEN=yes COUNT=60
		make_node plain samples TASK=receive COUNT=60
		task Sample-Send sample samples
		;;
	slow)
		make_node "$kinds" slow TASK=send BUFFER=slow COUNT="$count"
		make_node plain receive TASK=receive COUNT="$count"
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
	printf "throughput: %.0f bytes/s where memory grows for each field, %.0f with a block of the right size\n",
		80 * count / (slow / 8e6), 80 * count / (ready / 8e6) }'
