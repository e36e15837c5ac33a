#!/bin/sh
# Calls keep all registers and sp, returns keep the flags as well, in each mode that records calls: code in
# assembly has a value in each register at a direct call, calls through a pointer and a tail call.
BOARDS=${BOARDS:-netduino2 microbit ${LONG:+mps2-an385 mps2-an505}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

behaviour()
{
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/registers.c" source/main.c
	make_example plain >/dev/null
	traced_ways='direct|by_pointer|at_label|by_tail|passes_on'
	patience=10
	emulate plain/firmware.elf plain.serial
	is "untraced" "$(cat plain.serial)" "0 wrong"
	for way in fast small table spans stream; do
		case $way in
		fast | small) export LITIFUT_STUBS=$way LITIFUT_MODE=counts ;;
		stream) export LITIFUT_MODE=stream LITIFUT_RING_KB=32 ;;
		*) export LITIFUT_MODE=$way LITIFUT_CLOCK=systick LITIFUT_RING_KB=32 ;;
		esac
		[ $way != table ] || unset LITIFUT_RING_KB
		[ "$board" != microbit ] || [ -z "${LITIFUT_RING_KB:-}" ] || LITIFUT_RING_KB=2
		ok "$way: it links traced" traced $way make_example $way
		unset LITIFUT_STUBS LITIFUT_MODE LITIFUT_CLOCK LITIFUT_RING_KB
		"$BUILD/bin/litifut" info --skipped $way/firmware.elf >$way.skipped
		ok "$way: these calls are recorded" sh -c \
			"! grep -E ' in ($traced_ways)' $way.skipped"
		emulate $way/firmware.elf $way.serial
		is "$way: registers are kept" "$(text_of $way.serial)" "0 wrong"
	done
}

for_boards behaviour
