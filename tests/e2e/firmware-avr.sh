#!/bin/sh
# Firmware for AVR, compiled and linked in the ways that makefiles do: it prints the same when it
# is traced, each call site is counted as often as it is executed, with interrupts that interrupt
# each other, and a call finds all registers as they were; with stubs for speed and for size,
# below and beyond 128 KB, and on devices that have no call instruction of 4 bytes.
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# try NAME SOURCE FLAGS...
try()
{
	for stubs in fast small byte; do
		export LITIFUT_STUBS="$stubs" LITIFUT_PORT=usart
		case $device in
		attiny* | atmega8) unset LITIFUT_PORT ;;
		esac
		ok "it links traced ($1, $stubs)" avr "$@"
		unset LITIFUT_STUBS LITIFUT_PORT
		ok "each site is counted as often as it is executed ($1, $stubs)" \
			counts_equal_calls "$1"
		ok "a call keeps all registers ($1, $stubs)" registers_are_kept "$1"
		case $device in
		attiny* | atmega8) ;;
		*) ok "it prints the same ($1, $stubs)" prints_the_same "$1" ;;
		esac
	done
}

report_has()
{
	"$BUILD/bin/litifut-post" -q -f edges "$1" "$2" | tee /dev/stderr | grep -q " $3\$"
}

# link_with ROOM FLAGS...: with so many bytes of memory taken, at a device with 2 KB
link_with()
{
	room=$1
	shift
	avr-gcc -mmcu="$device" -Os -DTAKEN="$room" "$root/tests/firmware/avr_room.c" -o plain-room.elf &&
		"$@" "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os -DTAKEN="$room" \
			"$root/tests/firmware/avr_room.c" -o room.elf >room.log 2>&1
}

# missing_with SETTING=VALUE: the bytes of flash that are missing where there is room for few stubs
missing_with()
{
	env "$1" "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os "$root/tests/firmware/avr_many.c" -o few.elf \
		"-Wl,--defsym=__TEXT_REGION_LENGTH__=$(($(avr-size plain-many.elf | awk 'NR == 2 { print $1 + $2 }') + 64))" 2>&1 |
		sed -n 's/.*left untraced: .*overflowed by \([0-9]*\) bytes.*/\1/p'
}

# A section stands behind the code, where the stubs have no room.
with_stamp()
{
	"$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os "$root/tests/firmware/avr_bare.c" \
		"$root/tests/firmware/avr_stamp.c" -o stamp.elf \
		-Wl,--section-start=.stamp=0xb0,--defsym=__TEXT_REGION_LENGTH__=room >stamp.log 2>&1
}

free_port()
{
	python3 -c 'import socket; s = socket.socket(); s.bind(("", 0)); print(s.getsockname()[1])'
}

# captured ELF: remote.bin is what is read at $gdb_port, once $node serves it
captured()
{
	patience=100
	until "$BUILD/bin/litifut" capture -o remote.bin --gdb "$1" "localhost:$gdb_port" 2>words; do
		patience=$((patience - 1))
		if [ $patience = 0 ] || ! grep -q 'no gdb remote is there' words; then
			cat words remote.log
			kill "$node"
			return 1
		fi
		sleep 0.1
	done
}

# by_remote NAME: runs it, and then reads its memory, into remote.bin
by_remote()
{
	gdb_port=$(free_port)
	"$simulator" -g "$gdb_port" "$device" "$1.elf" >remote.log 2>&1 &
	node=$!
	captured "$1.elf" && wait $node
}

# The same by AVaRICE, with a simulated JTAG ICE that has what the program has left in memory.
by_avarice()
{
	gdb_port=$(free_port)
	rm -f line remote.bin
	python3 "$root/tests/jtag_ice.py" "$1.memory" >line &
	ice=$!
	patience=100
	until [ -s line ] || [ $((patience -= 1)) = 0 ]; do sleep 0.1; done
	timeout 60 avarice --mkI --capture --jtag "$(cat line)" "localhost:$gdb_port" >remote.log 2>&1 &
	node=$!
	captured "$1.elf"
	captured_status=$?
	wait $node
	kill $ice
	return $captured_status
}

# same_edges RESULTS OTHERS ELF
same_edges()
{
	"$BUILD/bin/litifut-post" -q -f edges -o some.edges "$1" "$3" &&
		"$BUILD/bin/litifut-post" -q -f edges -o other.edges "$2" "$3" &&
		[ -s some.edges ] && diff some.edges other.edges
}

