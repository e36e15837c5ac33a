#!/bin/sh
# LITIFUT_MODE=units of firmware for AVR: tasks and events start and end as simavr executes them: in the same
# program without patches, under interrupts that interrupt each other, in a dump of the memory, at the end of a
# ring that is too small and while it is sent, with return addresses of two and of three bytes, and on a device
# without jmp and call. What records keeps all registers and SREG.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

names='fibonacci,apply,by_*,tail_of,add,subtract,scaled,compare,give_up,tick_*,main'

# units RING_KB NAME SOURCE FLAGS...: with `settings'
units()
{
	for each in LITIFUT_MODE=units LITIFUT_RING_KB="$1" ${settings:-}; do
		export "${each?}"
	done
	shift
	LITIFUT_UNITS=$names avr "$@"
	units_status=$?
	unset LITIFUT_MODE LITIFUT_RING_KB LITIFUT_PORT LITIFUT_SEND
	return $units_status
}

# in_interrupts NAME RING_KB SOURCE FLAGS...: in a dump, under interrupts
in_interrupts()
{
	interrupts_of=$1
	interrupts_ring=$2
	shift 2
	ok "$interrupts_of: it links traced" units "$interrupts_ring" "$interrupts_of" "$@"
	ok "$interrupts_of: units are those that are executed" \
		units_are_executed "$interrupts_of" traced memory --more 2
	ok "$interrupts_of: it prints the same" prints_the_same "$interrupts_of"
	ok "$interrupts_of: registers are kept" marks_keep_registers "$interrupts_of"
	ok "$interrupts_of: handlers were recorded" grep -q '<__vector_.* start' "$interrupts_of.units"
}

quiet()
{
	ok "quiet: it links traced" units 12 quiet avr_truth.c -Os -DQUIET -DROUNDS=6
	is "litifut info says so" "$("$BUILD/bin/litifut" info quiet.elf |
		sed -n 's/^  mode  *//p')" units
	export BUILD
	ok "quiet: units are those that the program without patches executes" \
		units_are_executed quiet plain memory --more 2
}

behaviour()
{
	case $device in
	attiny*)
		# without jmp and call, as that one, which has too little memory
		device=atmega8
		names='*'
		in_interrupts small 1 avr_tiny.c -Os -DROUNDS=4
		;;
	atmega1284p)
		quiet
		in_interrupts size 12 avr_truth.c -Os -DTIMED -DROUNDS=20
		in_interrupts speed 12 avr_truth.c -O2 -DTIMED -DROUNDS=20
		ok "overwritten: it links traced" units 2 overwritten avr_truth.c -Os -DTIMED -DROUNDS=20
		ok "overwritten: the end is there" \
			units_are_executed overwritten traced memory --tail 100 --more 2
		settings=LITIFUT_PORT=usart
		ok "by the line: it links traced" units 6 line avr_truth.c -Os -DTIMED -DSENDS -DSELDOM=1
		ok "by the line: units are those that are executed" \
			units_are_executed line traced serial --more 2
		settings=
		;;
	atmega2560) in_interrupts large 4 avr_truth.c -Os -DLARGE -DTIMED -DROUNDS=3 ;;
	*) in_interrupts prologues 1 avr_truth.c -Os -mcall-prologues -DTIMED -DROUNDS=2 ;;
	esac
}

for_devices behaviour
