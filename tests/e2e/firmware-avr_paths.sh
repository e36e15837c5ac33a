#!/bin/sh
# LITIFUT_MODE=paths of firmware for AVR: the blocks that its bits lead through are those that simavr
# executes, in order: in the same program without patches, under interrupts that interrupt each other,
# in a dump of the memory and while they are sent, with return addresses of two and of three bytes, and on
# a device without jmp and call; compact, from two buffers of 192 bytes, a little in each step, also where
# interrupts leave no time for it: then words are lost, and counted, and what is between them is right.
# Patterns that were mined in one run make another one shorter.
# What records keeps all registers and SREG. A program that changes tasks is left, and a line says so.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# paths RING_KB NAME SOURCE FLAGS...: with `settings'
paths()
{
	for each in LITIFUT_MODE=paths LITIFUT_RING_KB="$1" ${settings:-}; do
		export "${each?}"
	done
	shift
	avr "$@"
	paths_status=$?
	unset LITIFUT_MODE LITIFUT_RING_KB LITIFUT_PORT LITIFUT_SEND LITIFUT_COMPACT LITIFUT_EXCLUDE
	return $paths_status
}

# in_interrupts NAME RING_KB SOURCE FLAGS...: in a dump, under interrupts
in_interrupts()
{
	interrupts_of=$1
	interrupts_ring=$2
	shift 2
	ok "$interrupts_of: it links traced" paths "$interrupts_ring" "$interrupts_of" "$@"
	ok "$interrupts_of: blocks are those that are executed" \
		blocks_are_executed "$interrupts_of" traced memory --more 1
	ok "$interrupts_of: it prints the same" prints_the_same "$interrupts_of"
	ok "$interrupts_of: registers are kept" marks_keep_registers "$interrupts_of"
	ok "$interrupts_of: handlers were recorded" grep -q __vector_ "$interrupts_of.blocks"
}

quiet()
{
	ok "quiet: it links traced" paths 12 quiet avr_truth.c -Os -DQUIET -DROUNDS=6
	is "litifut info says so" "$("$BUILD/bin/litifut" info quiet.elf |
		sed -n 's/^  mode  *//p')" paths
	ok "quiet: blocks are those that the program without patches executes" \
		blocks_are_executed quiet plain memory --more 1
	ok "quiet: the last lines can be shown" sh -c "'$BUILD/bin/litifut-post' -q -f path --last 3 \
		quiet.memory quiet.elf | grep -q main"
}

# The end of a run in a ring that is too small: words say where the CPU was, and which calls were open.
overwritten()
{
	ok "overwritten: it links traced" paths 2 overwritten avr_truth.c -Os -DTIMED
	ok "overwritten: the end is there" \
		blocks_are_executed overwritten traced memory --tail 1500 --more 1
}

# The ring begins in a function that returns to a caller which is not known, and where one says which calls are open, a
# record has come, and no bit since then.
without_bits()
{
	ok "without bits: it links traced" paths 1 straight avr_straight.c -Os
	ok "without bits: the calls are found" blocks_are_executed straight traced memory --tail 150 --more 1
}

# The ring is sent while interrupts come.
by_the_line()
{
	settings=LITIFUT_PORT=usart
	ok "by the line: it links traced" paths 6 line avr_truth.c -Os -DTIMED -DSENDS -DSELDOM=1
	settings=
	ok "by the line: blocks are those that are executed" \
		blocks_are_executed line traced serial --more 1
}

# compact NAME FLAGS...: a ring of the size that it has for this
compact()
{
	settings="LITIFUT_PORT=usart LITIFUT_COMPACT=1 LITIFUT_EXCLUDE=idle"
	compact_name=$1
	shift
	ok "$compact_name: it links traced" paths '' "$compact_name" avr_storm.c -Os -I"$root/include" "$@"
	settings=
}

# bytes_of_ram NAME: all that the tracer has
bytes_of_ram()
{
	avr-nm -S "$1.elf" | sed -n 's/^\([0-9a-f]*\) \([0-9a-f]*\) [bBdD] litifut_.*/\2/p' |
		while read -r bytes; do echo $((0x$bytes)); done | awk '{ sum += $1 } END { print sum }'
}

# parts_are_executed NAME memory|serial: recording is switched off and on, also in interrupts.
parts_are_executed()
{
	in_order "$1" traced "$2" blocks || return
	cat "$1.words"
	grep -q 'recording was switched off [1-9][0-9]* times' "$1.words" &&
		python3 "$root/tests/oracle/firmware_paths.py" pieces "$1.watched" "$1.order" "$1.blocks" "$1.elf"
}