# calls_are_missing RESULTS: the report has as many calls fewer of leap() as it says
calls_are_missing()
{
	"$BUILD/bin/litifut-post" -f edges "$1" leaps.elf >leaps.edges 2>leaps.words
	cat leaps.edges leaps.words >&2
	missing=$(sed -n 's/.*counts are too low by \([0-9]*\) calls.*/\1/p' leaps.words)
	counted=$(sed -n 's/^ *\([0-9]*\)  *main -> leap$/\1/p' leaps.edges)
	[ "$missing" -gt 0 ] && [ $((missing + counted)) = $((25 * 600)) ]
}

# All registers and flags, at the callee and behind the call, whether the callee is the site's first one, one in the
# overflow table, or one for which that has no place.
through_pointers()
{
	for mode in counts table spans stream; do
		export LITIFUT_MODE=$mode LITIFUT_CLOCK=timer1
		ok "it links traced (through pointers, $mode)" avr pointers avr_pointers.c -Os
		unset LITIFUT_MODE LITIFUT_CLOCK
		"$simulator" -u pointers.serial -m pointers.memory "$device" pointers.elf >&2
		ok "calls through pointers keep all registers ($mode)" prints_the_same pointers
		[ $mode = spans ] || [ $mode = stream ] || is "some callees have no place ($mode)" \
			"$("$BUILD/bin/litifut-post" -f edges pointers.memory pointers.elf 2>&1 >pointers.edges |
				sed -n 's/.*: \([0-9]*\) calls through pointers found no place.*/\1/p')" 9
		[ $mode = counts ] || [ $mode = table ] || continue
		export LITIFUT_MODE=$mode LITIFUT_CLOCK=timer1 LITIFUT_CALLEES=20
		ok "it links traced (room for each callee, $mode)" avr pointers avr_pointers.c -Os
		unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_CALLEES
		"$simulator" -u pointers.serial -m pointers.memory "$device" pointers.elf >&2
		ok "calls through pointers keep all registers (room for each callee, $mode)" prints_the_same pointers
		"$BUILD/bin/litifut-post" -f edges pointers.memory pointers.elf >pointers.edges 2>pointers.words
		ok "no callee is without a place ($mode)" sh -c \
			'! grep "no place" pointers.words && awk '\''/^ *[1-9].*probe -> /{sum += $1}END{exit sum != 60}'\'' pointers.edges'
	done
	is "that many calls were looked at" "$(wc -l <plain-pointers.serial)" 60
}

# More sites that are called often than have room for what is carried.
too_many()
{
	export LITIFUT_STUBS=byte LITIFUT_PORT=usart
	ok "it links traced (too many)" avr leaps avr_leaps.c -Os -DLEAPS=600 -DSITES=24
	unset LITIFUT_STUBS LITIFUT_PORT
	ok "a call keeps all registers (too many)" registers_are_kept leaps
	"$simulator" -u leaps.serial -m leaps.memory "$device" leaps.elf >&2
	ok "counts that are too low are said (memory)" calls_are_missing leaps.memory
	ok "counts that are too low are said (serial line)" calls_are_missing leaps.serial
	export LITIFUT_STUBS=byte LITIFUT_CARRIES=17
	ok "it links traced (room for as many)" avr leaps avr_leaps.c -Os -DLEAPS=600 -DSITES=24
	ok "each site is counted as often as it is executed (room for as many)" counts_equal_calls leaps
	export LITIFUT_CARRIES=16
	ok "it links traced (many sites, few carries)" avr many avr_many.c -Os
	unset LITIFUT_STUBS LITIFUT_CARRIES
	is "bytes for what few of the sites carry" \
		"$(avr-nm -S many.elf | sed -n 's/^[^ ]* 0*\([^ ]*\) B litifut_carries$/\1/p')" 40
}

# Data that looks like a call of main() until the tracer's code is between: then one site less is patched than was planned.
less_than_planned()
{
	for calls in 1 2 3 4; do
		avr-gcc -mmcu="$device" -Os -DCALLS=$calls "$root/tests/firmware/avr_data.c" -o unlike.elf
		word=$(avr-nm -n unlike.elf | while read -r address _ name; do
			case $name in
			words) echo "$((0x$address))" >unlike.words ;;
			main) echo $((53248 + ((0x$address - $(cat unlike.words) - 2) / 2 & 4095))) ;;
			esac
		done)
		export LITIFUT_STUBS=byte
		ok "it links traced (fewer sites than planned, $calls)" avr data avr_data.c -Os -DCALLS=$calls -DDATA="$word"
		unset LITIFUT_STUBS
		ok "each site is counted as often as it is executed (fewer sites than planned, $calls)" counts_equal_calls data
	done
}

