#!/bin/sh
# Loads of constants from beside the code that have to move: ldrd and vldr do the same where they
# stand then, before calls through a register and at the begin of blocks, in all modes.
BOARDS=${BOARDS:-mps2-an385 mps2-an386 ${LONG:+mps2-an500 mps2-an505}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# moved ELF FUNCTION...: none of them has a load of a pair or of a floating-point register any more
moved()
{
	moved_elf=$1
	shift
	for name; do
		arm-none-eabi-objdump -d "--disassemble=$name" "$moved_elf" |
			awk '$3 ~ /^(ldrd|vldr)$/ { print } $3 ~ /blx|pop/ { found = 1 } END { exit !found }' >still ||
			return 1
		cat still
		[ ! -s still ] || return 1
	done
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/loads.c" source/main.c
	calls="load_pair_call load_high_pair_call"
	blocks=load_pair_block
	cpu=
	right=15
	case $board in
	mps2-an386 | mps2-an500)
		cpu="-mfloat-abi=hard -mfpu=fpv4-sp-d16"
		calls="$calls load_single_call load_odd_single_call load_double_call"
		blocks="$blocks load_single_block"
		right=23
		# the coprocessor is off after a reset
		sed -i 's/board_init();/*(volatile uint32_t *)0xe000ed88 |= 0xf << 20; board_init();/' \
			source/startup.c
		;;
	esac
	for mode in plain counts small table spans coverage paths; do
		case $mode in
		plain) ;;
		small) export LITIFUT_STUBS=small ;;
		*) export LITIFUT_MODE=$mode LITIFUT_CLOCK=systick ;;
		esac
		[ $mode = plain ] || front="$BUILD/bin/litifut build -q"
		ok "$mode: it links" make_example $mode EXTRA_CFLAGS="$cpu"
		front=
		unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_STUBS
		emulate $mode/firmware.elf $mode.serial
		is "$mode: all is loaded" "$(tr -d '\r\0' <$mode.serial)" "$right right"
		# shellcheck disable=SC2086
		case $mode in
		plain) ;;
		coverage | paths) ok "$mode: as they have moved" moved $mode/firmware.elf $blocks ;;
		*) ok "$mode: as they have moved" moved $mode/firmware.elf $calls ;;
		esac
	done
}

for_boards behaviour
