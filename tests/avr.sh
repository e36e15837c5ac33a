# Sourced by the end-to-end scripts of firmware for AVR, after lib.sh. Like for_targets there is
#
#   for_devices FUNCTION       runs it for each device, in a fresh folder
#
#   DEVICES="atmega2560" tests/e2e/firmware-avr.sh      runs some devices only
# shellcheck shell=sh disable=SC2034,SC2154

all_devices="atmega1284p atmega2560 atmega328p attiny85"
DEVICES=${DEVICES:-$all_devices}
simulator=$BUILD/tests/avr

# avr NAME SOURCE FLAGS...: compiles SOURCE of tests/firmware for the device, and links it plain,
# as plain-NAME.elf, and traced, as NAME.elf.
avr()
{
	avr_name=$1
	avr_source=$root/tests/firmware/$2
	shift 2
	avr-gcc -mmcu="$device" -Wall -c "$@" "$avr_source" -o "$avr_name.o" &&
		avr-gcc -mmcu="$device" "$@" "$avr_name.o" -o "plain-$avr_name.elf" &&
		"$BUILD/bin/litifut" build -q avr-gcc -mmcu="$device" "$@" "$avr_name.o" \
			-o "$avr_name.elf" >"$avr_name.log" 2>&1 &&
		! own_words "$avr_name.log" && return
	cat "$avr_name.log"
	return 1
}

# Options for the simulator.
simulated=

