#!/bin/sh
# What a counted call costs on AVR, in cycles of the CPU and in bytes: exact, so that it is compared
# with what docs/firmware.md promises.
DEVICES=${DEVICES:-atmega1284p atmega2560}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# cycles NAME: of a whole run
cycles()
{
	: >sites
	"$simulator" -s sites -o executed "$device" "$1.elf" >&2
	sed -n 's/^cycles //p' executed
}

# cost MODE STUBS KIND: cycles that tracing adds to each call of this kind, in hundredths. Runs with no
# such call and with many are compared, so that nothing else counts.
cost()
{
	export LITIFUT_MODE="$1" LITIFUT_STUBS="$2"
	# shellcheck disable=SC2086
	avr none avr_calls.c -Os $enabled >&2
	# shellcheck disable=SC2086
	avr many avr_calls.c -Os $enabled "-D$3=$calls" >&2
	unset LITIFUT_MODE LITIFUT_STUBS
	echo $((100 * (($(cycles many) - $(cycles plain-many)) -
		($(cycles none) - $(cycles plain-none))) / calls))
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
		avr-nm -S "$size_elf" | awk -v name="$symbol" '$4 == name { print $2 }'
	done | while read -r size; do echo $((0x$size)); done |
		awk '{ sum += $1 } END { print sum + 0 }'
}

