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
	"$BUILD/bin/litifut" info --skipped fast/firmware.elf >left
	is "calls before .bss is cleared are left" \
		"$(grep -c 'before-ram in Reset_Handler$' left)" 3
	ok "and few others" [ "$(grep -c 'branch-target in' left)" -lt 6 ]
	ok "code and data are as large in the files for the flash" \
		[ "$(wc -c <fast/firmware.bin)" -gt "$(wc -c <plain/firmware.bin)" ]
	arm-none-eabi-gprof -b -q fast/firmware.elf fast/firmware.elf.gmon >gprof.text 2>/dev/null
	ok "gprof reads the counts" grep -q '1+88 *fibonacci' gprof.text
}

for_boards behaviour
