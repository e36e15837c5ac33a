#!/bin/sh
# Calls through a register and tail calls, of 2 bytes, that no code beside them makes room for: all of them are
# recorded, also in interrupts, as often and in the order in which QEMU executes them, in each mode that records calls.
BOARDS=${BOARDS:-microbit mps2-an385 ${LONG:+mps2-an505}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

forms='past|label|behind|small'
tails='jumps|perhaps|through|even'

behaviour()
{
	# code of v6-M in any case, and on the board with a CPU that has more of v8-M Baseline
	cpu=-mcpu=cortex-m0
	[ "$board" != mps2-an505 ] || cpu=-mcpu=cortex-m23
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/stones.c" source/main.c
	ok "it links" make_example plain EXTRA_CFLAGS="$cpu"
	emulate plain/firmware.elf plain.serial
	ok "it works" grep -q 'many interrupts' plain.serial
	ways='fast small table'
	[ "$board" = microbit ] || ways="$ways spans stream" # the other has no room for all events
	for way in $ways; do
		case $way in
		fast | small) export LITIFUT_STUBS="$way" LITIFUT_MODE=counts ;;
		table) export LITIFUT_MODE=table LITIFUT_CLOCK=systick ;;
		*) export LITIFUT_MODE="$way" LITIFUT_CLOCK=systick LITIFUT_RING_KB=1024 ;;
		esac
		export LITIFUT_PORT="$port"
		ok "$way: it links traced" traced "$way" make_example "$way" EXTRA_CFLAGS="$cpu"
		unset LITIFUT_STUBS LITIFUT_MODE LITIFUT_CLOCK LITIFUT_RING_KB LITIFUT_PORT
		"$BUILD/bin/litifut" info --sites "$way/firmware.elf" >"$way.sites"
		is "$way: calls through registers are recorded" \
			"$(grep -Ec " indirect .* in ($forms)$" "$way.sites") $(grep -Ec " indirect .*branch-target in ($forms)$" "$way.sites")" "4 0"
		is "$way: tail calls are recorded" \
			"$(grep -Ec " tail(-indirect)? .* in ($tails)$" "$way.sites") $(grep -Ec "branch-target in ($tails|__aeabi_u?idivmod)$" "$way.sites")" "4 0"
		case $way in
		stream) ok "$way: calls are those that are executed, in order" calls_in_order "$way/firmware.elf" ;;
		*) ok "$way: each site is counted as often as it is executed" counts_equal_calls "$way/firmware.elf" ;;
		esac
		emulate "$way/firmware.elf" "$way.serial"
		ok "$way: it computes the same" computes_the_same "$way.serial"
	done
}

for_boards behaviour
