#!/bin/sh
# LITIFUT_MODE=balllarus of firmware for AVR: the blocks that its numbers of paths stand for are those that simavr executes in
# each activation of each function: in the same program without patches, under interrupts that interrupt each other, in a dump
# of the memory and while they are sent, with return addresses of two and of three bytes, and on a device without jmp and
# call. What records keeps all registers and SREG. What it costs beside LITIFUT_MODE=paths.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# mode MODE RING_KB NAME SOURCE FLAGS...
mode()
{
	export LITIFUT_MODE="$1" LITIFUT_RING_KB="$2" LITIFUT_PORT="$port"
	shift 2
	avr "$@"
	mode_status=$?
	unset LITIFUT_MODE LITIFUT_RING_KB LITIFUT_PORT
	return $mode_status
}

# in_interrupts NAME RING_KB SOURCE FLAGS...: in a dump
in_interrupts()
{
	interrupts_of=$1
	interrupts_ring=$2
	shift 2
	ok "$interrupts_of: it links traced" mode balllarus "$interrupts_ring" "$interrupts_of" "$@"
	ok "$interrupts_of: paths are those that are executed" \
		ids_are_executed "$interrupts_of" traced memory --more 1 --late 40
	ok "$interrupts_of: it prints the same" prints_the_same "$interrupts_of"
	ok "$interrupts_of: registers are kept" marks_keep_registers "$interrupts_of"
	ok "$interrupts_of: handlers were recorded" grep -q __vector_ "$interrupts_of.ids"
}

quiet()
{
	ok "quiet: it links traced" mode balllarus 12 quiet avr_truth.c -Os -DQUIET -DROUNDS=6
	is "litifut info says so" "$("$BUILD/bin/litifut" info quiet.elf |
		sed -n 's/^  mode  *//p')" balllarus
	ok "quiet: paths are those that the program without patches executes" \
		ids_are_executed quiet plain memory --more 1
}

by_the_line()
{
	port=usart
	ok "by the line: it links traced" mode balllarus 6 line avr_truth.c -Os -DTIMED -DSENDS -DSELDOM=1
	port=
	ok "by the line: paths are those that are executed" \
		ids_are_executed line traced serial --more 1 --late 40
}

# cycles NAME: of a run
cycles()
{
	: >none
	"$simulator" -s none -o passed "$device" "$1.elf" >/dev/null 2>&1
	sed -n 's/^cycles //p' passed
}

# What a branch costs: the program without interrupts. Figures are printed, those of balllarus are limited.
costs()
{
	mode paths 12 bits avr_truth.c -Os -DQUIET -DROUNDS=6
	in_order bits plain memory blocks
	costs_plain=$(cycles plain-quiet)
	for costs_of in quiet bits; do
		costs_branches=$(python3 "$root/tests/oracle/firmware_numbers.py" branches $costs_of.elf \
			$costs_of.watched $costs_of.order)
		costs_more=$(($(cycles $costs_of) - costs_plain))
		costs_stubs=$(avr-nm -S $costs_of.elf | sed -n 's/^[0-9a-f]* \([0-9a-f]*\) . litifut_stubs$/\1/p')
		echo "# $device: $costs_of: $costs_branches branches, $costs_plain cycles and $costs_more more," \
			"$((0x$costs_stubs)) bytes of code"
		[ $costs_of = quiet ] && costs_each=$((costs_more / costs_branches))
	done
	echo "# $device: quiet: $(($(wc -l <quiet.ids) - 1)) words"
	ok "quiet: cycles more a branch, at most 250" [ "$costs_each" -gt 0 -a "$costs_each" -le 250 ]
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
	LITIFUT_MODE=balllarus "$BUILD/bin/litifut" build avr-gcc -mmcu="$device" -Os tasks.c -o tasks.elf \
		>tasks.log 2>&1
	ok "tasks: it is left untraced, and a line says so" grep -q \
		'untraced: LITIFUT_MODE=balllarus: the program changes tasks' tasks.log
}

behaviour()
{
	port=
	case $device in
	attiny*)
		# without jmp and call, as that one, which has too little memory
		device=atmega8
		in_interrupts small 1 avr_tiny.c -Os -DROUNDS=2
		;;
	atmega1284p)
		quiet
		costs
		in_interrupts size 12 avr_truth.c -Os -DTIMED -DROUNDS=5
		in_interrupts speed 12 avr_truth.c -O2 -DTIMED -DROUNDS=5
		by_the_line
		tasks
		;;
	atmega2560) in_interrupts large 4 avr_truth.c -Os -DLARGE -DTIMED -DROUNDS=3 ;;
	*) in_interrupts prologues 2 avr_truth.c -Os -mcall-prologues -DTIMED -DROUNDS=1 ;;
	esac
}

for_devices behaviour
