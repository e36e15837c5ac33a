#!/bin/sh
# LITIFUT_MODE=paths of a firmware: the blocks that its bits lead through are those that QEMU executes,
# in order, on Cortex-M3 and up and on Cortex-M0: of newlib's printf and strtod against the same program without patches; under nested
# interrupts and a kernel of two tasks; over the line, while interrupts come; over a HardFault, a
# reset and a watchdog; and the end of a run in a ring that is too small.
BOARDS=${BOARDS:-mps2-an385 ${LONG:+mps2-an386 mps2-an505 netduino2}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# recorded_of FOLDER: how many places are left, and how many functions are recorded. (What is recorded may
# differ by a block, as a number in the data that happens to be an address of the code is taken for a label.)
recorded_of()
{
	"$BUILD/bin/litifut" info "$1/firmware.elf" | sed -n 's/^  sites left  *//p; s/^  recorded in  *\([0-9]*\).*/\1/p'
}

# The ring is sent by the interrupt that is recorded, too, while what the program prints goes elsewhere.
in_interrupts()
{
	cp "$root/tests/firmware/nested.c" source/main.c
	sed -i 's/\<400\>/'"$slow"'/; s/\<501\>/8009/; s/\<3000\>/300/' source/main.c
	sed -i 's/UART 0x40004000u/UART 0x40005000u/' source/board.c
	settings="LITIFUT_PORT=$port LITIFUT_SEND=tick:1"
	ok "sending in interrupts: it links traced" link_mode paths background 64 EXTRA_CFLAGS="$cpu"
	ok "sending in interrupts: blocks are those that are executed" \
		blocks_are_executed background traced serial --more 1
	settings="LITIFUT_PORT=$port LITIFUT_SEND=tick:1 LITIFUT_COMPACT=1"
	ok "sending in interrupts, compact: it links traced" link_mode paths ticks 64 EXTRA_CFLAGS="$cpu"
	ok "sending in interrupts, compact: blocks are those that are executed" \
		blocks_are_executed ticks traced serial --more 1
	settings=
	sed -i 's/UART 0x40005000u/UART 0x40004000u/' source/board.c
}

# parts_are_executed FOLDER memory|serial: recording is switched off and on, also in interrupts.
parts_are_executed()
{
	# what it compares is in pieces
	blocks_are_executed "$1" traced "$2" >/dev/null 2>&1
	cat words
	grep -q 'recording was switched off [1-9][0-9]* times' words &&
		python3 "$root/tests/oracle/firmware_paths.py" pieces watched order blocks "$1/firmware.elf"
}

# switched CPU FOLDER: with the options of the compiler for this CPU
switched()
{
	sed 's/\<400\>/'"$often"'/
		s/^#include "board.h"/&\n#include <litifut\/firmware.h>/
		s/^		through(i);/		{ through(i); if (litifut_start \&\& i % 97 == 43) litifut_start(); }/
		s/^	ticks++;/&\n	if (litifut_stop \&\& ticks % 64 == 7) litifut_stop();/
		s/^	pointers.i .*/	if (litifut_stop \&\& i % 97 == 13) litifut_stop();\n&/' \
		"$root/tests/firmware/nested.c" >source/main.c
	cp "$root/tests/firmware/startup.c" source
	ok "$2, switched: it links traced" link_mode paths "switched$2" "$large" EXTRA_CFLAGS="$1 -I$root/include"
	ok "$2, switched: blocks are those that are executed while recording is on" \
		parts_are_executed "switched$2" memory
	settings="LITIFUT_PORT=$port"
	sed -i 's/\<'"$often"'\>/'"$slow"'/; s/\<501\>/8009/; s/\<3000\>/600/
		s/^		through(i);/		through(i), litifut_send ? litifut_send() : (void)0;/' source/main.c
	ok "$2, switched while it sends: it links traced" link_mode paths "parts$2" 4 EXTRA_CFLAGS="$1 -I$root/include"
	ok "$2, switched while it sends: blocks are those that are executed while recording is on" \
		parts_are_executed "parts$2" serial
	settings=
}

# Has the table a pattern, and is each of its blocks recorded?
found_patterns()
{
	python3 - "$root/tests/oracle" "$1" <<-'END'
		import sys
		sys.path.insert(0, sys.argv[1])
		from elf import Elf
		elf = Elf(sys.argv[2])
		address, size = next((s[1], s[2]) for s in elf.symbols if s[0] == "litifut_patterns")
		words = elf.unpack(f"{size // 4}I", elf.offset_of(address))
		print("yes" if words[0] and 0xffffffff not in words else words)
	END
}

# is_half SMALL LARGE
is_half()
{
	ls -l "$@"
	[ $((2 * $(wc -c <"$1"))) -lt "$(wc -c <"$2")" ]
}

behaviour()
{
	case $board in
	mps2-an386) cpu="-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16" ;;
	mps2-an505) cpu="-mcpu=cortex-m33" ;;
	*) cpu="-mcpu=cortex-m3" ;;
	esac
	case $board in
	# its timer is faster: with shorter periods it would do nothing but handle interrupts
	netduino2) tick=30000 large=96 slow=80000 often=2900 ;;
	*) tick=6400 large=1024 slow=16400 often=400 ;;
	esac
	include=-I$root/include
	cp -r "$root/examples/firmware" source
	sed -i 's/board_init();/board_init(); *(volatile uint32_t *)0xe000ed88 |= 0xf << 20;/' \
		source/startup.c
	cp "$root/tests/firmware/numbers.c" source/main.c
	ok "newlib: it links traced" link_mode paths numbers 64 EXTRA_CFLAGS="$cpu -DROUNDS=3" \
		EXTRA_LDFLAGS="-u _printf_float"
	is "litifut info says so" "$("$BUILD/bin/litifut" info numbers/firmware.elf |
		sed -n 's/^  mode  *//p')" paths
	# _exit(), where the memory is read
	ok "newlib: blocks are those that the program without patches executes" \
		blocks_are_executed numbers plain memory --more 1
	cp dump.serial numbers.text
	emulate plain.elf plain.text
	ok "newlib: it prints the same" cmp plain.text numbers.text
	ok "newlib: the last lines can be shown" sh -c "'$BUILD/bin/litifut-post' -q -f path \
		--last 3 results numbers/firmware.elf | grep -q 'exit'"
	# half of an instruction stands before functions then
	for filling in zeros ones; do
		ok "gaps filled with $filling: it links traced" link_mode paths $filling "$large" \
			EXTRA_CFLAGS="$cpu -Os -DROUNDS=3" EXTRA_LDFLAGS="-u _printf_float"
		sed -i 's/^	} >FLASH$/	} >FLASH =0xff/' source/sections.ld
	done
	is "gaps filled with ones: as much is recorded" "$(recorded_of ones)" "$(recorded_of zeros)"
	ok "gaps filled with ones: blocks are those that the program without patches executes" \
		blocks_are_executed ones plain memory --more 1
	sed -i 's/ =0xff$//' source/sections.ld
	ok "newlib, a ring that is too small: it links traced" link_mode paths small 4 \
		EXTRA_CFLAGS="$cpu -DROUNDS=3" EXTRA_LDFLAGS="-u _printf_float"
	ok "newlib, a ring that is too small: its end is there" \
		blocks_are_executed small traced memory --tail 1000 --more 1
	# what comes later is sent as well
	if [ -n "${LONG:-}" ]; then
		settings="LITIFUT_PORT=$port"
		ok "newlib, by the line: it links traced" link_mode paths line 64 \
			EXTRA_CFLAGS="$cpu -DROUNDS=3" EXTRA_LDFLAGS="-u _printf_float"
		ok "newlib, by the line: blocks are those that are executed" \
			blocks_are_executed line traced serial --more 1
		settings=
	fi

	# constants right behind the last code, which is the tracer's (MicroPython)
	cp -r "$root/examples/firmware" constants
	sed -i '/KEEP(\*(\.\(init\|fini\)))/d; s/^		KEEP(\*(\.vectors))/&\n		KEEP(*(.init))\n		KEEP(*(.fini))\n		*.a:*(.text .text.*)/' constants/sections.ld
	mv source kept
	mv constants source
	settings="LITIFUT_PORT=$port"
	# its start-up code does not switch on a unit for floating point
	ok "constants behind the tracer: it links traced" link_mode paths behind 64 \
		EXTRA_CFLAGS="${cpu%% *}"
	settings=
	ok "constants behind the tracer: blocks are those that are executed, also behind calls through pointers there" \
		blocks_are_executed behind traced memory --more 4
	rm -r source
	mv kept source

	sed 's/\<400\>/'$often'/' "$root/tests/firmware/nested.c" >source/main.c
	cp "$root/tests/firmware/startup.c" source
	ok "interrupts: it links traced" link_mode paths nested "$large" EXTRA_CFLAGS="$cpu -DLEAF"
	ok "interrupts: blocks are those that are executed, and each interrupt comes where it came" \
		blocks_are_executed nested traced memory --more 1
	ok "interrupts: there were many in interrupts" grep -q many nested/firmware.elf.serial
	ok "interrupts, a tail call through a pointer: it links traced" \
		link_mode paths tail "$large" EXTRA_CFLAGS="$cpu -DLEAF -DTAIL"
	ok "interrupts, a tail call through a pointer: blocks are those that are executed" \
		blocks_are_executed tail traced memory --more 1
	for each_cpu in "$cpu" -mcpu=cortex-m0; do
		[ "$each_cpu" = "$cpu" ] || [ "$board" = mps2-an385 ] || continue
		ok "interrupts in a switch, ${each_cpu%% *}: it links traced" \
			link_mode paths "cases${each_cpu%% *}" "$large" EXTRA_CFLAGS="$each_cpu -DCASES -DAT_END"
		ok "interrupts in a switch, ${each_cpu%% *}: blocks are those that are executed" \
			blocks_are_executed "cases${each_cpu%% *}" traced memory --more 1
	done
	sed -i 's/\<'$often'\>/'$((often * 13 / 2))'/' source/main.c
	for each_cpu in "$cpu -O2" "$cpu -Os" "-mcpu=cortex-m0 -Os"; do
		[ "${each_cpu% *}" = "$cpu" ] || [ "$board" = mps2-an385 ] || continue
		ok "interrupts between labels, $each_cpu: it links traced" \
			link_mode paths labels "$large" EXTRA_CFLAGS="$each_cpu -DLABELS -DAT_END"
		ok "interrupts between labels, $each_cpu: blocks are those that are executed" \
			blocks_are_executed labels traced memory --more 1
	done
	sed -i 's/\<'$((often * 13 / 2))'\>/'$often'/' source/main.c
	sed -i 's/\<'$often'\>/'$slow'/; s/\<501\>/8009/; s/\<3000\>/300/
		s/^		through(i);/		through(i), litifut_send ? litifut_send() : (void)0;/
		s/^#include "board.h"/&\n#include <litifut\/firmware.h>/' source/main.c
	settings="LITIFUT_PORT=$port"
	ok "interrupts while it sends: it links traced" link_mode paths sends 4 \
		EXTRA_CFLAGS="$cpu $include"
	ok "interrupts while it sends: blocks are those that are executed" \
		blocks_are_executed sends traced serial --more 1
	sed -i 's/litifut_send ? litifut_send() : (void)0/some()/
		s/^#include <litifut\/firmware.h>/&\n#define some() ({ while (litifut_send_some \&\& litifut_send_some()); })/' \
		source/main.c
	settings="LITIFUT_PORT=$port LITIFUT_COMPACT=1"
	ok "interrupts while it sends, compact: it links traced" link_mode paths compact 4 \
		EXTRA_CFLAGS="$cpu $include"
	ok "interrupts while it sends, compact: blocks are those that are executed" \
		blocks_are_executed compact traced serial --more 1
	ok "compact is less than half as much" \
		is_half compact/firmware.elf.serial sends/firmware.elf.serial
	ok "patterns are mined" "$BUILD/bin/litifut-post" mine -q -o patterns results compact/firmware.elf
	settings="LITIFUT_PORT=$port LITIFUT_PATTERNS=$PWD/patterns"
	ok "interrupts while it sends, with patterns: it links traced" link_mode paths patterned 4 \
		EXTRA_CFLAGS="$cpu $include"
	ok "interrupts while it sends, with patterns: blocks are those that are executed" \
		blocks_are_executed patterned traced serial --more 1
	is "patterns are found in its code" "$(found_patterns patterned/firmware.elf)" yes
	printf 'main+0:%0400d\n' 0 >patterns
	link_mode paths long 4 EXTRA_CFLAGS="$cpu $include" >/dev/null
	ok "a pattern that is too long: a line says so" \
		grep -q 'left untraced: LITIFUT_PATTERNS: a pattern has 15 words, and may have 12' long.log
	settings=
	switched "$cpu" "$board"
	[ "$board" != mps2-an385 ] || switched -mcpu=cortex-m0 M0
	[ "$board" != mps2-an385 ] || in_interrupts

	cp "$root/tests/firmware/tasks.c" source/main.c
	cp "$root/tests/firmware/pendsv.h" source
	# at the shortest one a tick is there when the handler has hardly returned
	for period in $tick $((tick / 10 + 1)) ${LONG:+$((tick / 2 + 100)) $((tick / 6)) $((tick / 9))}; do
		ok "tasks, a tick of $period: it links traced" link_mode paths tasks "$large" \
			EXTRA_CFLAGS="$cpu -DTICK=$period -DROUNDS=60 -DJUMPS=30"
		ok "tasks, a tick of $period: blocks are those that are executed" \
			blocks_are_executed tasks traced memory --more 1
		ok "tasks, a tick of $period: they were switched" \
			grep -q 'm$' tasks/firmware.elf.serial
		is "tasks, a tick of $period: each is a thread" \
			"$(tail -n +2 blocks | cut -f 2 | sort -u | wc -l)" 2
	done
	ok "tasks, of either stack: it links traced" link_mode paths either "$large" \
		EXTRA_CFLAGS="$cpu -DTICK=$tick -DROUNDS=60 -DJUMPS=30 -DEITHER_STACK"
	ok "tasks, of either stack: blocks are those that are executed" \
		blocks_are_executed either traced memory --more 1

	cp "$root/tests/firmware/restarts.c" source/main.c
	case $board in
	mps2-an385 | mps2-an386) watchdog=-DWATCHDOG=0x40008000 resets=3 ;;
	*) watchdog='' resets=2 ;;
	esac
	settings="LITIFUT_PORT=$port LITIFUT_RAM=top"
	ok "restarts: it links traced" link_mode paths kept 4 EXTRA_CFLAGS="$cpu $include $watchdog"
	ok "restarts: blocks are those of all runs" blocks_are_executed kept traced serial --more 1
	ok "restarts: a line says how many there were" grep -q "restarted $resets times" words
	settings=LITIFUT_RAM=top
	ok "a HardFault: it links traced" link_mode paths hangs 4 EXTRA_CFLAGS="$cpu $include -DENDS"
	# its handler stays in itself, for more rounds than the ring has words
	dump hangs/firmware.elf hangs.bin HardFault_Handler 1100
	# nothing is recorded in what main() calls then
	is "a HardFault: the last line that is recorded, and the last possible one" \
		"$("$BUILD/bin/litifut-post" -q -f path --last 1 hangs.bin hangs/firmware.elf |
			sed -n '1s/.*main.c/main.c/p; $s/.* ? .*main.c/? main.c/p')" \
		"main.c:$(grep -n '	fail();' source/main.c | cut -d : -f 1)
