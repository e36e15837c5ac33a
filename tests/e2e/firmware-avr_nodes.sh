#!/bin/sh
# Two sensor nodes joined by a serial link, simulated together: each call site of the traced one is
# counted as often as it is executed, and all bundles arrive and are answered, also when bytes are lost.
# Flags of its branches are those of what it executes, and so is each block, in order. Times show which functions an inefficient version spends them in.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

target=atmega1284p
device=$target
folder=$BUILD/tests/e2e/$script
mkdir -p "$folder"

# tasks KINDS TASK
tasks()
{
	KINDS="plain $1" BUILD=$BUILD OUT=$folder/$2 "$root/bench/avr_tasks.sh" 8 "$2" >"$folder/table" &&
		cat "$folder/table" && [ "$(grep -c ' %' "$folder/table")" = 1 ]
}

with_losses()
{
	cd "$folder/echo" && : >none &&
		"$BUILD/tests/avr" -s none -o lossy.executed -u lossy.serial -l 400:3 -j 4711 \
			-n plain-answer/node.elf atmega1284p plain-echo/node.elf &&
		cat lossy.serial lossy.executed && grep -q 'result 8$' lossy.serial &&
		[ "$(sed -n 's/cycles //p' lossy.executed)" -gt $((3 * $(cat plain-echo/cycles) / 2)) ]
}

# two_nodes MODE: the one that sends is traced. Goes to their folder.
two_nodes()
{
	mkdir -p "$folder/$1" && cd "$folder/$1" || return
	for kind in send receive; do
		litifut="$BUILD/bin/litifut build"
		[ $kind = send ] || litifut=
		LITIFUT_MODE=$1 LITIFUT_RING_KB=12 $litifut make -s -C "$root/examples/node" \
			OUT="$PWD/objects-$kind" ELF="$PWD/$kind.elf" TASK=$kind COUNT=8 >log 2>&1 || {
			cat log
			return 1
		}
	done
	simulated="-c 400000000 -n receive.elf"
}

# Both from the serial line that joins the nodes: the time changes nothing.
flags_of_node()
{
	# shellcheck disable=SC2086
	two_nodes coverage && "$simulator" $simulated -m send.memory "$device" send.elf &&
		flags_are_executed send send.memory 250
}

blocks_of_node()
{
	two_nodes paths && blocks_are_executed send traced memory --more 1 &&
		[ "$(wc -l <send.blocks)" -gt 20000 ] && marks_keep_registers send
}

allocation_is_first()
{
	"$BUILD/bin/litifut-post" -q -f report "$folder/slow/table-slow/memory" \
		"$folder/slow/table-slow/node.elf" | grep -v '^#' | sed -n 2,4p >"$folder/first"
	cat "$folder/first"
	[ "$(grep -c ' memory_' "$folder/first")" = 3 ]
}

# has_200_functions TASK
has_200_functions()
{
	avr-nm "$folder/$1/objects-$1"/*.o | awk '$2 ~ /[tT]/ { print $3 }' | sort -u >"$folder/own"
	avr-nm "$folder/$1/plain-$1/node.elf" | awk '$2 ~ /[tT]/ { print $3 }' | sort -u |
		comm -12 - "$folder/own" >"$folder/linked"
	wc -l <"$folder/linked"
	[ "$(wc -l <"$folder/linked")" -ge 200 ]
}

# Eight samples are sent to a node that answers each of them.
answers_are_taken()
{
	mkdir -p "$folder/listen" && cd "$folder/listen" &&
		make -s -C "$root/examples/node" OUT="$PWD/answer" TASK=answer COUNT=8 &&
		"$BUILD/bin/litifut" build -q make -s -C "$root/examples/node" OUT="$PWD/sample" TASK=sample LISTEN=yes \
			INLINE=no COUNT=8 &&
		"$simulator" -c 400000000 -n answer/node.elf -m memory -u serial "$device" sample/node.elf &&
		"$BUILD/bin/litifut-post" -q -f edges memory sample/node.elf | tee edges | grep 'endpoint' &&
		grep -q '^  *8  *endpoint_deliver -> swallow$' edges && grep -q 'result 8$' serial
}

ok "bundles one way" tasks "fast small" send
ok "by a program of 200 functions and more" has_200_functions send
ok "samples by a node that listens" tasks fast sample
ok "by a program of 200 functions and more (samples)" has_200_functions sample
ok "it takes the answers that come between its samples" answers_are_taken
ok "bundles that are echoed" tasks fast echo
ok "bundles are sent again when bytes are lost" with_losses
ok "flags of branches are those of what is executed" flags_of_node
ok "blocks are those that are executed, in order" blocks_of_node
ok "bundles whose memory grows" tasks "fast table" slow
ok "where most time goes is the allocation" allocation_is_first
echo "1..$test_count"
[ "$failed_count" = 0 ]