# is_said WORDS CODE [FLAG]: of a program whose main() has this code, the link says so many times that it never ends
is_said()
{
	cat >main.c <<-END
		#include <stdlib.h>

		volatile unsigned char state;

		static void __attribute__((noinline)) work(unsigned char value)
		{
			state ^= value;
		}

		static void __attribute__((noinline, optimize("O0"))) run(void)
		{
			for (;;)
				work(1);
		}

		static void __attribute__((noinline, used)) choose(void)
		{
			for (;;)
				switch (state) { $cases }
		}

		static void __attribute__((noinline, used)) mix(unsigned a, unsigned b, unsigned c, unsigned d)
		{
			for (;;) {
				work(a);
				a += b; b ^= c; c += d; d ^= a; state += a + b + c + d;
			}
		}

		int main(void)
		{
			$2
		}
	END
	# shellcheck disable=SC2086
	avr-gcc -mmcu="$device" -Os ${3:-} -c main.c &&
		LITIFUT_PORT=usart "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" main.o -o main.elf >main.log 2>&1
	cat main.log >&2
	[ "$(grep -c 'main.elf: the results are never sent, as main() does not return, .* or tick:N:__vector_N$' main.log)" = "$1" ]
}

# The start-up code calls exit() in any case.
never_ends()
{
	cases='case 0: work(1); break; case 1: work(2); break; case 2: work(3); work(9); break; case 3: state = 7; break;
		case 4: work(state); break; case 5: state *= 3; break; case 6: state = 2; break;'
	ok "a main() with a switch that never returns is said" is_said 1 "for (;;) switch (state) { $cases }"
	ok "and one that calls what does not return" is_said 1 'work(2); run(); return 0;'
	ok "not of one that returns" is_said 0 'for (; state < 9; state++) work(1); return 0;'
	ok "nor from a switch" is_said 0 "for (;;) switch (state) { $cases case 9: return 1; }"
	ok "nor of one that calls exit()" is_said 0 'for (;;) { work(1); if (state) exit(0); }'
	ok "a loop that never ends is said" is_said 1 'for (;;) work(1);'
	ok "and one with a switch in a function that is called" is_said 1 'choose(); return 0;'
	ok "and one in a function whose registers are saved elsewhere" is_said 1 'mix(state, 2, 3, 4); work(2); return 0;' -mcall-prologues
	ok "not of functions that may return" is_said 0 'if (state) mix(state, 2, 3, 4); work(2); return 0;' -mcall-prologues
}

# last_line SETTING: that of `litifut build'; all of its lines are in main.log
last_line()
{
	env "$1" "$BUILD/bin/litifut" build avr-gcc -mmcu="$device" main.o -o main.elf 2>&1 | tee main.log | tail -n 1
}

no_ports()
{
	is "without a port the last line says how to get the results" "$(last_line LITIFUT_MODE=table)" \
		"litifut: 1 linked file traced; nothing sends the results: read them by \`litifut capture --gdb main.elf HOST:PORT', or set LITIFUT_PORT (user, packet, usart)"
	"$simulator" -m main.memory -c 8000000 "$device" main.elf >main.simulated 2>&1
	is "simavr sees the end of each interrupt of the timer" "$(grep -c 'nested' main.simulated)" 0
	is "without the clock's frequency the report says once what to set" \
		"$("$BUILD/bin/litifut-post" -q -f report main.memory main.elf | grep -c 'times are ticks (LITIFUT_CLOCK=NAME:HERTZ at the link says it)')" 1
	is "one that no CPU has is refused" "$(LITIFUT_MODE=table last_line LITIFUT_CLOCK=timer1:1000 >&2
		grep -c 'left untraced: LITIFUT_CLOCK: timer1 counts as fast as the CPU, .*: timer1:1000$' main.log)" 1
	is "not where the memory is meant to have them" "$(last_line LITIFUT_PORT=memory)" "litifut: 1 linked file traced"
	export LITIFUT_MODE=spans LITIFUT_SEND=call:work
	is "with little memory the ring of events is smaller" "$(last_line LITIFUT_PORT=usart)" "litifut: 1 linked file traced"
	is "which is said" "$(grep -c 'main.elf: the memory has room for a ring of 1 KB only: .*LITIFUT_INCLUDE.*LITIFUT_RING_KB=1 ' main.log)" 1
	is "litifut info says so as well" "$("$BUILD/bin/litifut" info main.elf | sed -n 's/^  ring  *//p')" \
		"128 events, as the usual 2 KB have no room"
	is "and not where it has room" "$(LITIFUT_RING_KB=1 last_line LITIFUT_PORT=usart >&2
		grep -c 'room for a ring' main.log
		"$BUILD/bin/litifut" info main.elf | sed -n 's/^  ring  *//p')" "0
