#!/bin/sh
# Calls between an exclusive load and its store, in functions of their own or not, or in others around these: the tracer makes no
# exclusive store there, so that the program's does not fail for ever.
BOARDS=${BOARDS:-mps2-an385 mps2-an505}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

behaviour()
{
	patience=20
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/exclusive.c" source/main.c
	ok "it links" make_example plain
	emulate plain/firmware.elf plain.serial
	is "it ends" "$(cat plain.serial)" "all were stored"
	for mode in fast small table stream spans coverage paths; do
		export LITIFUT_MODE="$mode" LITIFUT_PORT="$port" LITIFUT_RING_KB=256
		case $mode in
		fast | small) export LITIFUT_MODE=counts LITIFUT_STUBS="$mode" ;;
		table | spans) export LITIFUT_CLOCK=systick:25000000 ;;
		esac
		ok "$mode: it links traced" traced $mode make_example $mode
		unset LITIFUT_MODE LITIFUT_PORT LITIFUT_RING_KB LITIFUT_STUBS LITIFUT_CLOCK
		emulate $mode/firmware.elf $mode.serial
		ok "$mode: it prints the same" computes_the_same $mode.serial
	done
	for mode in fast small table; do
		ok "$mode: each other site is counted as often as it is executed" \
			counts_equal_calls $mode/firmware.elf
	done
	"$BUILD/bin/litifut" info --skipped fast/firmware.elf >skipped
	is "the sites that are left" "$(sed -n 's/^0x.* exclusive in //p' skipped | sort -u | tr '\n' ' ')" \
		"add_apart add_turned add_within add_wrapped is_stored next "
}

for_boards behaviour
