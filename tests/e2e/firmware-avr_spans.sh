#!/bin/sh
# LITIFUT_MODE=spans on AVR: calls and returns as events, sent while the program runs, with interrupts that
# interrupt each other and returns of 2 and 3 bytes. Each call is there, none is lost, a call and its return keep
# all registers, the program prints the same, and times are those of the untraced program. A ring that is too
# small says what it has lost. With LITIFUT_MODE=stream the calls are those that were executed, in order, and
# timer 1 is the program's.
DEVICES=${DEVICES:-atmega1284p atmega2560}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# link_spans KB SEND NAME SOURCE FLAGS...
link_spans()
{
	export LITIFUT_MODE=spans LITIFUT_CLOCK=timer1:8000000 LITIFUT_PORT=usart LITIFUT_RING_KB="$1" \
		LITIFUT_SEND="$2"
	shift 2
	avr "$@"
	linked=$?
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT LITIFUT_RING_KB LITIFUT_SEND
	return $linked
}

# The last call of all is made behind the last sending.
events_equal_calls()
{
	python3 "$root/tests/oracle/firmware_avr.py" sites "$1.elf" >"$1.sites" &&
		"$simulator" -s "$1.sites" -o "$1.executed" -u "$1.serial" "$device" "$1.elf" >&2 &&
		"$BUILD/bin/litifut-post" -f gmon -o "$1.gmon" "$1.serial" "$1.elf" 2>"$1.words" &&
		{ python3 "$root/tests/oracle/firmware_avr.py" check "$1.elf" "$1.executed" "$1.gmon" >"$1.check" ||
			:; } && cat "$1.check" "$1.words" >&2 && ! grep -q 'unknown record' "$1.check" &&
		[ "$(grep -vc '^executed ' "$1.check")" = 1 ] &&
		grep -q 'tail in __init: executed 1, counted 0$' "$1.check" &&
		grep -q ' 0 lost,.* 0 unresolved' "$1.words" && [ "$(wc -l <"$1.words")" = 1 ]
}

text_stays()
{
	"$simulator" -u "plain-$1.serial" "$device" "plain-$1.elf" >&2 &&
		"$BUILD/bin/litifut" capture --rounds 1000 "$1.serial" -o frames 2>words |
		diff "plain-$1.serial" -
}

# What the tracer adds to the time of a call is the same for all.
times_are_right()
{
	avr-nm plain-times.elf | awk '$3 ~ /^(shortest|milliseconds|longest)$/' >functions
	cut -d ' ' -f 1 functions >addresses
	"$simulator" -t addresses "$device" plain-times.elf 2>/dev/null >truth &&
		"$simulator" -u times.serial "$device" times.elf >&2 &&
		"$BUILD/bin/litifut-post" -q -f csv times.serial times.elf >ours && cat truth ours >&2 &&
		python3 - functions truth ours <<-'END'
	import csv, sys
	names = {int(line.split()[0], 16): line.split()[2] for line in open(sys.argv[1])}
	truth = {names[int(line.split()[0], 16)]: [int(word) for word in line.split()[1:4]]
	         for line in open(sys.argv[2]) if line.split()[0].strip("0123456789abcdef") == ""}
	ours = {row["callee"]: [float(row[key]) / 125 for key in ("min_ns", "max_ns")]
	        for row in csv.DictReader(open(sys.argv[3])) if row["min_ns"]}
	added = ours["shortest"][0] - truth["shortest"][1]
	wrong = len(truth) != 3 or not 40 < added < 100
	for name, (calls, least, most) in truth.items():
	    print(name, least, most, ours[name], added, file=sys.stderr)
	    # interrupts of the timer come in between
	    interrupts = most // 65536 + 1
	    wrong |= not -2 < ours[name][0] - added - least < 150 * interrupts
	    wrong |= not -2 < ours[name][1] - added - most < 150 * interrupts
	sys.exit(wrong)
	END
}

# Overflows of the clock are lost with calls. A call of leaf() takes some 700 cycles, and 800 of them several
# overflows: none may seem to have been during a call.
times_behind_losses()
{
	cat >gaps.c <<-'END'
		#include <avr/interrupt.h>

		volatile unsigned value;

		static void __attribute__((noinline, noclone)) leaf(void)
		{
			for (unsigned char i = 0; i < 50; i++)
				value++;
		}

		static void __attribute__((noinline, noclone)) idle(void)
		{
			value--;
		}

		int main(void)
		{
			sei();
			for (unsigned char round = 0; round < 20; round++) {
				for (unsigned i = 0; i < 800; i++)
					leaf();
				idle();
			}
			return 0;
		}
	END
	LITIFUT_MODE=spans LITIFUT_PORT=usart LITIFUT_RING_KB=1 LITIFUT_SEND=call:idle LITIFUT_CLOCK=timer1:1000000 \
		"$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os gaps.c -o gaps.elf >&2
	"$simulator" -u gaps.serial "$device" gaps.elf >&2
	"$BUILD/bin/litifut-post" -q -f csv -o gaps.csv gaps.serial gaps.elf
	cat gaps.csv >&2
	tr -d '"\r' <gaps.csv | awk -F , '$4 == "leaf" { calls += $7; if ($12 > most) most = $12 }
		END { print calls, most; exit !(calls > 1000 && calls < 4000 && most > 0 && most < 1000000) }'
}

