#!/bin/sh
# LITIFUT_MODE=spans of a firmware: calls and returns as events, in the ring of the device and over
# the line while the program runs. Every call is there, with the times that QEMU's plugin has seen,
# under nested interrupts and a kernel of two tasks; what a small ring loses is counted.
BOARDS=${BOARDS:-mps2-an385 microbit mps2-an505 netduino2}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

# link_spans FOLDER ARGUMENTS...
link_spans()
{
	export LITIFUT_MODE=spans LITIFUT_CLOCK=systick:1000000000 LITIFUT_PORT="$port" \
		LITIFUT_RING_KB="$ring"
	traced "$1" make_example "$@"
	link_status=$?
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT LITIFUT_RING_KB
	return $link_status
}

post()
{
	"$BUILD/bin/litifut-post" "$@"
}

# is_whole ELF: nothing is lost, and no return is without its call
is_whole()
{
	post -f report "$1.serial" "$1" 2>words >/dev/null || { cat words; return 1; }
	grep ' 0 lost,' words >/dev/null && [ "$(wc -l <words)" = 1 ] && return
	cat words
	return 1
}

# The program's own text on a line that carries frames as well.
texts_of()
{
	"$BUILD/bin/litifut" capture --rounds 1000 "$1" -o frames 2>words
}

# Sends what is in the ring, behind this line of main.c.
send_behind()
{
	sed -i "s/^#include \"board.h\"/&\\n#include <litifut\\/firmware.h>/
		s/$1/&\\n	if (litifut_send) litifut_send();/" source/main.c
}

# Events that are lost are counted, and those before them are there.
in_small_rings()
{
	cp "$root/tests/firmware/calls.c" source/main.c
	cp "$root/examples/firmware/startup.c" source
	for ring in 1 4 64; do
		export LITIFUT_MODE=spans LITIFUT_CLOCK=dwt LITIFUT_PORT="$port" LITIFUT_RING_KB="$ring"
		ok "a ring of $ring KB: it links traced" traced "ring$ring" make_example "ring$ring" \
			EXTRA_CFLAGS="-DDIRECT=300 -DPOINTER=100"
		unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT LITIFUT_RING_KB
		emulate "ring$ring/firmware.elf" "ring$ring.serial"
		post -q -f tsv -o "ring$ring.tsv" "ring$ring.serial" "ring$ring/firmware.elf" 2>words
		ok "a line says that the clock stood" grep -q 'clock of the device has not moved' words
		sed -n 's/.*: \([0-9]*\) events found no room.*/\1/p' words >"ring$ring.lost"
	done
	ok "all is in the largest one" [ ! -s ring64.lost ]
	# 300 calls and returns, 100 with a callee, and those of the start-up code
	is "as many are lost as a smaller one has less room for" \
		$(($(cat ring1.lost) - $(cat ring4.lost))) $((3 * 1024 / 8))
	head -n "$(wc -l <ring4.tsv)" ring64.tsv >begin.tsv
	ok "what is in it is the begin" cmp ring4.tsv begin.tsv
}

# known_calls [HEAD]: calls of `callee` that are known from the memory at the end of a run, in which main() began with this
# position of the next event
known_calls()
{
	gdb-multiarch -q -batch -nx -ex "set remotetimeout 100" -ex "file anew/firmware.elf" \
		-ex "target remote | timeout 60 qemu-system-arm -M $board -display none -monitor none \
			-icount shift=4 -serial null -semihosting -kernel anew/firmware.elf -S -gdb stdio" \
		-ex "break main" -ex continue -ex "set {unsigned}((char *)&litifut_pool + 16) = ${1:-20}" \
		-ex "break _exit" -ex continue -ex "dump binary memory anew.bin ((unsigned)&__data_start) ((unsigned)&end)" \
		>gdb.log 2>&1
	post -q -f csv anew.bin anew/firmware.elf 2>post.log | awk -F, '$4 == "\"callee\"" { sum += $7 } END { print sum + 0 }'
}

