#!/bin/sh
# LITIFUT_MODE=stream of a firmware: calls without returns and times, in the order in which QEMU's plugin has
# seen them, while they are sent, with interrupts that interrupt each other, two tasks and
# longjmp(); firmware-real.sh has exceptions. A small ring says what it has lost; one that outlasts a reset keeps the last calls.
BOARDS=${BOARDS:-mps2-an385 microbit mps2-an505 netduino2}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# link_stream KB FOLDER ARGUMENTS...
link_stream()
{
	export LITIFUT_MODE=stream LITIFUT_PORT="$port" LITIFUT_RING_KB="$1"
	shift
	traced "$1" make_example "$@"
	link_status=$?
	unset LITIFUT_MODE LITIFUT_PORT LITIFUT_RING_KB
	return $link_status
}

# nothing_lost ELF
nothing_lost()
{
	cat "$1.words"
	grep -q ' 0 lost,.* 0 unresolved' "$1.words" && [ "$(wc -l <"$1.words")" = 1 ]
}

# Interrupts come at each possible moment, also while events are sent.
in_interrupts()
{
	case $board in
	netduino2) slow=80000 ;;
	*) slow=16400 ;;
	esac
	sed 's/\<400\>/'$slow'/; s/\<501\>/8009/; s/\<3000\>/600/
		s/^		through(i);/		through(i), litifut_send ? litifut_send() : (void)0;/
		s/^#include "board.h"/&\n#include <litifut\/firmware.h>/' \
		"$root/tests/firmware/nested.c" >source/main.c
	cp "$root/tests/firmware/startup.c" source
	ok "interrupts: it links traced" link_stream 4 nested EXTRA_CFLAGS="-I$root/include"
	ok "interrupts: calls are those that were executed, in order" calls_in_order nested/firmware.elf
	ok "interrupts: nothing is lost" nothing_lost nested/firmware.elf
	ok "interrupts: there were many in interrupts" grep -q many nested/firmware.elf.serial
}

in_tasks()
{
	cp "$root/tests/firmware/tasks.c" source/main.c
	cp "$root/tests/firmware/pendsv.h" source
	cp "$root/tests/firmware/startup.c" source
	ok "tasks: it links traced" link_stream 64 tasks EXTRA_CFLAGS="-DTICK=800 -DROUNDS=12 -DJUMPS=12"
	ok "tasks: calls are those that were executed, in order" calls_in_order tasks/firmware.elf
	ok "tasks: they were switched" grep -q 'm$' tasks/firmware.elf.serial
}

# The first calls are there, and the others are counted.
in_a_small_ring()
{
	cp "$root/tests/firmware/calls.c" source/main.c
	cp "$root/examples/firmware/startup.c" source
	ok "a ring of 1 KB: it links traced" link_stream 1 small EXTRA_CFLAGS="-DDIRECT=300"
	ok "a ring of 1 KB: its calls are the first ones" calls_in_order small/firmware.elf --first
	# those of the start-up code, and that which sends
	sed -n 's/.*: \([0-9]*\) events found no room.*/\1/p' small/firmware.elf.words >lost
	is "a ring of 1 KB: it has 128 events" $(($(wc -l <small/firmware.elf.tsv) - 1)) 128
	ok "a ring of 1 KB: the others are counted" test "$(cat lost)" -ge 173 -a "$(cat lost)" -le 190
}

# The program fails, and the last run sends what those before have recorded.
over_resets()
{
	cp "$root/tests/firmware/restarts.c" source/main.c
	cp "$root/tests/firmware/startup.c" source
	export LITIFUT_RAM=top
	ok "resets: it links traced" link_stream 4 kept EXTRA_CFLAGS="-I$root/include -DRESET_IN_LEAF=1"
	unset LITIFUT_RAM
	ok "resets: calls are those of all runs, in order" calls_in_order kept/firmware.elf
	ok "resets: a line says how often it has restarted" grep -q 'has restarted 2 times' \
		kept/firmware.elf.words
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	ok "it links traced" link_stream 8 stream
	is "litifut info says so" "$("$BUILD/bin/litifut" info stream/firmware.elf |
		sed -n 's/^  mode  *//p')" stream
	ok "calls are those that were executed, in order" calls_in_order stream/firmware.elf
	ok "nothing is lost" nothing_lost stream/firmware.elf
	make_example plain >/dev/null
	emulate plain/firmware.elf plain.serial
	ok "it prints the same" test -s plain.serial -a \
		"$(text_of plain.serial)" = "$(text_of stream/firmware.elf.serial)"
	case $board in
	mps2-an385)
		in_interrupts
		in_tasks
		in_a_small_ring
		over_resets
		;;
	microbit) in_interrupts ;;
	esac
}

for_boards behaviour
