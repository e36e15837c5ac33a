#!/bin/sh
# LITIFUT_MODE=balllarus of a firmware: the blocks that its numbers of paths stand for are those that QEMU
# executes in each activation of each function, and each number is recorded with the last branch of its path, on Cortex-M3
# and Cortex-M0: of newlib's printf and strtod; of functions with more paths than there are numbers, switches, jumps by a
# table, recursion and longjmp; under nested interrupts; over the line, and over resets; and what it costs beside
# LITIFUT_MODE=paths, of the same program.
BOARDS=${BOARDS:-mps2-an385 ${LONG:+mps2-an386 mps2-an505 netduino2}}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# ids_are_executed FOLDER traced|plain memory|serial OPTIONS OF compare...: of one run under the oracle, or of one of the
# traced program and one of the program without patches
ids_are_executed()
{
	ids_elf=$1/firmware.elf
	ids_way=$2
	ids_from=$3
	shift 3
	ids_of "$ids_elf" "$ids_way" "$ids_from" || return
	cat words
	python3 "$root/tests/oracle/firmware_numbers.py" compare "$ids_elf" watched order ids "$@"
}

# ids_of ELF traced|plain memory|serial: leaves watched, order, ids and words
ids_of()
{
	python3 "$root/tests/oracle/firmware_paths.py" "$2" "$1" watched || return
	if [ "$3" = memory ]; then
		dump "$1" results _exit
	else
		emulate "$1" results
	fi
	ids_run=$1
	if [ "$2" = plain ]; then
		ids_run=plain.elf
		python3 "$root/tests/oracle/edges.py" plain "$1" plain.elf || return
	fi
	emulate "$ids_run" "$1.serial" \
		-plugin "$BUILD/tests/system.so,sites=watched,out=counts,order=order" || return
	"$BUILD/bin/litifut-post" -f ids -o ids results "$1" 2>words
	return 0
}

# end_is_of FILE FILE LEAST: the first file, with LEAST lines at least, is the end of the second, but for the gap that it begins
# with
end_is_of()
{
	tail -n +2 "$1" | awk -F '\t' '$3 != "gap"' >end.is
	wc -l end.is
	[ "$(wc -l <end.is)" -ge "$3" ] || return
	tail -n "$(wc -l <end.is)" "$2" | cmp - end.is
}

# instructions ELF: how many are executed
instructions()
{
	: >none
	emulate "$1" serial -plugin "$BUILD/tests/system.so,sites=none,out=$1.oracle"
	sed -n 's/^instructions //p' "$1.oracle"
}

size_of()
{
	echo $((0x$(arm-none-eabi-nm -S "$1" | awk -v name="$2" '$4 == name { print $2 }')))
}

# at_most DESCRIPTION LIMIT VALUE
at_most()
{
	echo "# $target: $1: $3"
	ok "$1: at most $2" [ "$3" -gt 0 -a "$3" -le "$2" ]
}

# costs NAME LIMIT_INSTRUCTIONS LIMIT_WORDS ARGUMENTS...: the program with paths and with balllarus, and without both; per recorded
# branch that is executed, in tenths of an instruction and hundredths of a byte
costs()
{
	costs_name=$1
	costs_most=$2
	costs_words=$3
	shift 3
	make_example cost-plain "$@" >/dev/null
	link_mode balllarus cost-ids 64 "$@" >/dev/null
	link_mode paths cost-paths 64 "$@" >/dev/null
	costs_plain=$(instructions cost-plain/firmware.elf)
	for costs_mode in ids paths; do
		ids_of "cost-$costs_mode/firmware.elf" plain memory
		costs_branches=$(python3 "$root/tests/oracle/firmware_numbers.py" branches \
			"cost-$costs_mode/firmware.elf" watched order)
		words=$(python3 "$root/tests/oracle/firmware_numbers.py" words \
			"cost-$costs_mode/firmware.elf" results)
		costs_more=$(($(instructions "cost-$costs_mode/firmware.elf") - costs_plain))
		echo "# $target: $costs_name, $costs_mode: $costs_branches branches, $costs_plain instructions and" \
			"$costs_more more, $words words, $(size_of "cost-$costs_mode/firmware.elf" litifut_stubs)" \
			"bytes of code"
		[ $costs_mode = paths ] || at_most "$costs_name: tenths of an instruction more a branch" \
			"$costs_most" $((10 * costs_more / costs_branches))
		[ $costs_mode = paths ] || at_most "$costs_name: hundredths of a byte a branch" \
			"$costs_words" $((400 * words / costs_branches))
	done
}