# Between the gaps blocks are those that are executed, and nearly all that are executed while it is on are there.
switched()
{
	ok "switched: it links traced" paths 12 switched avr_truth.c -Os -DTIMED -DROUNDS=5 -DSWITCHES=0
	is "switched: no line says that litifut_stop() is not there" "$(cat switched.log)" ""
	ok "switched: blocks are those that are executed while recording is on" \
		parts_are_executed switched memory
	ok "switched: it prints the same" prints_the_same switched
	settings=LITIFUT_PORT=usart
	ok "switched, by the line: it links traced" paths 6 line avr_truth.c -Os -DTIMED -DSENDS -DSELDOM=1 \
		-DSWITCHES=0
	settings=
	ok "switched, by the line: blocks are those that are executed while recording is on" \
		parts_are_executed line serial
	# bits that are not in the ring yet stay
	ok "switched on while it is on: it links traced" paths 12 on avr_truth.c -Os -DQUIET -DROUNDS=6 -DSTARTS
	ok "switched on while it is on: blocks are those that are executed" blocks_are_executed on traced memory --more 1
	for switched_more in -DQUIET -DROUNDS=60; do
		compact packed -DSWITCHES "$switched_more"
		ok "switched, compact, $switched_more: blocks are those that are executed while recording is on" \
			parts_are_executed packed serial
	done
}

# The cycles that a step takes, at most, without interrupts.
longest_step()
{
	avr-nm "$1.elf" | sed -n 's/ T litifut_send_some$//p' >"$1.steps"
	"$simulator" -t "$1.steps" "$device" "$1.elf" 2>/dev/null | awk 'NF == 5 { print $4 }'
}

# A pattern of one run shortens another one, in another program of the same functions.
patterns()
{
	compact other -DQUIET -DROUNDS=40
	ok "patterns: they are mined" "$BUILD/bin/litifut-post" mine -q -o mined steps.serial steps.elf
	blocks_are_executed other traced serial --more 1 >/dev/null 2>&1
	export LITIFUT_PATTERNS=mined
	compact patterns -DQUIET -DROUNDS=40
	unset LITIFUT_PATTERNS
	ok "patterns: blocks are those that are executed" \
		blocks_are_executed patterns traced serial --more 1
	ok "patterns: it is shorter" at_most "$(wc -c <patterns.serial)" $(($(wc -c <other.serial) - 50))
	ok "patterns: cycles of a step" at_most "$(longest_step patterns)" 2000
}

at_most()
{
	echo "$1, $2 at most"
	[ "$1" -gt 0 ] && [ "$1" -le "$2" ]
}

by_steps()
{
	compact steps -DQUIET
	ok "steps: blocks are those that are executed" blocks_are_executed steps traced serial --more 1
	ok "steps: bytes of RAM" at_most "$(bytes_of_ram steps)" 940
	ok "steps: cycles of a step" at_most "$(longest_step steps)" 2000
	compact calm -DROUNDS=250
	ok "calm: blocks are those that are executed" blocks_are_executed calm traced serial --more 1
	"$simulator" -u plain.serial "$device" plain-calm.elf 2>/dev/null
	is "calm: it prints the same" "$(grep -ao 'sum [0-9]*' calm.serial)" "$(cat plain.serial)"
}

storm()
{
	compact storm -DSTORM -DROUNDS=300
	blocks_are_executed storm traced serial >/dev/null 2>&1
	ok "storm: what was lost is counted" grep -q '[1-9][0-9]* branches found no room' storm.words
	ok "storm: between the gaps blocks are those that are executed" \
		python3 "$root/tests/oracle/firmware_paths.py" pieces storm.watched storm.order storm.blocks
}

# lost_with COUNT: sets lost_cycles, those that recording adds to the run, and lost_branches
lost_with()
{
	settings="LITIFUT_PORT=usart LITIFUT_SEND=call:done"
	paths 1 lost avr_lost.c -Os -DCOUNT="$1" || return
	settings=
	for lost_run in plain-lost lost; do
		: >none
		"$simulator" -s none -o lost.passed -u lost.serial "$device" $lost_run.elf >/dev/null 2>&1
		sed -n 's/^cycles //p' lost.passed
	done >lost.cycles
	lost_cycles=$(awk '{ more = $1 - more } END { print more }' lost.cycles)
	lost_branches=$("$BUILD/bin/litifut-post" -f blocks -o lost.blocks lost.serial lost.elf 2>&1 |
		sed -n 's/.* \([0-9]*\) branches found no room.*/\1/p')
	echo "$lost_cycles cycles, $lost_branches branches"
}

