#!/bin/sh
# What a counted call costs, in executed instructions and in bytes: exact, so that it is
# compared with what docs/firmware.md promises. On a Cortex-M0+ in cycles as well, by ARM's table of them.
BOARDS=${BOARDS:-mps2-an385 microbit}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../firmware.sh"

calls=1000
masked_ram=

unit=instructions # or cycles

# instructions ELF: how many are executed, or how many cycles they take
instructions()
{
	: >sites
	emulate "$1" serial -plugin "$BUILD/tests/system.so,sites=sites,out=$1.oracle,cycles=on"
	sed -n "s/^$unit //p" "$1.oracle"
}

# cost FOLDER STUBS KIND [-DRUNNING]: instructions that tracing adds to each call of this kind, in tenths.
# Runs with no such call and with many are compared, so that nothing else counts.
cost()
{
	for number in 0 $calls; do
		make_example "plain-$3$4-$number" EXTRA_CFLAGS="-D$3=$number $4" >/dev/null 2>&1
		export LITIFUT_STUBS="$2"
		[ "$1" != times ] || export LITIFUT_MODE=table LITIFUT_CLOCK="$clock"
		[ "$1" != tasks ] || export LITIFUT_MODE=table LITIFUT_CLOCK="$clock" LITIFUT_TASK=running
		[ "$1" != stream ] || export LITIFUT_MODE=stream LITIFUT_RING_KB=8
		[ "$1" != spans ] || export LITIFUT_MODE=spans LITIFUT_CLOCK="$clock" LITIFUT_RING_KB=8
		traced "$1-$number" make_example "$1-$number" EXTRA_CFLAGS="-D$3=$number $4" >/dev/null
		unset LITIFUT_STUBS LITIFUT_MODE LITIFUT_CLOCK LITIFUT_RING_KB LITIFUT_TASK
	done
	echo $((10 * (($(instructions "$1-$calls/firmware.elf") -
		$(instructions "plain-$3$4-$calls/firmware.elf")) -
		($(instructions "$1-0/firmware.elf") -
			$(instructions "plain-$3$4-0/firmware.elf"))) / calls))
}

# at_most DESCRIPTION LIMIT VALUE
at_most()
{
	echo "# $target: $1: $3"
	ok "$1: at most $2" [ "$3" -gt 0 -a "$3" -le "$2" ]
}

# size_of ELF SYMBOL...: bytes of these symbols together
size_of()
{
	size_elf=$1
	shift
	for symbol; do
		arm-none-eabi-nm -S "$size_elf" | awk -v name="$symbol" '$4 == name { print $2 }'
	done | while read -r size; do echo $((0x$size)); done |
		awk '{ sum += $1 } END { print sum + 0 }'
}

