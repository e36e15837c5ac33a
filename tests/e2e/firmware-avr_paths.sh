#!/bin/sh
# LITIFUT_MODE=paths of firmware for AVR: the blocks that its bits lead through are those that simavr
# executes, in order: in the same program without patches, under interrupts that interrupt each other,
# in a dump of the memory and while they are sent, with return addresses of two and of three bytes, and on
# a device without jmp and call.
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
	unset LITIFUT_MODE LITIFUT_RING_KB LITIFUT_PORT LITIFUT_SEND
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

# The ring is sent while interrupts come.
by_the_line()
{
	settings=LITIFUT_PORT=usart
	ok "by the line: it links traced" paths 6 line avr_truth.c -Os -DTIMED -DSENDS -DSELDOM=1
	settings=
	ok "by the line: blocks are those that are executed" \
		blocks_are_executed line traced serial --more 1
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
	LITIFUT_MODE=paths "$BUILD/bin/litifut" build avr-gcc -mmcu="$device" -Os tasks.c -o tasks.elf \
		>tasks.log 2>&1
	ok "tasks: it is left untraced, and a line says so" grep -q \
		'untraced: LITIFUT_MODE=paths: the program changes tasks' tasks.log
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
		by_the_line
		tasks
		;;
	atmega2560) in_interrupts large 4 avr_truth.c -Os -DLARGE -DTIMED -DROUNDS=3 ;;
	*) in_interrupts prologues 1 avr_truth.c -Os -mcall-prologues -DTIMED -DROUNDS=1 ;;
	esac
}

for_devices behaviour
