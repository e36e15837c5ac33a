#!/bin/sh
# An interrupt samples the program (LITIFUT_SAMPLE) on AVR, with return addresses of 2 and 3 bytes, and where
# there is no room for all bins: as many
# samples as there were interrupts, in the functions that take most of the time. And results that are
# sent in interrupts while the program runs, a byte at each of a timer (LITIFUT_SEND=tick:N) or of the
# transmitter.
DEVICES=${DEVICES:-atmega1284p atmega2560 atmega328p}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# samples GMON: how many are in its histograms
samples()
{
	python3 "$root/tests/oracle/gmon.py" "$1"
}

# vector_of NAME: the number of this interrupt, also of a device with more than one USART
vector_of()
{
	printf '#include <avr/io.h>\n#ifdef USART0_%s_vect\nUSART0_%s_vect\n#else\n%s_vect\n#endif\n' \
		"$1" "$1" "$(echo "$1" | sed 's/^UDRE$/USART_UDRE/')" |
		avr-gcc -mmcu="$device" -E -P - | sed -n 's/^ *__vector_//p'
}

frames()
{
	tr -cd '\0' <"$1.serial" | wc -c
}

# counts_only_grow NAME: those that a capture has which ends early, at 20 places, are not more than those of
# a later one, nor than those in the memory at the end. A cut capture shows its last whole sending, so
# that some places show the same: the run is long enough for several whole ones.
counts_only_grow()
{
	size=$(wc -c <"$1.serial")
	for part in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		head -c $((size * part / 20)) "$1.serial" >part.serial
		"$BUILD/bin/litifut-post" -q -f edges part.serial "$1.elf" >$part.edges 2>/dev/null
	done
	"$BUILD/bin/litifut-post" -q -f edges "$1.memory" "$1.elf" >21.edges
	python3 - <<-'END'
	import sys
	before, wrong, several = {}, 0, 0
	for part in range(1, 22):
	    now = {line.split(None, 1)[1]: int(line.split()[0]) for line in open("%d.edges" % part)
	           if line.split()[:1] and line.split()[0].isdigit() and not line.rstrip().endswith(" ?")}
	    for edge, count in before.items():
	        several += now.get(edge, 0) > count > 255
	        if now.get(edge, 0) < count:
	            wrong += 1
	            print(part, edge, count, now.get(edge, 0))
	    before = now
	print(len(before), "edges,", wrong, "have become less,", several, "times one of more than 255 has grown")
	sys.exit(bool(wrong or several < 20))
	END
}

# gprof refuses histograms of two scales, such as that of samples and that of times, and those of two programs.
samples_and_times()
{
	export LITIFUT_PORT=usart LITIFUT_MODE=table LITIFUT_CLOCK=timer1:1000000 LITIFUT_SAMPLE="__vector_$vector"
	# shellcheck disable=SC2086
	ok "it links with times and samples" avr both avr_truth.c -Os -DTIMED -DROUNDS=50 $large
	unset LITIFUT_PORT LITIFUT_MODE LITIFUT_CLOCK LITIFUT_SAMPLE
	"$simulator" -m both.memory "$device" both.elf >&2
	"$BUILD/bin/litifut-post" -f gmon -o both.gmon both.memory both.elf 2>both.words
	ok "a line says that the times are left out" grep -q 'the samples are written, and the measured times left out' \
		both.words
	ok "the samples are there" [ "$(samples both.gmon)" -gt 10 ]
	ok "avr-gprof reads it" sh -c 'avr-gprof -b -p both.elf both.gmon | sed -n 6,10p | grep -q " qsort\$"'
	"$BUILD/bin/litifut-post" -f gmon -o two.gmon both.memory both.elf samples.memory samples.elf 2>two.words
	is "of two programs the one with more calls is written" "$(samples two.gmon)" "$ticks"
	ok "a line says what is left out" grep -q 'both.memory: its samples are left out' two.words
	ok "avr-gprof reads it as well" sh -c 'avr-gprof -b -p samples.elf two.gmon | cmp - flat'
}

behaviour()
{
	vector=$(vector_of TIMER0_OVF)
	export LITIFUT_PORT=usart LITIFUT_SAMPLE="__vector_$vector"
	# shellcheck disable=SC2086
	ok "it links traced" avr samples avr_truth.c -Os -DROUNDS=200 $large
	unset LITIFUT_PORT LITIFUT_SAMPLE
	ok "each site is counted as often as it is executed" counts_equal_calls samples
	ok "a call keeps all registers" registers_are_kept samples
	ok "it prints the same" prints_the_same samples
	ticks=$("$BUILD/bin/litifut-post" -q -f edges samples.memory samples.elf |
		sed -n "s/^ *\\([0-9]*\\) *(interrupt $vector) -> __vector_$vector\$/\\1/p")
	ok "there were many interrupts" [ "${ticks:-0}" -gt 100 ]
	is "as many samples" "$(samples samples.gmon)" "$ticks"
	"$BUILD/bin/litifut-post" -q -f gmon -o sent.gmon samples.serial samples.elf
	is "and as many were sent" "$(samples sent.gmon)" "$ticks"
	avr-gprof -b -p samples.elf samples.gmon >flat 2>gprof.log
	[ "$device" = atmega328p ] || samples_and_times # it has not enough memory
	for way in ticks transmitter bytes; do
		# its text goes to the same line: what that has damaged is in a later round
		export LITIFUT_PORT=usart LITIFUT_SEND="tick:1:__vector_$vector"
		[ $way = ticks ] || LITIFUT_PORT=usart:0xc0:$(vector_of UDRE)
		[ $way != bytes ] || export LITIFUT_STUBS=byte
		# shellcheck disable=SC2086
		ok "$way: it links traced" avr $way avr_truth.c -Os -DROUNDS=240 -DLINE=5 $large
		unset LITIFUT_PORT LITIFUT_SEND LITIFUT_STUBS
		ok "$way: each site is counted as often as it is executed" counts_equal_calls $way
		ok "$way: a call keeps all registers" registers_are_kept $way
		"$BUILD/bin/litifut-post" -q -f edges $way.serial $way.elf >$way.sent 2>$way.words
		"$BUILD/bin/litifut-post" -q -f edges $way.memory $way.elf >$way.kept
		ok "$way: the last sending has all" diff $way.sent $way.kept
		ok "$way: counts only grow" counts_only_grow $way
	done
	ok "transmitter: it sends more than the ticks" [ "$(frames transmitter)" -gt \
		"$(frames ticks)" ]
	LITIFUT_PORT=usart LITIFUT_SEND=tick:1 "$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Os \
		ticks.o -o wrong.elf >wrong.log 2>&1
	ok "a timer has to be named" grep -q 'left untraced: LITIFUT_SEND: tick:N has to name .*: tick:N:__vector_N' wrong.log
	ok "avr-gprof says where the time went" sh -c "sed -n '6,10p' flat | grep -q ' qsort\$'"
}

for_devices behaviour
