#!/bin/sh
# The example firmware, linked by its own makefile: it prints the same when it is traced, and
# each call site is counted as often as it is executed, but those that `litifut info` lists;
# with stubs for speed and for size, by results over the serial line that it prints to.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

same_text()
{
	text_of "$2" | diff "$1" -
}

# What objcopy makes of the ELF file sends the same bytes, text and counts, when it runs.
same_from()
{
	emulate "$1" "$1.serial" && cmp "fast/firmware.elf.serial" "$1.serial"
}

# v8-M Baseline, which the M33 of this board executes as well.
cortex_m23()
{
	for stubs in fast small; do
		export LITIFUT_STUBS="$stubs" LITIFUT_PORT="$port"
		ok "M23: it links traced ($stubs)" traced "m23$stubs" make_example "m23$stubs" \
			EXTRA_CFLAGS=-mcpu=cortex-m23
		unset LITIFUT_STUBS LITIFUT_PORT
		ok "M23: each site is counted as often as it is executed ($stubs)" \
			counts_equal_calls "m23$stubs/firmware.elf"
		ok "M23: it prints the same ($stubs)" same_text plain.serial "m23$stubs/firmware.elf.serial"
	done
	ok "M23: the code is that of this CPU" sh -c "arm-none-eabi-readelf -A m23fast/firmware.elf |
		grep -q 'Tag_CPU_arch: v8-M.baseline'"
	export LITIFUT_PORT="$port" LITIFUT_MODE=table LITIFUT_CLOCK=systick:1000000000
	ok "M23: it links traced with times" traced m23table make_example m23table \
		EXTRA_CFLAGS=-mcpu=cortex-m23
	export LITIFUT_MODE=spans LITIFUT_RING_KB=64
	ok "M23: it links traced with events" traced m23spans make_example m23spans \
		EXTRA_CFLAGS=-mcpu=cortex-m23
	export LITIFUT_MODE=stream
	ok "M23: it links traced with a stream" traced m23stream make_example m23stream \
		EXTRA_CFLAGS=-mcpu=cortex-m23
	unset LITIFUT_PORT LITIFUT_MODE LITIFUT_CLOCK LITIFUT_RING_KB
	for mode in table spans; do
		ok "M23: each site is there as often ($mode)" counts_equal_calls "m23$mode/firmware.elf"
	done
	ok "M23: a stream has the calls in order" calls_in_order m23stream/firmware.elf
}

# Scripts that leave no section with the attributes of the code: Infineon's for the XMC give it another name.
attributes()
{
	for attributes in '.build_attributes 0 : { *(.ARM.attributes) }' '/DISCARD/ : { *(.ARM.attributes) }'; do
		rm -rf source
		cp -r "$root/examples/firmware" source
		sed -i "s|^	end = \.;|&\n	$attributes|" source/sections.ld
		export LITIFUT_PORT="$port"
		ok "$attributes: it links traced" traced attributes make_example attributes
		unset LITIFUT_PORT
		is "$attributes: the section is not there" \
			"$(arm-none-eabi-readelf -SW attributes/firmware.elf | grep -c '\.ARM\.attributes')" 0
		ok "$attributes: each site is counted as often as it is executed" \
			counts_equal_calls attributes/firmware.elf
		ok "$attributes: it prints the same" same_text plain.serial attributes/firmware.elf.serial
	done
}

behaviour()
{
	ok "the example links" make_example plain
	emulate plain/firmware.elf plain.serial
	for stubs in fast small; do
		export LITIFUT_STUBS="$stubs" LITIFUT_PORT="$port"
		ok "it links traced ($stubs)" traced "$stubs" make_example "$stubs"
		unset LITIFUT_STUBS LITIFUT_PORT
		ok "each site is counted as often as it is executed ($stubs)" \
			counts_equal_calls "$stubs/firmware.elf"
		ok "it prints the same ($stubs)" same_text plain.serial "$stubs/firmware.elf.serial"
	done
	ok "a list of calls is not empty without a reason" sh -c \
		"'$BUILD/bin/litifut-post' fast/firmware.elf.serial fast/firmware.elf 2>&1 | grep 'has sums only'"
	"$BUILD/bin/litifut" info --skipped fast/firmware.elf >left
	is "calls before .bss is cleared are left" \
		"$(grep -c 'before-ram in Reset_Handler$' left)" 3
	ok "and few others" [ "$(grep -c 'branch-target in' left)" -lt 6 ]
	ok "code and data are as large in the files for the flash" \
		[ "$(wc -c <fast/firmware.bin)" -gt "$(wc -c <plain/firmware.bin)" ]
	# QEMU loads a raw image to where the memory begins, and reads no hex file as a kernel.
	arm-none-eabi-objcopy -I ihex -O binary fast/firmware.hex fromhex.bin
	ok "the hex file has the bytes of the bin file" cmp fromhex.bin fast/firmware.bin
	case $board in
	mps2-an505) ;; # its flash is not at 0
	*) ok "the bin file runs as the ELF file does, counts included" same_from fast/firmware.bin ;;
	esac
	arm-none-eabi-gprof -b -q fast/firmware.elf fast/firmware.elf.gmon >gprof.text 2>/dev/null
	case $board in
	mps2-an505) cortex_m23 ;;
	mps2-an385 | microbit) attributes ;;
	esac
	ok "gprof reads the counts" grep -q '1+88 *fibonacci' gprof.text
}

for_boards behaviour
