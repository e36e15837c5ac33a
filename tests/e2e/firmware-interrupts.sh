#!/bin/sh
# Nested interrupts that come at each possible moment: no call is lost, and each handler is
# counted as called by its interrupt.
BOARDS=${BOARDS:-mps2-an385 microbit mps2-an505 netduino2}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# entered FUNCTION FOLDER: how often it was, by all of its callers
entered()
{
	"$BUILD/bin/litifut-post" -q -f edges "$2/firmware.elf.serial" "$2/firmware.elf" |
		awk -v name="$1" '$NF == name { sum += $1 } END { print sum + 0 }'
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
}

for_boards behaviour
