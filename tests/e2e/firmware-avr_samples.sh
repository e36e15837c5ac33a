#!/bin/sh
# An interrupt samples the program (LITIFUT_SAMPLE) on AVR, with return addresses of 2 and 3 bytes, and where
# there is no room for all bins: as many
# samples as there were interrupts, in the functions that take most of the time.
DEVICES=${DEVICES:-atmega1284p atmega2560 atmega328p}
. "$(dirname "$0")/../lib.sh"
. "$(dirname "$0")/../avr.sh"

# samples GMON: how many are in its histograms
samples()
{
	python3 "$root/tests/oracle/gmon.py" "$1"
}

behaviour()
{
	vector=$(printf '#include <avr/io.h>\nTIMER0_OVF_vect\n' | avr-gcc -mmcu="$device" -E -P - |
		sed -n 's/^ *__vector_//p')
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
	ok "avr-gprof says where the time went" sh -c "sed -n '6,10p' flat | grep -q ' qsort\$'"
}

for_devices behaviour