128 events"
	is "but not where its size is asked for" "$(LITIFUT_RING_KB=2 last_line LITIFUT_PORT=usart)" \
		"litifut: 0 linked files traced, 1 left plain: main.elf"
	unset LITIFUT_MODE LITIFUT_SEND
	for kb in '' 1; do
		LITIFUT_MODE=spans LITIFUT_PORT=usart LITIFUT_RING_KB=$kb "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os \
			"$root/tests/firmware/avr_times.c" -o lost.elf >&2
		"$simulator" -u lost.serial "$device" lost.elf >&2
		"$BUILD/bin/litifut-post" -f report -o lost.text lost.serial lost.elf 2>"lost$kb.words"
	done
	ok "a larger ring is not the advice where it has no room" \
		grep -q '[1-9][0-9]* events found no room in the ring of the device: send more often (LITIFUT_SEND), .* no room for a larger ring$' lost.words
	ok "but where it may have" grep -q 'found no room .*: link with a larger LITIFUT_RING_KB, or' lost1.words
	is "a port that the CPU does not have: one line says which it has" "$(last_line LITIFUT_PORT=cmsdk)" \
		"litifut: 0 linked files traced, 1 left plain: main.elf"
	is "and why" "$(sed 's/^litifut-ld: warning: main.elf: //;q' main.log)" \
		"left untraced: LITIFUT_PORT: neither a port of this CPU (memory, user, packet, usart) nor the path of an object: cmsdk"
}

# last_words SETTING=VALUE...: why the program is left untraced
last_words()
{
	env "$@" "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os "$root/tests/firmware/avr_times.c" -o meant.elf 2>&1 |
		sed -n 's/.*left untraced: //p; s/^litifut: warning: //p'
}

# What a setting names that does not exist is compared with what does.
proposals()
{
	export LITIFUT_PORT=usart
	is "a function to send that is misspelt" "$(last_words LITIFUT_SEND=call:shorest)" \
		"LITIFUT_SEND: no such function: shorest; did you mean shortest?"
	is "one to start at" "$(last_words LITIFUT_START_AT=shorest)" "LITIFUT_START_AT: no such function: shorest; did you mean shortest?"
	is "one like no other" "$(last_words LITIFUT_START_AT=blinking)" "LITIFUT_START_AT: no such function: blinking"
	is "a moment to send that is misspelt" "$(last_words LITIFUT_SEND=cal:shortest | sed 's/.*: //')" "cal:shortest; did you mean call:shortest?"
	is "a function where there is to be a moment" "$(last_words LITIFUT_SEND=shortest | sed 's/.*: //')" \
		"shortest; did you mean call:shortest?"
	is "a tick that is too long is like none" "$(last_words LITIFUT_SEND=tick:70000 | sed 's/.*: //')" tick:70000
	is "a port that is misspelt" "$(last_words LITIFUT_PORT=uart | sed 's/.*: //')" "uart; did you mean usart?"
	unset LITIFUT_PORT
	is "the name of a setting that is shortened" "$(last_words LITIFUT_CLK=timer1)" \
		"LITIFUT_CLK: no such setting, ignored; did you mean LITIFUT_CLOCK?"
}

# post_says NAME ARGUMENTS...: the lines of litifut-post about the results of NAME
post_says()
{
	post_of=$1
	shift
	"$BUILD/bin/litifut-post" "$@" "$post_of.serial" "$post_of.elf" >"$post_of.out" 2>"$post_of.words"
	cat "$post_of.words"
}

