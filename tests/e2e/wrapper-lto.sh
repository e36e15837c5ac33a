#!/bin/sh
# Link-time optimisation: fat and slim objects, alone and from an archive.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

behaviour()
{
	cat >main.c <<-'END'
		#include <stdio.h>
		int one(int), two(int);
		int main(void) { printf("%d\n", one(1) + two(2)); return 6; }
	END
	for name in one two; do
		printf '%s\n' '#include <stdlib.h>' \
			"__attribute__((noipa)) int ${name}_leaf(int x) { return abs(x) * 3; }" \
			"__attribute__((noipa)) int $name(int x) { return ${name}_leaf(x) + 2; }" >$name.c
	done
	for mode in -fno-fat-lto-objects -ffat-lto-objects; do
		flags="-flto $mode -fno-builtin"
		rm -rf plain traced ./*.o ./*.a
		for name in main one two; do
			compiler -c -o $name.o $name.c
		done
		"$triplet-gcc-ar" rc libparts.a one.o two.o
		link program ../main.o ../one.o ../two.o
		same_run program
		events_equal_calls program
		rm -rf plain traced
		link program ../main.o ../libparts.a
		same_run program
		events_equal_calls program
		is "$mode: nothing else is left in the folder" "$(ls -A traced)" program
	done
}

for_targets behaviour
