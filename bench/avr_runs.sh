#!/bin/sh
# usage: bench/avr_runs.sh [COUNT [RUNS]]
# Table I and Figure 9 of "Call Graphs on Sensor Nodes" (docs/firmware.md): the networking tasks with COUNT
# bundles (1000), RUNS times (50), with the other node starting at another time in each run and one of
# 20,000 bytes between the two lost, other ones in each run. Prints the number of functions, calls and
# seconds, each with the standard deviation; then seconds with and without inlining.
# shellcheck source=avr.sh
. "$(dirname "$0")/avr.sh"
bundles=${1:-1000}
runs=${2:-50}

# node NAME COMMAND ARGUMENTS...
node()
{
	name=$1
	traced=$2
	shift 2
	# shellcheck disable=SC2086
	quietly $traced make -s -C "$root/examples/node" OUT="$folder/objects-$name" \
		ELF="$folder/$name/node.elf" "$@"
}

# How many functions of the program's sources are in the ELF file.
functions_of()
{
	avr-nm "$folder/objects-$1"/*.o | awk '$2 ~ /[tT]/ { print $3 }' | sort -u >own
	avr-nm "$1/node.elf" | awk '$2 ~ /[tT]/ { print $3 }' | sort -u | comm -12 - own | wc -l
}

# run NAME PEER NUMBER COUNT: the calls of patched sites and the cycles
run()
{
	"$simulator" -c 4000000000 -s "$1/sites" -o "$1/executed" -u "$1/serial" -n "$2/node.elf" \
		-j $((($3 * 7919) % 100000)) -l "20000:$3" atmega1284p "$1/node.elf" >"$1/log" 2>&1
	grep -q "result $4\$" "$1/serial" || {
		echo "avr_runs: $1, run $3: $(cat "$1/serial")" >&2
		exit 1
	}
	awk '/cycles/ { cycles = $2; next } { sum += $2 } END { print sum, cycles }' "$1/executed"
}

# task TITLE NAME PEER COUNT
task()
{
	python3 "$root/tests/oracle/firmware_avr.py" sites "$2/node.elf" >"$2/sites"
	for number in $(seq "$runs"); do
		run "$2" "$3" "$number" "$4"
	done | awk -v title="$1" -v functions="$(functions_of "$2")" '
		{ n++; calls += $1; square += $1 * $1; cycles += $2; squares += $2 * $2 }
		function deviation(sum, square) {
			d = square / n - (sum / n) ^ 2
			return d > 0 ? 100 * sqrt(d) / (sum / n) : 0 }
		END { printf "%-12s %9d %10.0f %7.2f %% %9.3f %7.2f %%\n", title, functions, calls / n,
			deviation(calls, square), cycles / n / 8e6, deviation(cycles, squares) }'
}

echo "task         functions      calls deviation   seconds deviation"
build="$BUILD/bin/litifut build"
for each in "One-way send receive $bundles" "Pingpong echo answer $bundles" "Sample-Send sample receive 60"; do
	# shellcheck disable=SC2086
	set -- $each
	node "$2" "$build" TASK="$2" COUNT="$4" INLINE=no LISTEN=yes
	node "$3" env TASK="$3" COUNT="$4" INLINE=no
	task "$1" "$2" "$3" "$4"
done
echo
echo "task          inlining     none"
for each in "CRC-16 crc" "Fibonacci fibonacci" "One-way send receive" "Pingpong echo answer"; do
	# shellcheck disable=SC2086
	set -- $each
	for inline in yes no; do
		node "plain-$2-$inline" env TASK="$2" COUNT="$bundles" INLINE=$inline
		[ $# = 2 ] || node "peer-$3-$inline" env TASK="$3" COUNT="$bundles" INLINE=$inline
		peer=
		[ $# = 2 ] || peer="-n peer-$3-$inline/node.elf"
		: >none
		# shellcheck disable=SC2086
		"$simulator" -c 4000000000 -s none -o executed $peer atmega1284p \
			"plain-$2-$inline/node.elf" >log 2>&1
		sed -n 's/^cycles //p' executed
	done | awk -v title="$1" '{ cycles[NR] = $1 }
		END { printf "%-12s %8.3f s %8.3f\n", title, cycles[1] / 8e6, cycles[2] / cycles[1] }'
done