# What is said where nothing was recorded, or lines are not known.
explanations()
{
	export LITIFUT_MODE=table LITIFUT_PORT=usart
	times="avr-gcc -mmcu=$device -Os $root/tests/firmware/avr_times.c"
	for how in "late LITIFUT_START_AT=longest" "never LITIFUT_START_AT=pointed" "plain LITIFUT_START_AT=" "lines LITIFUT_START_AT= -gdwarf-2"; do
		# shellcheck disable=SC2086
		set -- $how
		# shellcheck disable=SC2086
		env "$2" "$BUILD/bin/litifut" build -q $times ${3:-} -o "$1.elf" >"$1.log" 2>&1
		"$simulator" -u "$1.serial" "$device" "$1.elf" >&2
	done
	unset LITIFUT_MODE LITIFUT_PORT
	is "a call that is missing may be of a time without recording" "$(post_says late callers-of shortest | grep -c \
		'no call of shortest in these traces: not executed, or inlined by the compiler, or recording was off$')" 1
	is "not where all is recorded" "$(post_says plain callers-of __init |
		grep -c 'no call of __init in these traces: not executed, or inlined by the compiler$')" 1
	is "a firmware lacks no maps" "$(post_says never -f report | grep -c 'maps file')" 0
	is "though it has recorded nothing" "$(post_says never -f report | grep -c ': 0 calls')" 1
	is "without lines it is said what to compile with" "$(post_says plain callers-of --lines varied |
		grep -c 'so no source lines are shown: compile with -gdwarf-2$')" 1
	is "not where there are some" "$(post_says lines callers-of --lines varied | grep -c 'compile with')" 0
	ok "but the lines" grep -q 'avr_times.c:[1-9]' lines.out
	avr-objcopy -O ihex plain.elf plain.hex
	is "what the simulator can't run it says" "$("$simulator" "$device" plain.hex 2>&1)" \
		"avr: plain.hex is not an ELF file: give the one that the linker has written, not what objcopy has made of it (hex, bin)"
	is "also a program of this machine" "$("$simulator" "$device" "$BUILD/bin/litifut" 2>&1)" "avr: $BUILD/bin/litifut is not a program for AVR"
}