numbers()
{
	cp startup.c source
	cp "$root/tests/firmware/numbers.c" source/main.c
	ok "newlib: it links traced" link_mode balllarus numbers 64 EXTRA_CFLAGS="$cpu -DROUNDS=3" \
		EXTRA_LDFLAGS="-u _printf_float"
	is "litifut info says so" "$("$BUILD/bin/litifut" info numbers/firmware.elf |
		sed -n 's/^  mode  *//p')" balllarus
	# _exit(), where the memory is read
	ok "newlib: paths are those that the program without patches executes" \
		ids_are_executed numbers plain memory --more 1
	ok "newlib: it prints the same" cmp dump.serial numbers/firmware.elf.serial
	cp ids all.ids
	ok "newlib, a ring that is too small: it links traced" link_mode balllarus small 2 \
		EXTRA_CFLAGS="$cpu -DROUNDS=3" EXTRA_LDFLAGS="-u _printf_float"
	dump small/firmware.elf results _exit
	"$BUILD/bin/litifut-post" -q -f ids -o ids results small/firmware.elf
	ok "newlib, a ring that is too small: its end is there" end_is_of ids all.ids 400
}

# All forms of functions; what is called deeper than the tracer has room for is lost, and counted.
ways()
{
	cp "$root/tests/firmware/ways.c" source/main.c
	ok "ways: it links traced" link_mode balllarus ways 64 EXTRA_CFLAGS="$cpu -DDEPTH=20"
	ok "ways: paths are those that the program without patches executes" \
		ids_are_executed ways plain memory --more 1
	ok "ways: it prints the same" cmp dump.serial ways/firmware.elf.serial
	"$BUILD/bin/litifut-post" path-ids -q ways/firmware.elf >ways.ids
	ok "ways: paths of a function are cut, so that numbers fit" \
		awk '$8 == "many" && $1 > 1000 && $1 <= 65536 && $6 > 0 { found = 1 } END { exit !found }' ways.ids
	ok "ways: source lines can be shown" sh -c "'$BUILD/bin/litifut-post' -q -f path \
		results ways/firmware.elf | grep -q 'many .*main.c:'"
	"$BUILD/bin/litifut-post" -f callgrind -o callgrind results ways/firmware.elf 2>words
	ok "ways: a format that needs the order of calls says so" \
		grep -q 'not which of them has called which: use -f ids, path or blocks' words
	"$BUILD/bin/litifut-post" -q -f lcov -o info results ways/firmware.elf
	# on a Cortex-M0 paths has more functions
	[ "$cpu" = -mcpu=cortex-m0 ] ||
		ok "ways: which lines were executed is the same as with LITIFUT_MODE=paths" same_lines
	ok "deep calls: it links traced" link_mode balllarus deep 64 EXTRA_CFLAGS="$cpu -DDEPTH=100"
	ids_of deep/firmware.elf plain memory
	# 40 times 64 of them; where main() has a start that is recorded, 63 and a path of main()
	is "deep calls: what has no room is missing, and all else is right" "$(python3 \
		"$root/tests/oracle/firmware_numbers.py" missing deep/firmware.elf watched order ids deep)" "$deep"
	is "deep calls: it is counted" "$(sed -n 's/.*: \([0-9]*\) paths were executed whose numbers.*/\1/p' \
		words)" 2560
}

same_lines()
{
	link_mode paths as-paths 64 EXTRA_CFLAGS="$cpu -DDEPTH=20" || return
	dump as-paths/firmware.elf results _exit
	"$BUILD/bin/litifut-post" -q -f lcov -o paths.info results as-paths/firmware.elf
	for each in info paths.info; do
		sed -n '/^SF:.*main.c$/,/^end_of_record/s/^DA:\([0-9]*\),0*\([1-9]*\).*/\1 \2/p' $each |
			awk '{ print $1, $2 != "" }' >$each.lines
	done
	wc -l info.lines paths.info.lines
	[ -s info.lines ] && cmp info.lines paths.info.lines
}