behaviour()
{
	cp -r "$root/examples/firmware" source
	cp "$root/tests/firmware/calls.c" source/main.c
	case $board in
	microbit) fast=130 small=220 pointer=280 stub=36 times=1000 spans=1200 clock=systick stream=350 ;;
	*) fast=90 small=210 pointer=310 stub=32 times=700 spans=600 clock=dwt stream=260 ;;
	esac
	at_most "tenths of an instruction a call, fast" $fast "$(cost fast fast DIRECT "")"
	at_most "tenths of an instruction a call, small" $small "$(cost small small DIRECT "")"
	at_most "tenths of an instruction a call through a pointer" $pointer \
		"$(cost pointer small POINTER "")"
	at_most "tenths of an instruction a call with its time, by $clock" $times \
		"$(cost times fast DIRECT -DRUNNING)"
	if [ "$board" = microbit ]; then
		unit=cycles
		# the recorder of "gprof for microcontrollers" takes 2,739 for an arc
		at_most "tenths of a cycle of a Cortex-M0+ a call, fast" $((27390 / 50)) "$(cost fast fast DIRECT "")"
		at_most "tenths of a cycle of a Cortex-M0+ a call, small" $((27390 / 50)) "$(cost small small DIRECT "")"
		at_most "tenths of a cycle of a Cortex-M0+ a call with its time, by $clock" $((27390 / 10)) \
			"$(cost times fast DIRECT -DRUNNING)"
		unit=instructions
	fi
	at_most "tenths of an instruction a call with its time, and tasks are timed" $((times + 170)) \
		"$(cost tasks fast DIRECT -DRUNNING)"
	# as many as a ring has room for: a lost event costs less
	calls=400
	at_most "tenths of an instruction a call and its return as events, by $clock" $spans \
		"$(cost spans fast DIRECT "")"
	at_most "tenths of an instruction a call in a stream" $stream "$(cost stream fast DIRECT "")"
	at_most "bytes of shared code of a stream, without a sender" 100 \
		$(($(size_of "stream-0/firmware.elf" litifut_span_note litifut_clock_read)))
	calibrated
	calls=1000
	rm -r source
	for stubs in fast small; do
		export LITIFUT_STUBS="$stubs" LITIFUT_PORT="$port"
		traced "$stubs" make_example "$stubs"
		unset LITIFUT_STUBS LITIFUT_PORT
	done
	words=$(size_of small/firmware.elf litifut_table)
	at_most "bytes of small stubs, a counter" 18 \
		$(($(size_of small/firmware.elf litifut_stubs) / (words / 4)))
	at_most "bytes of fast stubs, a counter" $stub \
		$(($(size_of fast/firmware.elf litifut_stubs) / (words / 4)))
	split_gprof
	rm -r source
	cp -r "$root/examples/firmware" source
	masked counts
	masked table
	masked stream
	masked spans
	case $board in
	mps2-*)
		masked_ram=top
		masked spans "spans with LITIFUT_RAM"
		clock=systick
		masked spans "spans with LITIFUT_RAM by systick"
		masked_ram=
		masked spans "spans by systick"
		;;
	esac
}

# What energy finds for a call and its return from the loops of litifut/calibrate.h, by SysTick, is what they
# cost; in tenths of an instruction, of 16 ns each.
calibrated()
{
	case $board in
	mps2-an505) calibrated_hertz=20000000 ;;
	mps2-*) calibrated_hertz=25000000 ;;
	microbit) calibrated_hertz=16000000 ;;
	*)
		skip "what the loops find" "the clock of this board is not known"
		return
		;;
	esac
	calibrated_clock=$clock
	clock=systick:$calibrated_hertz
	rm -r spans-0 "spans-$calls"
	calibrated_cost=$(cost spans fast DIRECT -DRUNNING)
	export LITIFUT_MODE=spans LITIFUT_CLOCK="$clock" LITIFUT_PORT="$port" LITIFUT_RING_KB=8
	ok "loops that measure it: they link traced" traced calibrated make_example calibrated \
		EXTRA_CFLAGS="-DRUNNING -DDIRECT=20 -DCALIBRATE -I$root/include"
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_PORT LITIFUT_RING_KB
	clock=$calibrated_clock
	emulate calibrated/firmware.elf calibrated.serial
	awk 'BEGIN { print "Time (s),Power (W)"; for (i = 0; i < 20000; i++) printf "%.6f,0.01\n", i * 1e-5 }' >calibrated.csv
	"$BUILD/bin/litifut-post" energy -q --no-refine --at 0=0.0005 --power calibrated.csv calibrated.serial \
		calibrated/firmware.elf >calibrated.report 2>&1
	ok "the loops find what a call and its return cost, within 3 %: $calibrated_cost" python3 -c '
import re, sys
line = next(line for line in open("calibrated.report") if line.startswith("hooks:"))
inside, outside = map(float, re.match(r"hooks: (\S+) \+ (\S+) us a call", line).groups())
print(line, sys.argv[1])
assert abs((inside + outside) * 1000 / 1.6 / float(sys.argv[1]) - 1) < 0.03' "$calibrated_cost"
	echo "# $target: $(grep '^hooks' calibrated.report)"
}

