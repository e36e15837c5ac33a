#!/bin/sh
# Assembler code on AVR whose functions have no type, with rows of rjmp that calculated pointers lead into, and tables for lpm
# among the code: none of it is changed where it is not code that control comes to in one piece. The program prints the same
# in each mode, what is recorded is what simavr executes, and functions that only pointers lead to have their names.
DEVICES=${DEVICES:-atmega1284p atmega2560}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# tables MODE NAME FLAGS...
tables()
{
	export LITIFUT_MODE="$1" LITIFUT_RING_KB=4
	tables_name=$2
	shift 2
	avr-gcc -mmcu="$device" -c "$root/tests/firmware/avr_tables.S" -o tables.o &&
		avr "$tables_name" avr_tables.c "$@" tables.o
	tables_status=$?
	unset LITIFUT_MODE LITIFUT_RING_KB
	return $tables_status
}

# in_each_mode FLAGS...
in_each_mode()
{
	for mode in counts coverage paths balllarus; do
		ok "it links traced ($mode, $*)" tables $mode $mode "$@"
		case $mode in
		counts)
			ok "each call is counted ($*)" counts_equal_calls counts
			ok "a call keeps all registers ($*)" registers_are_kept counts
			;;
		coverage)
			"$simulator" -u coverage.serial -m coverage.memory "$device" coverage.elf >&2
			ok "flags are those of what is executed ($*)" \
				flags_are_executed coverage coverage.memory 5
			;;
		paths)
			ok "blocks are those that are executed ($*)" \
				blocks_are_executed paths traced memory --more 1
			;;
		*)
			ok "paths are those that are executed ($*)" \
				ids_are_executed balllarus traced memory --more 1
			;;
		esac
		ok "it prints the same ($mode, $*)" prints_the_same $mode
	done
}

behaviour()
{
	in_each_mode -Os
	is "functions that pointers lead to have their names" \
		"$("$BUILD/bin/litifut-post" -q -f edges counts.memory counts.elf | awk '$2 == "main" { print $1, $4 }' | sort)" \
		"$(printf '16 %s\n' behind_table by_called_row by_row from_table with_room)"
	in_each_mode -O2 -DDIRECT
}

for_devices behaviour