# Of 3,000 activations the program leaves out 1,000, and the end of the last one that is recorded is not missing.
switched()
{
	sed 's/board_start_ticks(400);//; s/^#include "board.h"/&\n#include <litifut\/firmware.h>/
		s/^		through(i);/		{ through(i); i == 1000 \&\& litifut_stop ? litifut_stop() : (void)0; i == 2000 \&\& litifut_start ? litifut_start() : (void)0; }/' \
		"$root/tests/firmware/nested.c" >source/main.c
	cp "$root/tests/firmware/startup.c" source
	ok "switched: it links traced" link_mode balllarus switched "$large" EXTRA_CFLAGS="$cpu -I$root/include"
	dump switched/firmware.elf results _exit
	"$BUILD/bin/litifut-post" -f ids -o ids results switched/firmware.elf 2>words
	is "switched: paths of the time when recording is on" "$(grep -cw second ids)" 1000
	ok "switched: a line says so" grep -q 'recording was switched off 1 times: there is a gap' words
}

# Both levels come between a branch and what records it.
interrupts()
{
	cp "$root/tests/firmware/nested.c" source/main.c
	cp "$root/tests/firmware/startup.c" source
	sed -i 's/\<400\>/'"$often"'/' source/main.c
	ok "interrupts: it links traced" link_mode balllarus nested "$large" EXTRA_CFLAGS="$cpu"
	ok "interrupts: paths are those that are executed" \
		ids_are_executed nested traced memory --more 1 --late 32
	ok "interrupts: there were many in interrupts" grep -q many nested/firmware.elf.serial
	sed -i 's/\<'"$often"'\>/'"$slow"'/; s/\<501\>/8009/; s/\<3000\>/300/
		s/^		through(i);/		through(i), litifut_send ? litifut_send() : (void)0;/
		s/^#include "board.h"/&\n#include <litifut\/firmware.h>/' source/main.c
	settings="LITIFUT_PORT=$port"
	ok "interrupts while it sends: it links traced" link_mode balllarus sends 4 \
		EXTRA_CFLAGS="$cpu -I$root/include"
	ok "interrupts while it sends: paths are those that are executed" \
		ids_are_executed sends traced serial --more 1 --late 32
	settings=
}

behaviour()
{
	case $board in
	mps2-an386) cpu="-mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16" ;;
	mps2-an505) cpu="-mcpu=cortex-m33" ;;
	*) cpu="-mcpu=cortex-m3" ;;
	esac
	case $board in
	netduino2) tick=30000 large=104 slow=80000 often=2000 ;;
	*) tick=6400 large=1024 slow=16400 often=400 ;;
	esac
	deep=2520
	cp -r "$root/examples/firmware" source
	sed -i 's/board_init();/board_init(); *(volatile uint32_t *)0xe000ed88 |= 0xf << 20;/' \
		source/startup.c
	cp source/startup.c .
	numbers
	ways
	interrupts
	switched
	cp "$root/tests/firmware/tasks.c" source/main.c
	cp "$root/tests/firmware/pendsv.h" source
	link_mode balllarus tasks 4 EXTRA_CFLAGS="$cpu -DTICK=$tick" >/dev/null
	ok "tasks: it is left untraced, and a line says so" grep -q \
		'untraced: LITIFUT_MODE=balllarus: the program changes tasks' tasks.log
	case $board in
	mps2-an385 | mps2-an386) watchdog=-DWATCHDOG=0x40008000 resets=3 ;;
	*) watchdog='' resets=2 ;;
	esac
	cp "$root/tests/firmware/restarts.c" source/main.c
	settings="LITIFUT_PORT=$port LITIFUT_RAM=top"
	ok "restarts: it links traced" link_mode balllarus kept 8 EXTRA_CFLAGS="$cpu -I$root/include $watchdog"
	ok "restarts: paths are those of all runs" ids_are_executed kept traced serial --more 4 --late 16
	ok "restarts: a line says how many there were" grep -q "restarted $resets times" words
	settings=
	[ "$board" = mps2-an385 ] || return 0
	cp startup.c source
	cp "$root/tests/firmware/ways.c" source/main.c
	costs "ways" 650 400 EXTRA_CFLAGS="$cpu -DDEPTH=20"
	cp "$root/tests/firmware/numbers.c" source/main.c
	costs "newlib" 330 210 EXTRA_CFLAGS="$cpu -DROUNDS=3" EXTRA_LDFLAGS="-u _printf_float"
	baseline
}

# Code for a Cortex-M0, on a CPU with more memory.
baseline()
{
	cpu=-mcpu=cortex-m0
	deep=2560
	target="$target, Cortex-M0"
	rm -r numbers small ways as-paths deep nested sends cost-*
	numbers
	ways
	interrupts
	cp startup.c source
	cp "$root/tests/firmware/numbers.c" source/main.c
	costs "newlib" 400 190 EXTRA_CFLAGS="$cpu -DROUNDS=3" EXTRA_LDFLAGS="-u _printf_float"
}

for_boards behaviour
