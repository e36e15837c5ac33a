#!/bin/sh
# Nine tasks with a display, sound, files, sensors and a command line, as in "gprof for microcontrollers":
# each call site is counted as often as it is executed, and few of the samples lie in the tracer's
# own code (57 % in the paper).
BOARDS=${BOARDS:-mps2-an385 microbit}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

behaviour()
{
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/shield.c" source/main.c
	cp "$root/tests/firmware/pendsv.h" source
	cp "$root/tests/firmware/startup.c" source
	case $board in
	microbit) fast=24 small=34 ;;
	*) fast=18 small=33 ;;
	esac
	make_example plain >/dev/null 2>&1
	emulate plain/firmware.elf plain.serial
	is "untraced: files are right" "$(cat plain.serial)" right
	for stubs in fast small; do
		export LITIFUT_STUBS=$stubs LITIFUT_PORT="$port" LITIFUT_SAMPLE=SysTick_Handler
		ok "$stubs: it links traced" traced $stubs make_example $stubs
		unset LITIFUT_STUBS LITIFUT_PORT LITIFUT_SAMPLE
		ok "$stubs: each site is counted as often as it is executed" \
			counts_equal_calls $stubs/firmware.elf
		is "$stubs: files are right" "$(text_of $stubs/firmware.elf.serial)" right
		python3 "$root/tests/oracle/gmon.py" $stubs/firmware.elf.gmon $stubs/firmware.elf >share
		echo "# $board, $stubs: $(cat share) samples, $("$BUILD/bin/litifut-post" -q -f edges \
			$stubs/firmware.elf.serial $stubs/firmware.elf | awk '{ sum += $1 } END { print sum }') calls"
		[ $stubs = fast ] && most=$fast || most=$small
		ok "$stubs: few of the samples are in the tracer" \
			awk -v most="$most" '{ exit !($1 > 0 && $1 <= most && $4 > 500) }' share
	done
}

for_boards behaviour