# Positions of events begin at 0 again after 2^32 of them, for which no test has the time; those before are not shown
# then. A call through a pointer is two events, which may not have room beside each other before that.
begins_anew()
{
	cp "$root/tests/firmware/calls.c" source/main.c
	cp "$root/examples/firmware/startup.c" source
	export LITIFUT_MODE=spans LITIFUT_CLOCK=systick LITIFUT_RING_KB=4
	ok "positions that begin anew: it links traced" traced anew make_example anew \
		EXTRA_CFLAGS="-DDIRECT=3 -DPOINTER=20"
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_RING_KB
	is "positions that begin anew: else all calls are known" "$(known_calls)" 23
	is "positions that begin anew: all but two" "$(known_calls 0xfffffffb)" 21
	is "positions that begin anew: all but three, of which one returns behind" "$(known_calls 0xfffffffa)" 20
	is "positions that begin anew: all but three" "$(known_calls 0xfffffff9)" 20
	[ "$board" = microbit ] || # there the callee is left out
		is "positions that begin anew: all but three, and one is left out" "$(known_calls 0xfffffff8)" 20
}

# A pin, whose register is that of a second serial line here, and the energy of functions by it.
pins()
{
	cp "$root/examples/firmware/main.c" "$root/examples/firmware/startup.c" source
	sed -i 's/while (!ticks)/while (ticks < 23)/
		s/board_start_ticks(20000);/*(volatile uint32_t *)0x40005008 = 1; board_start_ticks(50000);/' \
		source/main.c
	send_behind '^		values\[i\] = .*'
	send_behind '^	printf("[a-z]* .*'
	export LITIFUT_MARK_SET=0x40005000:0x55 LITIFUT_MARK_CLEAR=0x40005000:0x44
	LITIFUT_MARK_EVERY=4 link_spans pins EXTRA_CFLAGS="-I$root/include"
	LITIFUT_MARK_EVERY=1 link_spans always EXTRA_CFLAGS="-I$root/include" >/dev/null
	LITIFUT_INCLUDE=main LITIFUT_MARK_EVERY=4 link_spans chosen EXTRA_CFLAGS="-I$root/include"
	unset LITIFUT_MARK_SET LITIFUT_MARK_CLEAR
	ok "pins: that every interrupt sets one has a line that says so" \
		grep -q 'untraced: LITIFUT_MARK_EVERY: at least 2' always.log
	emulate pins/firmware.elf pins.serial -serial file:pin
	is "pins: it is set and cleared" "$(cat pin)" UDUDUDUDUD
	# where the CPU has no access to a word at any address, the compiler would do it by bytes
	is "pins: by a whole word" "$(arm-none-eabi-objdump --disassemble=litifut_pin_tick \
		"$BUILD/lib/litifut/firmware-v6m.a" | grep -c 'strb.*#[123]\]')" 0
	emulate chosen/firmware.elf chosen.serial -serial file:chosen.pin
	is "pins: it is, too, where functions are chosen" "$(cat chosen.pin)" UDUDUDUDUD
	ok "pins: events" python3 "$root/tests/oracle/spans.py" energy pins.serial \
		pins/firmware.elf power.csv truth
	post energy -q -f tsv -o energy.tsv --power power.csv --sync D0 pins.serial \
		pins/firmware.elf
	ok "pins: the energy of a function, by the marks of the pin" python3 -c '
import csv
joules, calls, pins = open("truth").read().split()
row, = [row for row in csv.DictReader(open("energy.tsv"), delimiter="\t")
        if list(row.values())[0] == "fibonacci"]
print(row, joules, calls, pins)
assert int(row["calls"]) == int(calls) and int(pins) == 5
assert abs(float(row["self_j"]) / float(joules) - 1) < 0.01'
}

behaviour()
{
	case $board in
	netduino2) tick=7500 slow=80000 ;;
	*) tick=1600 slow=16400 ;;
	esac
	ring=4
	cp -r "$root/examples/firmware" source
	# the clock runs from before main() to the end, and ticks after the results were sent call
	# nothing
	sed -i 's/board_start_ticks(20000);//; s/board_stop_ticks();//
		s/count_even();/even_ticks++;/
		s/ __attribute__((noinline)) count_even/ __attribute__((unused)) count_even/' source/main.c
	sed -i '/^void SystemInit/,/^}/s/board_init();/board_init(); board_start_ticks(60000);/' \
		source/startup.c
	send_behind '^		values\[i\] = .*'
	send_behind '^	printf("[a-z]* .*'
	send_behind '^		result = operations.*'
	make_example plain EXTRA_CFLAGS="-I$root/include" >/dev/null
	emulate plain/firmware.elf plain.serial
	ok "it links traced" link_spans spans EXTRA_CFLAGS="-I$root/include"
	is "litifut info says so" "$("$BUILD/bin/litifut" info spans/firmware.elf |
		sed -n 's/^  mode  *//p')" spans
	ok "each site is there as often as it is executed" counts_equal_calls spans/firmware.elf
	ok "nothing is lost" is_whole spans/firmware.elf
	post -q -f csv -o times.csv spans/firmware.elf.serial spans/firmware.elf
	ok "times are those of the executed instructions" python3 \
		"$root/tests/oracle/firmware.py" times spans/firmware.elf \
		spans/firmware.elf.oracle times.csv 100
	emulate plain/firmware.elf plain.serial
	ok "it prints the same" test -s plain.serial -a \
		"$(texts_of plain.serial)" = "$(texts_of spans/firmware.elf.serial)"

	# nested interrupts, which come at each possible moment, while events are sent
	sed 's/\<400\>/'$slow'/; s/\<501\>/8009/; s/\<3000\>/600/' "$root/tests/firmware/nested.c" \
		>source/main.c
	sed -i 's/^		through(i);/		through(i), litifut_send ? litifut_send() : (void)0;/
		s/^#include "board.h"/&\n#include <litifut\/firmware.h>/' source/main.c
	cp "$root/tests/firmware/startup.c" source
	ok "interrupts: it links traced" link_spans nested EXTRA_CFLAGS="-I$root/include"
	ok "interrupts: each site is there as often as it is executed" \
		counts_equal_calls nested/firmware.elf
	ok "interrupts: nothing is lost" is_whole nested/firmware.elf
	ok "interrupts: there were many in interrupts" grep -q many nested/firmware.elf.serial

	# by the counter of cycles, which QEMU does not have: without a timer a run is the same each time
	case $board in
	mps2-an385)
		in_small_rings
		begins_anew
		pins
		;;
	microbit) begins_anew ;;
	lm3s6965evb | mps2-an386 | mps2-an500) return ;;
	esac

	# two tasks, and calls that end by longjmp()
	cp "$root/tests/firmware/tasks.c" source/main.c
	cp "$root/tests/firmware/pendsv.h" source
	cp "$root/tests/firmware/startup.c" source
	ring=8
	ok "tasks: it links traced" link_spans tasks \
		EXTRA_CFLAGS="-DTICK=$tick -DROUNDS=12 -DJUMPS=12"
	ok "tasks: each site is there as often as it is executed" \
		counts_equal_calls tasks/firmware.elf
	ok "tasks: nothing is lost" is_whole tasks/firmware.elf
	ok "tasks: they were switched" grep -q 'm$' tasks/firmware.elf.serial
	post -q -f csv -o tasks.csv tasks/firmware.elf.serial tasks/firmware.elf
	# 12 times, at depths of 0 to 5
	is "tasks: every call has its time" "$(python3 -c '
import csv
rows = [row for row in csv.DictReader(open("tasks.csv")) if row["callee"] in ("work", "leaf")]
print(*(sum(int(row[name]) for row in rows) for name in ("calls", "timed_calls")))')" \
		"252 252"
}

for_boards behaviour