? main.c:$(grep -n 'udf #0' source/main.c | cut -d : -f 1)"
	settings=
	[ "$board" != mps2-an385 ] || baseline
}

# Code for a Cortex-M0, on a CPU with more memory, and on one.
baseline()
{
	cpu=-mcpu=cortex-m0
	settings="LITIFUT_PORT=$port LITIFUT_RAM=top"
	ok "Cortex-M0, restarts: it links traced" link_mode paths kept0 4 \
		EXTRA_CFLAGS="$cpu $include $watchdog"
	ok "Cortex-M0, restarts: blocks are those of all runs" \
		blocks_are_executed kept0 traced serial --more 1
	is "Cortex-M0, restarts: there were as many" "$(grep -c "restarted $resets times" words)" 1
	settings=
	cp "$root/tests/firmware/numbers.c" source/main.c
	ok "Cortex-M0, newlib: it links traced" link_mode paths numbers0 64 \
		EXTRA_CFLAGS="$cpu -DROUNDS=3" EXTRA_LDFLAGS="-u _printf_float"
	ok "Cortex-M0, newlib: blocks are those that the program without patches executes" \
		blocks_are_executed numbers0 plain memory --more 2
	cp "$root/tests/firmware/nested.c" source/main.c
	ok "Cortex-M0, interrupts: it links traced" link_mode paths nested0 "$large" EXTRA_CFLAGS="$cpu -DLEAF"
	ok "Cortex-M0, interrupts: blocks are those that are executed" \
		blocks_are_executed nested0 traced memory --more 1
	ok "Cortex-M0, interrupts, a tail call through a pointer: it links traced" \
		link_mode paths tail0 "$large" EXTRA_CFLAGS="$cpu -DLEAF -DTAIL"
	ok "Cortex-M0, interrupts, a tail call through a pointer: blocks are those that are executed" \
		blocks_are_executed tail0 traced memory --more 1
	cp "$root/tests/firmware/far_jumps.c" source/main.c
	for each_cpu in cortex-m0 cortex-m23; do
		ok "$each_cpu, jumps by bl: it links traced" \
			link_mode paths "far-$each_cpu" "$large" EXTRA_CFLAGS="-mcpu=$each_cpu"
		arm-none-eabi-objdump -d --disassemble=large "far-$each_cpu/main.o" >far.text
		ok "$each_cpu, jumps by bl: there are some" grep -q 'bl	.*<large+' far.text
		ok "$each_cpu, jumps by bl: blocks are those that the program without patches executes" \
			blocks_are_executed "far-$each_cpu" plain memory --more 3
		export LITIFUT_PORT="$port"
		ok "$each_cpu, jumps by bl: it links traced in counts" \
			traced "far-counts-$each_cpu" make_example "far-counts-$each_cpu" EXTRA_CFLAGS="-mcpu=$each_cpu"
		unset LITIFUT_PORT
		ok "$each_cpu, jumps by bl: each site is counted as often as it is executed" \
			counts_equal_calls "far-counts-$each_cpu/firmware.elf"
		is "$each_cpu, jumps by bl: one to what ends the program is not a call" \
			"$("$BUILD/bin/litifut" info --sites "far-counts-$each_cpu/firmware.elf" |
				sed -n 's/.* \([^ ]*\) in ends$/\1/p')" not-a-call
	done
	cp "$root/tests/firmware/tasks.c" source/main.c
	cp "$root/tests/firmware/pendsv.h" source
	link_mode paths tasks0 4 EXTRA_CFLAGS="$cpu -DTICK=$tick" >/dev/null
	ok "Cortex-M0, tasks: it is left untraced, and a line says so" grep -q \
		'untraced: LITIFUT_MODE=paths: the program changes tasks' tasks0.log
	board=microbit
	sed -i '/0xe000ed88/s/board_init();.*/board_init();/' source/startup.c
	cp "$root/tests/firmware/numbers.c" source/main.c
	ok "microbit: it links traced" link_mode paths microbit 4 EXTRA_CFLAGS="-DROUNDS=1"
	ok "microbit: the end of a ring is there" \
		blocks_are_executed microbit traced memory --tail 500 --more 2
}

for_boards behaviour
