#!/bin/sh
# LITIFUT_MODE=coverage of a firmware: flags of branches and blocks in its memory are set if and only
# if QEMU executes them in the same program without patches, in a dump and sent by the line; also
# under nested interrupts. lcov has the lines.
BOARDS=${BOARDS:-netduino2 microbit ${LONG:+mps2-an385 mps2-an386 mps2-an505 lm3s6965evb}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# link_coverage FOLDER ARGUMENTS...: with `sent_by'
link_coverage()
{
	link_folder=$1
	shift
	export LITIFUT_MODE=coverage
	[ -z "$sent_by" ] || export LITIFUT_PORT="$sent_by"
	traced "$link_folder" make_example "$link_folder" "$@"
	link_status=$?
	unset LITIFUT_MODE LITIFUT_PORT
	return $link_status
}

# dump ELF OUTPUT: the memory when the program ends, from its data on
dump()
{
	rm -f "$2"
	gdb-multiarch -q -batch -nx -ex "set remotetimeout 100" -ex "file $1" \
		-ex "target remote | timeout ${patience:-180} qemu-system-arm -M $board -display none \
			-monitor none -semihosting -icount shift=4 -serial file:dump.serial \
			-kernel $1 -S -gdb stdio" -ex "break _exit" -ex continue -ex \
		"dump binary memory $2 ((unsigned)&__data_start) ((unsigned)&end)" >dump.log 2>&1
}

# lines_are FOLDER LINES: what lcov says of the lines of finish() and of those that call it
lines_are()
{
	emulate "$1/firmware.elf" "$1.serial"
	is "$1: lcov has the call that sends" "$("$BUILD/bin/litifut-post" -q -f lcov "$1.serial" "$1/firmware.elf" |
		sed -n '/^SF:.*main.c/,/^end/ { /^DA:\(9\|14\|22\),/p }' | paste -s -d ' ')" "$2"
}

# The flags are sent before the function that is called has set its own.
call_that_sends()
{
	cat >source/main.c <<-'C'
	#include <stdio.h>
	#include <stdlib.h>
	volatile int zero;
	void SysTick_Handler(void)
	{
	}
	static __attribute__((noinline)) void finish(void)
	{
		exit(zero);
	}
	static __attribute__((noinline)) void give_up(void)
	{
		printf("no\n");
		finish();
	}
	int main(void)
	{
		printf("begin\n");
		if (MORE && zero)
			give_up();
		printf("end\n");
		finish();
		return 0;
	}
	C
	export LITIFUT_SEND=call:finish
	ok "a call sends: it links traced" link_coverage sends EXTRA_CFLAGS="$cpu -g -DMORE=0"
	ok "one of two calls sends: it links traced" link_coverage either EXTRA_CFLAGS="$cpu -g -DMORE=1"
	unset LITIFUT_SEND
	lines_are sends "DA:9,0 DA:22,1"
	# which of them has sent is not known
	lines_are either DA:9,0
}

# A function that calls nothing and leads on by a table to code that returns by lr.
table_of_leaf()
{
	cat >source/main.c <<-'C'
	#include <stdio.h>
	void SysTick_Handler(void)
	{
	}
	static __attribute__((noinline)) unsigned look(unsigned *words, unsigned x)
	{
		words[0] = x;
		words[1] = x + 1;
		words[2] = x * 3;
		switch (x & 7) {
		case 0: words[3] = 7; return 11;
		case 1: words[4] = 2; return 7;
		case 2: words[5] = 9; return 1;
		case 3: words[3] = 1; return 99;
		case 4: words[3] = 8; return 12;
		case 5: words[3] = 4; return 5;
		case 6: words[1] = 1; return 2;
		case 7: words[2] = 7; return 10;
		}
		__builtin_unreachable();
	}
	int main(void)
	{
		unsigned words[8] = {0}, sum = 0;
		for (unsigned i = 0; i < 40; i++)
			sum += look(words, i) + words[3];
		printf("%u\n", sum);
		return 0;
	}
	C
	ok "a leaf with a table: it links" make_example plain EXTRA_CFLAGS="$cpu"
	emulate plain/firmware.elf plain.serial
	ok "a leaf with a table: it links traced" link_coverage leaf EXTRA_CFLAGS="$cpu"
	ok "a leaf with a table: flags are those of what is executed" sent_flags_are_executed leaf
	ok "a leaf with a table: it prints the same" computes_the_same leaf/firmware.elf.serial
}

behaviour()
{
	case $board in
	mps2-an386) cpu="-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16" ;;
	mps2-an505) cpu="-mcpu=cortex-m33" ;;
	microbit) cpu="-mcpu=cortex-m0" ;;
	*) cpu="-mcpu=cortex-m3" ;;
	esac
	cp -r "$root/examples/firmware" source
	[ "$board" = microbit ] || sed -i 's/board_init();/board_init(); *(volatile uint32_t *)0xe000ed88 |= 0xf << 20;/' \
		source/startup.c
	cp "$root/tests/firmware/numbers.c" source/main.c
	sent_by=
	ok "newlib: it links traced" link_coverage numbers EXTRA_CFLAGS="$cpu -g -DROUNDS=3" \
		EXTRA_LDFLAGS="-u _printf_float"
	is "litifut info says so" "$("$BUILD/bin/litifut" info numbers/firmware.elf |
		sed -n 's/^  mode  *//p')" coverage
	dump numbers/firmware.elf results
	ok "newlib: flags are those of what is executed" flags_are_executed numbers results 500
	ok "newlib: it prints the same" cmp plain.text dump.serial
	ok "lcov has the lines of main.c" sh -c "'$BUILD/bin/litifut-post' -q -f lcov -o lines.info \
		results numbers/firmware.elf && sed -n '/^SF:.*main.c/,/^end/p' lines.info |
		grep -q '^DA:[0-9]*,1'"
	ok "lcov says nothing of code that is not recorded" [ "$(grep -c 'Reset_Handler' lines.info)" = 0 ]
	sent_by=$port
	ok "by the line: it links traced" link_coverage line EXTRA_CFLAGS="$cpu -DROUNDS=3" \
		EXTRA_LDFLAGS="-u _printf_float"
	emulate line/firmware.elf line.serial
	ok "by the line: flags are those of what is executed" flags_are_executed line line.serial 500

	call_that_sends
	table_of_leaf
	cp "$root/tests/firmware/nested.c" source/main.c
	cp "$root/tests/firmware/startup.c" source
	ok "interrupts: it links traced" link_coverage nested EXTRA_CFLAGS="$cpu"
	emulate nested/firmware.elf nested.serial
	ok "interrupts: it works" grep -q many nested.serial
	is "interrupts: their handlers have a flag" "$("$BUILD/bin/litifut-post" -q -f coverage \
		nested.serial nested/firmware.elf | awk '$5 ~ /_Handler$/ && $1 == "yes" { print $5 }' |
		sort | paste -s -d ' ')" "Inner_Handler SysTick_Handler"
}

for_boards behaviour
