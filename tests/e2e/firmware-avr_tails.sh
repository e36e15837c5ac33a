#!/bin/sh
# Tail calls through pointers on AVR: those out of tables in the memory and in the flash are traced,
# in functions with a switch as well; switches, computed gotos and returns through Z are not, and a
# jump of which that is not known is listed. In each mode that records calls the program prints the
# same, each call is counted, and a call keeps all registers.
DEVICES=${DEVICES:-atmega1284p atmega2560 attiny85}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

traced="behind_switch by_constant by_entry by_flash by_pointer by_saved by_single by_variable"

# jumps_of ELF REASON: the functions with a jump through Z that is listed so
jumps_of()
{
	"$BUILD/bin/litifut" info --sites "$1" | awk -v reason="$2" '$2 == "tail-indirect" && $5 == reason { print $7 }' |
		sort | paste -s -d ' '
}

# try fast|small|MODE FLAGS...
try()
{
	way=$1
	shift
	what="$way, $*"
	export LITIFUT_PORT=usart LITIFUT_CLOCK=timer1 LITIFUT_RING_KB=5
	[ "$device" != attiny85 ] || unset LITIFUT_PORT
	case $way in
	fast | small) export LITIFUT_MODE=counts LITIFUT_STUBS="$way" ;;
	*) export LITIFUT_MODE="$way" ;;
	esac
	ok "it links traced ($what)" avr tails avr_tails.c "$@"
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_STUBS LITIFUT_PORT LITIFUT_RING_KB
	is "tail calls through pointers are traced ($what)" "$(jumps_of tails.elf patched)" "$traced"
	is "each jump is known ($what)" "$(jumps_of tails.elf perhaps-a-switch)" ""
	events=
	case $way in spans | stream) events=spans ;; esac
	# shellcheck disable=SC2086
	ok "each call is recorded ($what)" counts_equal_calls tails $events
	[ "$way" = spans ] || events=
	# shellcheck disable=SC2086
	ok "a call keeps all registers ($what)" registers_are_kept tails $events
	[ "$device" = attiny85 ] || ok "it prints the same ($what)" prints_the_same tails
}

behaviour()
{
	try fast -Os
	try small -O2
	if [ "$device" != attiny85 ]; then
		try table -Os
		try spans -O2
		try stream -Os
	fi
	ok "it links traced (a goto and a call)" avr both avr_tails.c -Os -DGOTO_AND_CALL
	is "a jump through a pointer beside a computed goto is not known" "$(jumps_of both.elf perhaps-a-switch)" behind_label
	is "the others are" "$(jumps_of both.elf patched)" "$traced"
	ok "it is listed why" sh -c '"$BUILD/bin/litifut" info --skipped both.elf | grep -q "tail-indirect .* perhaps-a-switch in behind_label"'
	ok "each call is counted (a goto and a call)" counts_equal_calls both
	[ "$device" != attiny85 ] || return
	export LITIFUT_MODE=table LITIFUT_CLOCK=timer1
	ok "it links traced (a jump with a byte on the stack)" avr bits avr_tails.c -Os -DBITS
	unset LITIFUT_MODE LITIFUT_CLOCK
	ok "each call is counted (a jump with a byte on the stack)" counts_equal_calls bits
	ok "it prints the same (a jump with a byte on the stack)" prints_the_same bits
	for mode in counts table spans stream; do
		export LITIFUT_MODE="$mode" LITIFUT_CLOCK=timer1
		ok "it links traced (registers, $mode)" avr pointers avr_pointers.c -Os -DTAIL
		unset LITIFUT_MODE LITIFUT_CLOCK
		is "the tail call is traced ($mode)" "$(jumps_of pointers.elf patched)" leap
		"$simulator" -u pointers.serial -m pointers.memory "$device" pointers.elf >&2
		ok "it keeps all registers ($mode)" prints_the_same pointers
	done
	is "that many calls were looked at" "$(wc -l <plain-pointers.serial)" 60
}

for_devices behaviour