# masked MODE [NAME]: how long interrupts are off in it, which is to be at most 40 cycles on a Cortex-M3
masked()
{
	masked_name=${2:-$1}
	export LITIFUT_MODE="$1" LITIFUT_CLOCK="$clock" LITIFUT_RING_KB=4 LITIFUT_RAM="$masked_ram"
	case $1 in
	counts) unset LITIFUT_CLOCK LITIFUT_RING_KB ;;
	table) unset LITIFUT_RING_KB ;;
	stream) unset LITIFUT_CLOCK ;;
	esac
	[ -n "$masked_ram" ] || unset LITIFUT_RAM
	rm -rf "masked-$1"
	ok "$masked_name: it links traced" traced "masked-$1" make_example "masked-$1"
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_RING_KB LITIFUT_RAM
	: >sites
	emulate "masked-$1/firmware.elf" serial \
		-plugin "$BUILD/tests/system.so,sites=sites,out=oracle,masked=masked.$1"
	read -r masked_most masked_cycles masked_at <<-END
		$(sort -n -k 2 "masked.$1" | tail -1)
	END
	echo "# $target: $masked_name: interrupts are off for $masked_most instructions, $masked_cycles cycles" \
		"in $(arm-none-eabi-addr2line -f -e "masked-$1/firmware.elf" "0x$masked_at" | sed 1q)"
	case $board-$1 in
	mps2-*)
		at_most "$masked_name: cycles with interrupts off" 40 "$masked_cycles"
		;;
	esac
}

# What "gprof for microcontrollers" gives for its profiler as a whole: arcs, samples, sender and UART.
split_gprof()
{
	cat >source/main.c <<-'C'
	#include "board.h"
	#include <stdio.h>
	#define WORDS 100
	void litifut_send(void) __attribute__((weak));
	void SysTick_Handler(void)
	{
	}
	/* How deep the stack gets in the call: what is below sp is painted first. */
	static __attribute__((noinline)) unsigned depth(void)
	{
		uint32_t *end;
		unsigned used = 0;

		__asm__ volatile("mov %0, sp" : "=r"(end));
		for (unsigned i = 1; i <= WORDS; i++)
			((volatile uint32_t *)end)[-(int)i] = 0x5aa55aa5;
		litifut_send();
		for (unsigned i = 1; i <= WORDS; i++)
			if (((volatile uint32_t *)end)[-(int)i] != 0x5aa55aa5)
				used = i;
		return 4 * used;
	}
	int main(void)
	{
		static int (*volatile print)(const char *, ...) = printf;

		if (litifut_send)
			print("depth %u\n", depth());
		return 0;
	}
	C
	export LITIFUT_STUBS=small LITIFUT_PORT="$port" LITIFUT_SAMPLE=SysTick_Handler
	traced gprof make_example gprof
	unset LITIFUT_STUBS LITIFUT_PORT LITIFUT_SAMPLE
	at_most "bytes of shared code, direct calls" 512 "$(size_of gprof/firmware.elf \
		litifut_send litifut_frame_byte litifut_frame_add litifut_header \
		litifut_send_gate litifut_putc litifut_count_small litifut_sample)"
	is "no other code of the tracer" "$(arm-none-eabi-nm -S gprof/firmware.elf |
		sed -n 's/.* [tT] \(litifut_.*\)/\1/p' | sort -u | tr '\n' ' ')" \
		"litifut_count_pointer litifut_count_small litifut_frame_add litifut_frame_byte litifut_header litifut_putc litifut_sample litifut_sample_bins litifut_sample_low litifut_sample_shift litifut_sample_target litifut_send litifut_send_gate litifut_send_target litifut_stubs "
	at_most "bytes more for calls through pointers" 160 \
		"$(size_of gprof/firmware.elf litifut_count_pointer)"
	at_most "bytes of memory besides the tables" 40 "$(size_of gprof/firmware.elf litifut_frame)"
	emulate gprof/firmware.elf gprof.serial
	at_most "bytes of stack of a sending" 32 \
		"$(grep -a -o 'depth [0-9]*' gprof.serial | sed 's/depth //')"
}

for_boards behaviour
