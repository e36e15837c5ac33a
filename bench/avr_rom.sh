#!/bin/sh
# usage: bench/avr_rom.sh [STEP]
# The bytes that tracing adds to a program of 250 functions, one function after the other (STEP at a
# time), for docs/firmware.md: main() calls each once. Prints flash and memory for some of these, and the
# line through all of them.
# shellcheck source=avr.sh
. "$(dirname "$0")/avr.sh"
step=${1:-1}
functions=250

# Each function calls the next one, so that one more function that is traced is one more site.
awk -v n=$functions 'BEGIN {
	print "#include <stdint.h>\nvolatile uint16_t sum;"
	printf "#define F __attribute__((noinline, noclone, optimize(\"no-optimize-sibling-calls\")))\n"
	printf "static F void f%d(void) { sum++; }\n", n
	for (i = n - 1; i; i--)
		printf "static F void f%d(void) { f%d(); sum += %d; }\n", i, i + 1, i
	print "int main(void) { f1(); return 0; }" }' >many.c
avr-gcc -mmcu=atmega1284p -Os -c many.c -o many.o
avr-gcc -mmcu=atmega1284p many.o -o plain.elf

# sizes ELF: bytes of flash, bytes of memory
sizes()
{
	avr-size "$1" | awk 'NR == 2 { print $1 + $2, $2 + $3 }'
}

# link FUNCTIONS: main and the first of the others are traced
link()
{
	names=$(awk -v n="$1" 'BEGIN { printf "main"; for (i = 1; i < n; i++) printf ",f%d", i }')
	quietly env LITIFUT_INCLUDE="$names" "$BUILD/bin/litifut" build avr-gcc -mmcu=atmega1284p many.o \
		-o traced.elf
	sizes traced.elf
}

measure()
{
	echo "$1:"
	for n in $(seq 1 "$step" $functions); do
		echo "$n $(link "$n")"
	done | awk -v plain="$(sizes plain.elf)" -v step="$step" '
		BEGIN { split(plain, base, " ") }
		{ rom = $2 - base[1]; ram = $3 - base[2]; n++
		  x += $1; y += rom; z += ram; xx += $1 * $1; xy += $1 * rom; xz += $1 * ram
		  last = sprintf("  %3d functions  %+6d bytes of flash  %+6d of memory", $1, rom, ram) }
		n == 1 { print last }
		END { print last; slope = (n * xy - x * y) / (n * xx - x * x)
		  more = (n * xz - x * z) / (n * xx - x * x)
		  printf "  %.1f bytes of flash and %.1f of memory for each, %.0f and %.0f for all\n", slope,
			more, (y - slope * x) / n, (z - more * x) / n }'
}

for kind in fast small byte; do
	export LITIFUT_STUBS=$kind
	measure "counts, $kind"
done
unset LITIFUT_STUBS
export LITIFUT_MODE=table LITIFUT_CLOCK=timer1:8000000
measure table
