#!/bin/sh
# Functions that begin by `bti` or `pacbti` (v8.1-M, -mbranch-protection): where a CPU demands it, a call through a
# pointer arrives at these alone, so that they stay the first instructions in all modes (QEMU does not check them).
# The program computes the same, branches go where the program without patches goes, and blocks are in order.
BOARDS=${BOARDS:-mps3-an547}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# first_instructions ELF: of functions that begin so
first_instructions()
{
	arm-none-eabi-objdump -d "$1" |
		sed -n '/^[0-9a-f]* <.*>:$/{s/.*<\(.*\)>:/\1/;h;n;/f3af 80\(0f\|0d\)/{g;p}}' | sort
}

# linked MODE FOLDER TICKS: with `more' settings
linked()
{
	settings="LITIFUT_PORT=$port $more"
	ok "$2: it links traced" link_mode "$1" "$2" 64 EXTRA_CFLAGS="-DTICKS=$3" \
		EXTRA_LDFLAGS="$(pwd)/landings.o"
	settings=
	is "$2: the same functions begin so" "$(first_instructions "$2/firmware.elf")" "$landings"
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	cat >source/main.c <<-'C'
	#include <stdio.h>
	#include "board.h"
	extern int (*volatile pointers[5])(int);
	int main(void)
	{
		int sum = 0;
		if (TICKS)
			board_start_ticks(TICKS);
		for (int i = 0; i < 60; i++)
			sum = sum * 31 + pointers[i % 5](i % 7);
		board_stop_ticks();
		printf("sum %d\n", sum);
		return 0;
	}
	C
	more=
	clang --target=thumbv8.1m.main-none-eabi -march=armv8.1-m.main+pacbti -mbranch-protection=standard \
		-fshort-enums -O2 -g -c "$root/tests/firmware/landings.c" -o landings.o
	make_example plain EXTRA_CFLAGS=-DTICKS=0 EXTRA_LDFLAGS="$(pwd)/landings.o" >/dev/null
	emulate plain/firmware.elf plain.serial
	ok "it runs untraced" grep -q '^sum' plain.serial
	landings=$(first_instructions plain/firmware.elf)
	ok "functions begin so" test "$(echo "$landings" | wc -l)" -gt 4
	linked counts fast 0
	ok "fast: each site is counted as often as it is executed" counts_equal_calls fast/firmware.elf
	ok "fast: it computes the same" computes_the_same fast/firmware.elf.serial
	linked coverage coverage 0
	ok "coverage: flags are what is executed" sent_flags_are_executed coverage
	ok "coverage: it computes the same" computes_the_same coverage/firmware.elf.serial
	for ticks in 0 301; do
		linked paths "paths$ticks" $ticks
		ok "paths$ticks: blocks are those that are executed" \
			blocks_are_executed "paths$ticks" traced serial --more 1 --late 32
		ok "paths$ticks: it computes the same" computes_the_same results
	done
	more='LITIFUT_UNITS=leaf,calls,tests_at_once,loops,switches'
	linked units units 301
	emulate units/firmware.elf units.serial
	ok "units: it computes the same" computes_the_same units.serial
	more=
	linked balllarus balllarus 0
	emulate balllarus/firmware.elf balllarus.serial
	ok "balllarus: it computes the same" computes_the_same balllarus.serial
}

for_boards behaviour