behaviour()
{
	case $device in
	attiny* | atmega8)
		try tiny avr_tiny.c -Os
		"$BUILD/bin/litifut" info --skipped tiny.elf >left
		ok "shared code of helpers is left" grep -q 'local-subroutine in __divmodhi4' left
		return
		;;
	atmega1284p)
		try size avr_truth.c -Os
		"$BUILD/bin/litifut" info --sites size.elf >sites
		ok "a tail call is a call" grep -q 'tail .* patched in tail_of' sites
		is "a jump to an address from a table of labels is not" \
			"$(grep -c 'tail-indirect .* in \(by_label\|setjmp\|longjmp\)$' sites)" 0
		ok "one through a pointer is" grep -q 'tail-indirect .* patched in apply' sites
		ok "litifut capture reads the memory by simavr's gdb server" by_remote size
		ok "as it is in a dump" same_edges size.memory remote.bin size.elf
		if command -v avarice >/dev/null; then
			ok "litifut capture reads the memory by AVaRICE" by_avarice size
			ok "as it is in a dump (AVaRICE)" same_edges size.memory remote.bin size.elf
		else
			skip "AVaRICE" "it is not installed"
		fi
		ok "results by the serial line" report_has size.serial size.elf \
			'main -> fibonacci'
		through_pointers
		less_than_planned
		export LITIFUT_STUBS=byte LITIFUT_PORT=usart
		ok "it links traced (many, byte)" avr many avr_many.c -Os
		unset LITIFUT_STUBS LITIFUT_PORT
		ok "each site is counted as often as it is executed (many, byte)" counts_equal_calls many
		ok "the sender reads no memory below many counters" report_has many.serial many.elf \
			'main -> flush'
		try speed avr_truth.c -O2 -DEARLY
		try relaxed avr_truth.c -Os -mrelax
		try whole avr_truth.c -Os -flto -mrelax
		"$BUILD/bin/litifut-post" -q -f gmon -o gmon.out size.memory size.elf
		avr-gprof -b -q size.elf gmon.out >gprof.text 2>/dev/null
		ok "avr-gprof names functions that are only labels" grep -q '__udivmodhi4 \[' gprof.text
		is "and that the start-up code calls main()" \
			"$(sed -n '/^\[[0-9]*\].* main \[/{x;p;q};h' gprof.text | awk '{ print $(NF - 1) }')" __init
		;;
	atmega2560)
		through_pointers
		try large avr_truth.c -Os -DLARGE
		ok "pointers beyond 128 KB lead to their functions" report_has large.memory \
			large.elf 'apply -> scaled'
		;;
	atmega328p)
		ok "a program without data links" avr bare avr_bare.c -Os
		ok "and is counted" counts_equal_calls bare
		ok "a section behind the code, where the tracer has no room" with_stamp
		ok "it is said which sections overlap, by how much, and not that 0 bytes are missing" sh -c \
			'grep -q "no room for the tracer: section .stamp .* overlaps section .text .*: overflowed by [1-9]" stamp.log &&
			! grep -q "by 0 bytes" stamp.log'
		ok "counters that leave no room for the stack" link_with 1770 env
		ok "are not linked in" cmp plain-room.elf room.elf
		ok "and it is said how much is missing" \
			grep -q 'no room for the tracer: the RAM.* overflowed by [0-9]* bytes' room.log
		ok "counters that leave no room in the memory" link_with 2030 env
		beyond=$(sed -n 's/.*not within region .data.: overflowed by \([0-9]*\) bytes: trace fewer functions (LITIFUT_INCLUDE)$/\1/p' room.log)
		ok "with four bytes more" link_with 2026 env
		is "as many less are missing" "$(sed -n 's/.* overflowed by \([0-9]*\) bytes: trace fewer functions (LITIFUT_INCLUDE)$/\1/p' room.log)" \
			$((${beyond:-0} - 4))
		advice='trace fewer functions (LITIFUT_INCLUDE), or set LITIFUT_DEPTH to fewer open calls than 8$'
		ok "records with times that leave no room for the stack" link_with 1530 env LITIFUT_MODE=table
		ok "are not linked in" cmp plain-room.elf room.elf
		beyond=$(sed -n "s/.*left untraced: no room for the tracer: the RAM.* overflowed by \([0-9]*\) bytes: $advice/\1/p" room.log)
		ok "with four bytes more (table)" link_with 1526 env LITIFUT_MODE=table
		is "as many less are missing (table)" "$(sed -n "s/.* overflowed by \([0-9]*\) bytes: $advice/\1/p" room.log)" \
			$((${beyond:-0} - 4))
		# the records begin at a multiple of 4
		ok "with as many as were missing" link_with $((1530 - (${beyond:-0} + 3) / 4 * 4)) env LITIFUT_MODE=table
		ok "they are linked in" sh -c '"$BUILD/bin/litifut" info room.elf | grep -q "mode  *table"'
		ok "and it is said that the pool is smaller" grep -q 'no more than 8 open calls: .*LITIFUT_INCLUDE.*LITIFUT_DEPTH=8 ' room.log
		ok "where more of it has room, it is larger" link_with 1300 env LITIFUT_MODE=table
		ok "which is said" grep -q 'no more than 16 open calls' room.log
		is "litifut info has the number" "$("$BUILD/bin/litifut" info room.elf | sed -n 's/^  open calls  *//p')" \
			"16 at most, as the usual 32 have no room"
		ok "a pool that is asked for is not made smaller" link_with 1300 env LITIFUT_MODE=table LITIFUT_DEPTH=32
		ok "it is said what to set" grep -q 'overflowed by .* (LITIFUT_INCLUDE), or set LITIFUT_DEPTH to fewer open calls than 32$' room.log
		ok "where 4 bytes for each counter have no room, those of a byte are taken" \
			avr many avr_many.c -Os
		ok "which litifut info says" sh -c \
			'"$BUILD/bin/litifut" info many.elf | grep -q "engine  *stubs, byte"'
		ok "each site is counted as often as it is executed (many)" counts_equal_calls many
		few=$(missing_with LITIFUT_STUBS=small)
		is "with room for few stubs it is said what the smallest ones lack" "$(missing_with LITIFUT_STUBS=)" "${few:-a number}"
		too_many
		never_ends
		no_ports
		proposals
		explanations
		ok "with some room they are" link_with 1500 env
		ok "it is traced" sh -c '"$BUILD/bin/litifut" info room.elf | grep -q "sites patched  *[7-9]"'
		try prologues avr_truth.c -Os -mcall-prologues
		try unoptimised avr_truth.c -O0
		;;
	*) try truth avr_truth.c -Os ;;
	esac
}

for_devices behaviour