# counts_equal_calls NAME [spans]: each call site was counted as often as it was executed, as the
# memory at the end has it, or the spans that were sent. Leaves NAME.memory, NAME.serial and
# NAME.executed.
counts_equal_calls()
{
	counts_in=$1.memory
	[ $# = 1 ] || counts_in=$1.serial
	# shellcheck disable=SC2086
	python3 "$root/tests/oracle/firmware_avr.py" sites "$1.elf" >"$1.sites" &&
		"$simulator" $simulated -s "$1.sites" -o "$1.executed" -u "$1.serial" -m "$1.memory" \
			"$device" "$1.elf" >&2 &&
		"$BUILD/bin/litifut-post" -q -f gmon -o "$1.gmon" "$counts_in" "$1.elf" &&
		python3 "$root/tests/oracle/firmware_avr.py" check "$1.elf" "$1.executed" "$1.gmon" >&2
}

# registers_are_kept NAME [spans]: from each direct call to its callee all registers, SREG and the stack
# pointer stay the same; with spans on the way back as well.
registers_are_kept()
{
	registers_of=$1
	shift
	# shellcheck disable=SC2086
	python3 "$root/tests/oracle/firmware_avr.py" callees "$registers_of.elf" "$@" >"$registers_of.callees" &&
		"$simulator" $simulated -k "$registers_of.callees" "$device" "$registers_of.elf" 2>&1 |
		tee /dev/stderr | grep -q '^kept [1-9][0-9]*, spoiled 0, under way 0$'
}

# flags_are_executed NAME RESULTS LEAST [FUNCTION...]: with LITIFUT_MODE=coverage those in RESULTS, at
# least LEAST branches, are what the program without patches executes, but in these functions
flags_are_executed()
{
	flags_of=$1
	flags_in=$2
	shift 2
	python3 "$root/tests/oracle/firmware_flags.py" sites "$flags_of.elf" "$flags_of.sites" &&
		python3 "$root/tests/oracle/edges.py" plain "$flags_of.elf" "$flags_of.plain" || return
	# shellcheck disable=SC2086
	"$simulator" $simulated -s "$flags_of.sites" -o "$flags_of.executed" "$device" "$flags_of.plain" >&2 &&
		"$BUILD/bin/litifut-post" -q -f branches -o "$flags_of.flags" "$flags_in" "$flags_of.elf" &&
		python3 "$root/tests/oracle/firmware_flags.py" compare "$flags_of.elf" "$flags_of.executed" \
			"$flags_of.flags" "$@" >&2
}

# marks_keep_registers NAME: the code that sets flags keeps all registers, SREG and the stack pointer
marks_keep_registers()
{
	python3 "$root/tests/oracle/firmware_flags.py" marks "$1.elf" >"$1.marks"
	# shellcheck disable=SC2086
	"$simulator" $simulated -k "$1.marks" "$device" "$1.elf" 2>&1 | tee /dev/stderr |
		grep -q '^kept [1-9][0-9]*, spoiled 0, under way 0$'
}

# in_order NAME traced|plain memory|serial FORMAT: one run of the traced program, or one of it and one of the program without
# patches. Leaves NAME.watched, NAME.order, and what was recorded in the format, NAME.FORMAT and NAME.words.
in_order()
{
	blocks_of=$1
	blocks_way=$2
	python3 "$root/tests/oracle/firmware_paths.py" "$blocks_way" "$blocks_of.elf" "$blocks_of.watched" &&
		cut -d ' ' -f 1 "$blocks_of.watched" >"$blocks_of.starts" || return
	blocks_run=$blocks_of.elf
	if [ "$blocks_way" = plain ]; then
		blocks_run=$blocks_of.unpatched
		"$simulator" -u "$blocks_of.serial" -m "$blocks_of.memory" "$device" "$blocks_of.elf" >&2 &&
			python3 "$root/tests/oracle/edges.py" plain "$blocks_of.elf" "$blocks_run" || return
	fi
	# shellcheck disable=SC2086
	"$simulator" $simulated -s "$blocks_of.starts" -o "$blocks_of.passed" -r "$blocks_of.order" \
		-u "$blocks_of.${blocks_way%traced}serial" -m "$blocks_of.${blocks_way%traced}memory" \
		"$device" "$blocks_run" >&2 || return
	"$BUILD/bin/litifut-post" -f "$4" -o "$blocks_of.$4" "$blocks_of.$3" "$blocks_of.elf" \
		2>"$blocks_of.words"
	cat "$blocks_of.words" >&2
}

# blocks_are_executed NAME traced|plain memory|serial OPTIONS OF compare...: with LITIFUT_MODE=paths
# those of the results are what simavr executes, in order.
blocks_are_executed()
{
	in_order "$1" "$2" "$3" blocks || return
	shift 3
	python3 "$root/tests/oracle/firmware_paths.py" compare "$blocks_of.elf" "$blocks_of.watched" \
		"$blocks_of.order" "$blocks_of.blocks" "$@" >&2
}

# ids_are_executed NAME traced|plain memory|serial OPTIONS OF compare...: with LITIFUT_MODE=balllarus the numbers stand for the
# paths that simavr executes.
ids_are_executed()
{
	in_order "$1" "$2" "$3" ids || return
	shift 3
	python3 "$root/tests/oracle/firmware_numbers.py" compare "$blocks_of.elf" "$blocks_of.watched" \
		"$blocks_of.order" "$blocks_of.ids" "$@" >&2
}

# units_are_executed NAME traced|plain memory|serial OPTIONS OF compare...: with LITIFUT_MODE=units those of the
# results start and end as simavr executes them, as above. Leaves NAME.units.
units_are_executed()
{
	units_of=$1
	units_way=$2
	units_in=$1.$3
	shift 3
	units_run=$units_of.elf
	if [ "$units_way" = plain ]; then
		units_run=$units_of.unpatched
		"$simulator" -m "$units_of.memory" "$device" "$units_of.elf" >&2 &&
			python3 "$root/tests/oracle/edges.py" plain "$units_of.elf" "$units_run" &&
			python3 "$root/tests/oracle/units.py" plain "$units_of.elf" "$units_run" \
				"$units_of.watched"
	else
		python3 "$root/tests/oracle/units.py" traced "$units_of.elf" "$units_of.watched"
	fi || return
	cut -d ' ' -f 1 "$units_of.watched" >"$units_of.starts"
	# shellcheck disable=SC2086
	"$simulator" $simulated -s "$units_of.starts" -o "$units_of.passed" -r "$units_of.order" \
		-u "$units_of.${units_way%traced}serial" -m "$units_of.${units_way%traced}memory" \
		"$device" "$units_run" >&2 &&
		"$BUILD/bin/litifut-post" -q -f units -o "$units_of.units" "$units_in" "$units_of.elf" >&2 &&
		python3 "$root/tests/oracle/units.py" compare "$units_of.watched" "$units_of.order" \
			"$units_of.units" "$@" >&2
}

# What the program has printed: all up to the first zero.
text_of()
{
	sed -z 1q "$1" | tr -d '\0'
}

prints_the_same()
{
	# shellcheck disable=SC2086
	"$simulator" $simulated -u "plain-$1.serial" "$device" "plain-$1.elf" >&2 &&
		text_of "$1.serial" | diff "plain-$1.serial" -
}

# Sets device, and large: what makes a program of the device as long as its flash allows.
use_device()
{
	device=$1
	target=$1
	large=
	[ "$device" != atmega2560 ] || large=-DLARGE
}

for_devices()
{
	export BUILD
	# shellcheck disable=SC2086
	in_folders "$1" use_device $DEVICES
}
