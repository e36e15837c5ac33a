#!/bin/sh
# A sketch with the Arduino core: classes with virtual functions, String, Print, a heap, floats, interrupts of
# the core and of the sketch. It prints the same when it is traced, and each call site, those of virtual calls
# among them, is counted as often as it is executed: as counts, as a table with times, and as spans.
# OTHER_WAYS=1: also with other options of the compiler and the linker.
DEVICES=${DEVICES:-atmega2560 atmega328p}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

core=/usr/share/arduino/hardware/arduino/avr
simulated="-f 16000000"

compile()
{
	compile_source=$1
	shift
	# GCC 5 has no DECIMAL_DIG in C++11, which the core uses
	"avr-$compiler" -mmcu="$device" -w -DF_CPU=16000000L -DARDUINO=10800 -DARDUINO_ARCH_AVR \
		-ffunction-sections -fdata-sections -I$core/cores/arduino -I$core/variants/"$variant" "$@" \
		-c "$compile_source" -o "core/$(basename "$compile_source").o"
}

# build_core FLAGS...: the core as an archive, and the sketch
build_core()
{
	rm -rf core && mkdir core || return
	compiler=gcc
	for core_file in "$core"/cores/arduino/*.c; do
		compile "$core_file" "$@" || return
	done
	compile "$core/cores/arduino/wiring_pulse.S" -x assembler-with-cpp || return
	compiler=g++
	for core_file in "$core"/cores/arduino/*.cpp "$root/tests/firmware/avr_sketch.cpp"; do
		compile "$core_file" -std=gnu++11 -fpermissive -fno-exceptions -fno-threadsafe-statics \
			-DDECIMAL_DIG=__DECIMAL_DIG__ "$@" || return
	done
	mv core/avr_sketch.cpp.o sketch.o && avr-gcc-ar rcs core.a core/*.o
}

# link_sketch NAME FLAGS...: plain and traced
link_sketch()
{
	link_name=$1
	shift
	avr-gcc -mmcu="$device" -Wl,--gc-sections "$@" sketch.o core.a -lm -o "plain-$link_name.elf" &&
		"$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" -Wl,--gc-sections "$@" sketch.o core.a -lm \
			-o "$link_name.elf" >"$link_name.log" 2>&1 && ! own_words "$link_name.log" && return
	cat "$link_name.log"
	return 1
}

has_virtual()
{
	"$BUILD/bin/litifut-post" -q -f edges "$1.memory" "$1.elf" | tee /dev/stderr |
		grep -q ' Sensor::average(unsigned char) -> Wave::read()$'
}

# counted NAME [spans]: each site as often as it was executed, with all registers and the same text
counted()
{
	ok "each site is counted as often as it is executed ($1)" counts_equal_calls "$@"
	ok "a call keeps all registers ($1)" registers_are_kept "$@"
	ok "it prints the same ($1)" prints_the_same "$1"
}

# The shortest time of a call is that of the simulator, which begins behind the call.
waits_as_long()
{
	avr-nm "$1.elf" | awk '$3 == "delay" { print $1 }' >functions
	# shellcheck disable=SC2086
	"$simulator" $simulated -t functions "$device" "$1.elf" 2>/dev/null >truth &&
		"$BUILD/bin/litifut-post" -q -f csv "$1.serial" "$1.elf" >ours && cat truth >&2 &&
		grep '"delay"' ours >&2 && python3 - truth ours <<-'END'
	import csv, sys
	least = min(int(line.split()[2]) for line in open(sys.argv[1]) if len(line.split()) == 5)
	ours = min(float(row["min_ns"]) for row in csv.DictReader(open(sys.argv[2]))
	           if row["callee"] == "delay") * 16 / 1000
	sys.exit(not abs(ours - least) < 0.01 * least)
	END
}

in_other_ways()
{
	for flags in -O2 "-Os -mcall-prologues" "-Os -mrelax" "-Os -flto -fuse-linker-plugin -mrelax"; do
		name=$(echo "other$flags" | tr -d ' ')
		# shellcheck disable=SC2086
		ok "the core compiles with $flags" build_core $flags
		# shellcheck disable=SC2086
		ok "it links traced with $flags" link_sketch "$name" $flags
		counted "$name"
	done
}

with_times()
{
	export LITIFUT_CLOCK=timer1:16000000 LITIFUT_MODE=table
	ok "they link with times" link_sketch table -Os
	counted table
	ok "times are right, though the core sets up the timer" waits_as_long table
	export LITIFUT_MODE=spans LITIFUT_RING_KB=7 LITIFUT_INCLUDE=loop
	ok "they link with calls and returns in order" link_sketch spans -Os
	counted spans spans
	unset LITIFUT_CLOCK LITIFUT_MODE LITIFUT_RING_KB LITIFUT_INCLUDE
}

with_flags()
{
	export LITIFUT_MODE=coverage
	ok "they link with flags of branches" link_sketch coverage -Os
	unset LITIFUT_MODE
	# shellcheck disable=SC2086
	ok "it runs (coverage)" "$simulator" $simulated -u coverage.serial "$device" coverage.elf
	# the handlers of timer 0 and what asks for the time or waits depend on it
	ok "flags are those of what is executed" flags_are_executed coverage coverage.serial 200 \
		_ZN14HardwareSerial5flushEv micros __vector_16 __vector_18 __vector_23
	ok "the code that sets flags keeps all registers" marks_keep_registers coverage
	ok "it prints the same (coverage)" prints_the_same coverage
}

# The end of the run, in a ring that is too small for the rest: interrupts come elsewhere with each
# size. That of an ATmega328P has room for too little.
with_branches()
{
	unset LITIFUT_PORT
	order_rings=1
	[ "$device" != atmega2560 ] || order_rings="3 4 5"
	for order_ring in $order_rings; do
		export LITIFUT_MODE=paths LITIFUT_RING_KB="$order_ring"
		ok "they link with branches in order ($order_ring KB)" link_sketch paths -Os
		unset LITIFUT_MODE LITIFUT_RING_KB
		# shellcheck disable=SC2086
		ok "it runs (paths)" "$simulator" $simulated -u paths.serial "$device" paths.elf
		[ "$device" != atmega2560 ] ||
			ok "blocks are those that are executed ($order_ring KB)" \
				blocks_are_executed paths traced memory --tail 1500 --more 1
	done
	ok "the code that records branches keeps all registers" marks_keep_registers paths
	ok "it prints the same (paths)" prints_the_same paths
}

behaviour()
{
	variant=standard
	[ "$device" != atmega2560 ] || variant=mega
	export LITIFUT_PORT=usart
	ok "the core and a sketch compile" build_core -Os
	ok "they link traced" link_sketch counts -Os
	counted counts
	ok "virtual calls are among them" has_virtual counts
	# an ATmega328P has no room for so many sites
	[ "$device" != atmega2560 ] || with_times
	with_flags
	with_branches
	[ -z "${OTHER_WAYS:-}" ] || in_other_ways
}

for_devices behaviour