# Once the ring is full a branch is counted, and nothing else is done.
lost()
{
	ok "lost: it links traced" lost_with 1000
	lost_before=$lost_cycles
	lost_first=$lost_branches
	ok "lost: with more branches" lost_with 11000
	is "lost: each one is counted" $((lost_branches - lost_first)) 10000
	ok "lost: cycles for a branch" at_most $(((lost_cycles - lost_before) / 10000)) 110
}

# A kernel has a stack for each task.
tasks()
{
	cat >tasks.c <<-'END'
		#include <stdint.h>
		uint16_t saved[2];
		__attribute__((naked, noinline)) void yield(void)
		{
			__asm__ volatile("lds r28, saved\n\tlds r29, saved + 1\n\tout 0x3d, r28\n\t"
					 "out 0x3e, r29\n\tret");
		}
		int main(void)
		{
			for (;;)
				yield();
		}
	END
	LITIFUT_MODE=paths "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os tasks.c -o tasks.elf \
		>tasks.log 2>&1
	ok "tasks: it is left untraced, and a line says so" grep -q \
		'untraced: LITIFUT_MODE=paths: the program changes tasks' tasks.log

	# a kernel in C, whose function is given where the other stack pointer is, and loads it through Y
	sed 's/"lds r28.*/"movw r28, r24\\n\\tld r16, Y\\n\\tldd r17, Y+1\\n\\tout 0x3d, r16\\n\\t"/
		s/0x3e, r29/0x3e, r17/; s/yield(void)/yield(uint16_t *to)/; s/yield();/yield(saved);/' tasks.c >given.c
	LITIFUT_MODE=paths "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os given.c -o given.elf \
		>given.log 2>&1
	ok "tasks: a stack pointer that is loaded through Y as well" grep -q \
		'untraced: LITIFUT_MODE=paths: the program changes tasks' given.log

	# behind one way out of a function, which restores r28, another one gives the frame back
	cat >frames.c <<-'END'
		#include <stdint.h>
		__attribute__((naked, noinline)) void two_ways_out(uint8_t leave)
		{
			__asm__ volatile(
				"push r28\n\tpush r29\n\tin r28, 0x3d\n\tin r29, 0x3e\n\ttst r24\n\t"
				"brne 1f\n\tpop r29\n\tpop r28\n\tret\n1:\tsbiw r28, 4\n\t"
				"in r0, 0x3f\n\tcli\n\tout 0x3e, r29\n\tout 0x3f, r0\n\tout 0x3d, r28\n\t"
				"adiw r28, 4\n\tin r0, 0x3f\n\tcli\n\tout 0x3e, r29\n\tout 0x3f, r0\n\t"
				"out 0x3d, r28\n\tpop r29\n\tpop r28\n\tret");
		}
		int main(void)
		{
			for (;;)
				two_ways_out(1);
		}
	END
	LITIFUT_MODE=paths "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os frames.c -o frames.elf \
		>frames.log 2>&1
	is "frames: two ways out of a function are not two tasks" "$("$BUILD/bin/litifut" info frames.elf |
		sed -n 's/^  mode  *//p')" paths
}

behaviour()
{
	case $device in
	attiny*)
		# without jmp and call, as that one, which has too little memory
		device=atmega8
		in_interrupts small 1 avr_tiny.c -Os -DROUNDS=4
		;;
	atmega1284p)
		quiet
		in_interrupts size 12 avr_truth.c -Os -DTIMED -DROUNDS=5
		in_interrupts speed 12 avr_truth.c -O2 -DTIMED -DROUNDS=5
		overwritten
		without_bits
		by_the_line
		by_steps
		patterns
		storm
		lost
		switched
		tasks
		;;
	atmega2560)
		in_interrupts large 4 avr_truth.c -Os -DLARGE -DTIMED -DROUNDS=3
		lost
		compact calm -DROUNDS=300
		ok "calm: blocks are those that are executed" blocks_are_executed calm traced serial --more 1
		;;
	*) in_interrupts prologues 1 avr_truth.c -Os -mcall-prologues -DTIMED -DROUNDS=1 ;;
	esac
}

for_devices behaviour
