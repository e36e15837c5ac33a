#!/bin/sh
# LITIFUT_MODE=coverage of firmware for AVR: flags of branches, skip instructions and blocks are set
# if and only if simavr executes them in the same program without patches, with interrupts that
# interrupt each other, in a dump and sent by the line; the code that sets them keeps all registers
# and SREG. lcov has the lines.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# paths_are_numbered NAME: the numbers of the paths give the blocks that were executed, an
# independent look at the graph
paths_are_numbered()
{
	python3 "$root/tests/oracle/firmware_paths.py" plain "$1.elf" "$1.watched" &&
		cut -d ' ' -f 1 "$1.watched" >"$1.starts" || return
	# shellcheck disable=SC2086
	"$simulator" $simulated -s "$1.starts" -o "$1.passed" -r "$1.order" "$device" "$1.plain" >&2 &&
		"$BUILD/bin/litifut-post" path-sizes --top 1 "$1.elf" "$1.order" 2>&1 | tee /dev/stderr |
		grep -q ' paths, whose numbers give what was executed$'
}

# in_interrupts WAY: flags are sent while the program runs, at the ticks of a timer or by the interrupt
# of the transmitter
in_interrupts()
{
	export LITIFUT_MODE=coverage LITIFUT_PORT=usart LITIFUT_SEND="tick:1:__vector_18"
	[ "$1" = ticks ] || LITIFUT_PORT=usart:0xc0:21
	ok "$1: it links traced" avr "$1" avr_truth.c -Os -DROUNDS=200 -DLINE=5
	unset LITIFUT_MODE LITIFUT_PORT LITIFUT_SEND
	ok "$1: it runs" "$simulator" -u "$1.serial" -m "$1.memory" "$device" "$1.elf"
	ok "$1: flags are those of what is executed" flags_are_executed "$1" "$1.memory" 100
	"$BUILD/bin/litifut-post" -q -f branches "$1.serial" "$1.elf" >"$1.sent" 2>"$1.words"
	"$BUILD/bin/litifut-post" -q -f branches "$1.memory" "$1.elf" >"$1.kept"
	ok "$1: the last sending has all" diff "$1.sent" "$1.kept"
}

# A device with 8 KB and a serial line: what leads to the sender is a jump of 2 bytes.
by_small_calls()
{
	device=atmega8
	avr-gcc -mmcu=$device -Os -c "$root/tests/firmware/avr_putc.c" -o putc.o
	export LITIFUT_MODE=coverage LITIFUT_PORT="$PWD/putc.o"
	ok "small: it links traced" avr small avr_tiny.c -Os
	unset LITIFUT_MODE LITIFUT_PORT
	ok "small: it runs" "$simulator" -u small.serial "$device" small.elf
	ok "small: flags that were sent are those of what is executed" \
		flags_are_executed small small.serial 8 exit
}

# try LEAST NAME SOURCE FLAGS...
try()
{
	least=$1
	shift
	export LITIFUT_MODE=coverage
	case $device in
	attiny*) ;;
	*) export LITIFUT_PORT=usart ;;
	esac
	ok "it links traced ($1)" avr "$@"
	unset LITIFUT_MODE LITIFUT_PORT
	is "litifut info says so ($1)" "$("$BUILD/bin/litifut" info "$1.elf" |
		sed -n 's/^  mode  *//p')" coverage
	# shellcheck disable=SC2086
	ok "it runs ($1)" "$simulator" $simulated -u "$1.serial" -m "$1.memory" "$device" "$1.elf"
	ok "flags are those of what is executed ($1)" flags_are_executed "$1" "$1.memory" "$least"
	ok "registers are kept ($1)" marks_keep_registers "$1"
	case $device in
	attiny*) ;;
	*)
		ok "the same by the line ($1)" flags_are_executed "$1" "$1.serial" "$least"
		ok "it prints the same ($1)" prints_the_same "$1"
		;;
	esac
}

behaviour()
{
	case $device in
	attiny*)
		try 10 tiny avr_tiny.c -Os
		by_small_calls
		return
		;;
	atmega1284p)
		try 100 size avr_truth.c -Os -gdwarf-2
		"$BUILD/bin/litifut-post" -q -f lcov -o lines.info size.memory size.elf
		ok "lcov has lines" sh -c "sed -n '/^SF:.*avr_truth.c/,/^end/p' lines.info |
			grep -q '^DA:[0-9]*,1'"
		ok "paths of what is executed have numbers" paths_are_numbered size
		ok "handlers of interrupts were entered" sh -c "'$BUILD/bin/litifut-post' -q -f coverage \
			size.memory size.elf | grep -q 'yes.*__vector_'"
		try 100 speed avr_truth.c -O2
		in_interrupts ticks
		in_interrupts transmitter
		try 1 eeprom avr_eeprom.c -Os
		is "writes that must follow each other do" "$(text_of eeprom.serial)" yyyyyyyy
		;;
	atmega2560) try 100 large avr_truth.c -Os -DLARGE ;;
	*) try 100 prologues avr_truth.c -Os -mcall-prologues ;;
	esac
}

for_devices behaviour