# In a program that switches recording off and on a call costs so much more.
switched()
{
	calls=10000
	enabled=
	export LITIFUT_START_AT=main
	for stubs in "fast $fast" "small $small" "byte $((fast + 20))"; do
		at_most "hundredths of a cycle a call, switched, ${stubs% *}" $((${stubs#* } + 400)) \
			"$(cost counts "${stubs% *}" DIRECT)"
	done
	at_most "hundredths of a cycle a call through a pointer, switched" $((pointer + 400)) \
		"$(cost counts fast POINTER)"
	measured=$(cost table fast DIRECT)
	at_most "hundredths of a cycle a timed call, switched" $((timed + 400)) "$measured"
	is "cycles that are subtracted of the callers' times, switched" \
		"$(avr-nm many.elf | sed -n 's/^0*\(.*\) A litifut_call_whole$/0x\1/p')" "$(printf 0x%x $((measured / 100)))"
	calls=300
	enabled=-DENABLED
	export LITIFUT_RING_KB=8
	measured=$(cost spans fast DIRECT)
	at_most "hundredths of a cycle a call and its return as events, switched" $((spans + 600)) "$measured"
	hook=0
	for part in inside outside; do
		hook=$((hook + 0x$(avr-nm many.elf | sed -n "s/ A litifut_hook_$part\$//p")))
	done
	ok "that is the cost in the ELF file, to 1 %" \
		[ $hook -gt $((measured - measured / 100)) -a $hook -lt $((measured + measured / 100)) ]
	at_most "hundredths of a cycle a call in a stream, switched" $((stream + 400)) "$(cost stream fast DIRECT)"
	unset LITIFUT_RING_KB LITIFUT_START_AT
}

# ticks_of FUNCTION: its self time in the report of the memory
ticks_of()
{
	"$BUILD/bin/litifut-post" -q -f report memory callees.elf | awk -v name="$1" '$(NF - 1) == name { print $2 }'
}

# What the tracer adds to a call through a pointer depends on which callee of its site it has: all of that is taken
# off the caller's self time, but what only the first call of each takes.
callees()
{
	export LITIFUT_MODE=table LITIFUT_CLOCK=timer1 LITIFUT_SEND=never
	for callee in 0 1 3 6; do
		ok "it links (callee $callee)" avr callees avr_callees.c -Os "-DCALLEE=$callee"
		avr-nm plain-callees.elf | awk '/ caller$/ { print $1 } / callee_0$/ { print $1 }' | sed 's/^0*//' >functions
		"$simulator" -t functions "$device" plain-callees.elf >executed
		"$simulator" -m memory "$device" callees.elf
		at=$(avr-nm plain-callees.elf | sed -n 's/^0*\([^ ]*\) T caller$/\1/p')
		own=$(awk -v at="$at" '$1 == at { whole = $3 } $1 != at { callee = $3 } END { print 2007 * (whole - callee) }' executed)
		measured=$(ticks_of caller)
		echo "# $target: callee $callee: $measured of $own cycles"
		ok "self time of the caller of callee $callee: at most 5 % off" \
			[ "$measured" -ge $((own - own / 20)) -a "$measured" -le $((own + own / 20)) ]
	done
	unset LITIFUT_MODE LITIFUT_CLOCK LITIFUT_SEND
}

behaviour()
{
	calls=10000
	enabled=
	case $device in
	atmega2560) stream=5750 stream_pointer=8360 spans=12000 spans_pointer=14650 fast=2030 small=4910 pointer=7200 timed=29250 timed_pointer=31800 ;;
	*) stream=5550 stream_pointer=8150 spans=11600 spans_pointer=14250 fast=2030 small=4710 pointer=7200 timed=27650 timed_pointer=29200 ;;
	esac
	at_most "hundredths of a cycle a call, fast" $fast "$(cost counts fast DIRECT)"
	at_most "hundredths of a cycle a call, byte" $((fast + 20)) "$(cost counts byte DIRECT)"
	at_most "hundredths of a cycle a call, small" $small "$(cost counts small DIRECT)"
	at_most "hundredths of a cycle a call through a pointer" $pointer "$(cost counts fast POINTER)"
	measured=$(cost table fast DIRECT)
	at_most "hundredths of a cycle a timed call" $timed "$measured"
	is "cycles that are subtracted of the callers' times" \
		"$(avr-nm many.elf | sed -n 's/^0*\(.*\) A litifut_call_whole$/0x\1/p')" "$(printf 0x%x $((measured / 100)))"
	at_most "hundredths of a cycle a timed call through a pointer" $timed_pointer \
		"$(cost table fast POINTER)"
	calls=300 # for whose events, 3 a call through a pointer, the ring has room
	enabled=-DENABLED # a cycle an event more than with interrupts off
	export LITIFUT_RING_KB=8
	at_most "hundredths of a cycle a call and its return as events" $spans "$(cost spans fast DIRECT)"
	at_most "hundredths of a cycle a call through a pointer, as events" $spans_pointer \
		"$(cost spans fast POINTER)"
	at_most "hundredths of a cycle a call in a stream" $stream "$(cost stream fast DIRECT)"
	at_most "hundredths of a cycle a call through a pointer, in a stream" $stream_pointer \
		"$(cost stream fast POINTER)"
	unset LITIFUT_RING_KB
	switched
	callees
	for stubs in fast small byte; do
		export LITIFUT_STUBS="$stubs" LITIFUT_PORT=usart
		ok "it links ($stubs)" avr "$stubs" avr_truth.c -Os
		unset LITIFUT_STUBS LITIFUT_PORT
	done
	is "bytes of small stubs, a word of the table" \
		"$(($(size_of small.elf litifut_stubs) * 4 / $(size_of small.elf litifut_table)))" 8
	"$BUILD/bin/litifut" info --json --sites byte.elf | python3 -c 'import json, sys
sites = sum(site["reason"] == "patched" and "indirect" not in site["kind"]
            for site in json.load(sys.stdin)[0]["sites"])
print("%08x" % (sites + 3 & ~3))' >bytes
	is "bytes of memory, one for each site and up to a word" \
		"$(avr-nm byte.elf | sed -n 's/ A litifut_bytes$//p')" "$(cat bytes)"
	at_most "bytes of shared code, counters of a byte" 900 "$(size_of byte.elf litifut_send \
		litifut_frame_byte litifut_frame_add litifut_header litifut_send_gate litifut_putc \
		litifut_carries_of litifut_carry litifut_byte_carry)"
	at_most "bytes of shared code, direct calls" 640 "$(size_of small.elf litifut_send \
		litifut_frame_byte litifut_frame_add litifut_header litifut_send_gate litifut_putc \
		litifut_count_small)"
	is "no other code of the tracer" "$(avr-nm -S small.elf |
		sed -n 's/^[^ ]* [^ ]* [tT] \(litifut_.*\)/\1/p' | sort -u | tr '\n' ' ')" \
		"litifut_count_pointer litifut_count_small litifut_frame_add litifut_frame_byte litifut_header litifut_putc litifut_send litifut_send_gate litifut_stubs "
}

for_devices behaviour
