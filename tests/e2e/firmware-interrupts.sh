#!/bin/sh
# Nested interrupts that come at each possible moment: no call is lost, and each handler is
# counted as called by its interrupt. Vector tables as those of vendors are found.
BOARDS=${BOARDS:-mps2-an385 microbit mps2-an505 netduino2}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# entered FUNCTION FOLDER: how often it was, by all of its callers
entered()
{
	"$BUILD/bin/litifut-post" -q -f edges "$2/firmware.elf.serial" "$2/firmware.elf" |
		awk -v name="$1" '$NF == name { sum += $1 } END { print sum + 0 }'
}

# A script without ENTRY(), whose memory has an odd length, and a table with the checksum that a boot
# loader looks for. The reset handler jumps, and its symbol has no size, as in ChibiOS.
vendor_table()
{
	sed -i '/^ENTRY/d; s/LENGTH(RAM);/LENGTH(RAM) - 1;/' source/sections.ld
	sed -i 's/^void Reset_Handler(void)/void crt0_entry(void);\
__asm__(".thumb_func\\n.global Reset_Handler\\nReset_Handler: b crt0_entry");\
void Reset_Handler(void);\
\
void crt0_entry(void)/' source/startup.c
	sed -i 's/^	\[14\] = PendSV_Handler,/	[7] = (void (*)(void))0x5a5a5a5a, &/' source/startup.c
	export LITIFUT_PORT="$port"
	ok "a table of a vendor: it links traced" traced vendor make_example vendor
	unset LITIFUT_PORT
	is "a table of a vendor: the ELF header does not say where the reset handler is" \
		"$(arm-none-eabi-readelf -h vendor/firmware.elf | sed -n 's/.*Entry point.* //p')" 0x0
	ok "a table of a vendor: each site is counted as often as it is executed" \
		counts_equal_calls vendor/firmware.elf
	ok "a table of a vendor: handlers are counted as called by their interrupts" \
		[ "$(called_by_interrupts vendor)" -gt 100 ]
	ok "a table of a vendor: what runs before .bss is cleared is left" [ "$("$BUILD/bin/litifut" info \
		--skipped vendor/firmware.elf | grep -c 'before-ram in crt0_entry$')" -gt 2 ]
}

# called_by_interrupts FOLDER: how often handlers were
called_by_interrupts()
{
	"$BUILD/bin/litifut-post" -q -f edges "$1/firmware.elf.serial" "$1/firmware.elf" |
		awk '/\(interrupt / { sum += $1 } END { print sum + 0 }'
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/nested.c" source/main.c
	cp "$root/tests/firmware/startup.c" source
	for stubs in fast small; do
		export LITIFUT_STUBS="$stubs" LITIFUT_PORT="$port"
		ok "it links traced ($stubs)" traced "$stubs" make_example "$stubs"
		unset LITIFUT_STUBS LITIFUT_PORT
		ok "each site is counted as often as it is executed ($stubs)" \
			counts_equal_calls "$stubs/firmware.elf"
		is "there were many interrupts in interrupts ($stubs)" \
			"$(text_of "$stubs/firmware.elf.serial")" many
		# two calls in SysTick_Handler, one in the other, 3000 in main
		is "handlers are entered as often as they make calls ($stubs)" \
			"$(entered through "$stubs")" \
			$((2 * $(entered SysTick_Handler "$stubs") +
				$(entered Inner_Handler "$stubs") + 3000))
	done
	[ "$board" != mps2-an385 ] || vendor_table
}

for_boards behaviour