# A value that no register of the device can have. tests/e2e/energy-recorded.sh uses a pin.
pin_is_refused()
{
	LITIFUT_MODE=spans LITIFUT_MARK_SET=0x23:256 LITIFUT_MARK_CLEAR=0x23:8 "$BUILD/bin/litifut" build \
		avr-gcc -mmcu="$device" times.o -o pin.elf >words 2>&1
	cat words
	grep -q 'left untraced: LITIFUT_MARK_SET: not REGISTER:VALUE: 0x23:256' words
}

losses_are_counted()
{
	"$simulator" -s truth.sites -o small.executed -u small.serial "$device" small.elf >&2 &&
		{ "$BUILD/bin/litifut-post" -f report -o report.text small.serial small.elf 2>words || :; } &&
		cat words >&2 && grep -q '[1-9][0-9]* events found no room in the ring' words &&
		! grep -q ' 0 lost' words
}

# The last call of all is made behind the last sending.
stream_equals_calls()
{
	python3 "$root/tests/oracle/firmware_avr.py" entries "$1.elf" >"$1.entries" &&
		"$simulator" -s "$1.entries" -o "$1.executed" -r "$1.order" -u "$1.serial" "$device" \
			"$1.elf" >&2 &&
		"$BUILD/bin/litifut-post" -f tsv -o "$1.tsv" "$1.serial" "$1.elf" 2>"$1.words" &&
		cat "$1.words" >&2 && grep -q ' 0 lost,.* 0 unresolved' "$1.words" &&
		python3 "$root/tests/oracle/firmware_avr.py" order "$1.elf" "$1.order" "$1.tsv" >&2
}

streams()
{
	export LITIFUT_MODE=stream LITIFUT_PORT=usart LITIFUT_RING_KB=8 LITIFUT_SEND=call:apply
	# shellcheck disable=SC2086
	ok "a stream links traced" avr stream avr_truth.c -Os -DTIMED -DSELDOM=1 $large
	export LITIFUT_SEND=call:flush
	ok "a stream of many sites links" avr many_stream avr_many.c -Os
	unset LITIFUT_MODE LITIFUT_PORT LITIFUT_RING_KB LITIFUT_SEND
	ok "a stream of many sites has each call" events_equal_calls many_stream
	ok "a stream of many sites keeps all registers" registers_are_kept many_stream
	ok "a stream has the calls, in order, and nothing is lost" stream_equals_calls stream
	ok "a stream: it prints the same" text_stays stream
	ok "a stream keeps all registers" registers_are_kept stream
}

# Events that nothing sends.
in_memory()
{
	for mode in spans stream; do
		export LITIFUT_MODE=$mode LITIFUT_RING_KB=6
		ok "it links without a port ($mode)" avr calls avr_calls.c -Os -DDIRECT=200 -DPOINTER=20
		# what records calls is not left out as a section that nothing refers to
		ok "it links with --gc-sections, without calls through pointers ($mode)" avr direct avr_calls.c \
			-Os -DDIRECT=200 -ffunction-sections -Wl,--gc-sections
		unset LITIFUT_MODE LITIFUT_RING_KB
		ok "the memory has each call ($mode)" counts_equal_calls calls
		ok "the memory has each call ($mode, --gc-sections)" counts_equal_calls direct
	done
}

behaviour()
{
	streams
	in_memory
	# shellcheck disable=SC2086
	ok "it links traced" link_spans 8 call:apply truth avr_truth.c -Os -DTIMED -DSELDOM=1 $large
	ok "each call is an event, and nothing is lost" events_equal_calls truth
	ok "it prints the same" text_stays truth
	ok "a call and its return keep all registers" registers_are_kept truth spans
	ok "it links with many sites" link_spans 2 call:flush many avr_many.c -Os
	ok "each call of many sites is an event" events_equal_calls many
	ok "a call of many sites and its return keep all registers" registers_are_kept many spans
	ok "with times it links" link_spans 4 exit times avr_times.c -Os
	ok "times are those of the untraced program" times_are_right
	[ "$device" = atmega1284p ] || return
	ok "with a small ring it links" link_spans 1 exit small avr_truth.c -Os -DTIMED -DSELDOM=1
	ok "what a small ring loses is counted" losses_are_counted
	ok "and the times behind it are right" times_behind_losses
	ok "a ring of 1 KB that is sent again and again: it links" link_spans 1 call:flush rounds avr_rounds.c -Os
	ok "each call is an event, and nothing is lost" events_equal_calls rounds
	ok "a pin that the tracer can't set is refused" pin_is_refused
}

for_devices behaviour
