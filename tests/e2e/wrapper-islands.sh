#!/bin/sh
# Code far from the tracer is reached over islands, wherever it lies: in one
# archive, in one object with a section a function, sorted by the linker.
TARGETS=${TARGETS:-"mipsel mips armhf"}
. "$(dirname "$0")/../lib.sh"

# Objects of some 100 KiB of code each, with calls all over it.
sources()
{
	for part in a b c d; do
		echo 'int hop(int);'
		for i in $(seq 1 120); do
			echo "int ${part}_$i(int x) { return hop(x) + $i; }"
			echo "__asm__(\".text\\n.space 1024\\n\");"
		done
		echo "int $part(int x) { return 0"
		for i in $(seq 1 120); do
			echo "+ ${part}_$i(x)"
		done
		echo '; }'
	done >all.c
	awk '/^int hop/ { n++ } { print >("part-" n ".c") }' all.c
	awk '!/^int hop/ || !done { print } /^int hop/ { done = 1 }' all.c |
		sed 's/__asm__.*//; s/return hop(x) + \([0-9]*\);/__asm__(".space 1024"); return hop(x) + \1;/' >single.c
	cat >main.c <<-'END'
		#include <stdio.h>
		int a(int), b(int), c(int), d(int);
		__attribute__((noipa)) int hop(int x) { return x + 1; }
		int main(void) { printf("%d\n", a(1) + b(2) + c(3) + d(4)); return 0; }
	END
	for part in 1 2 3 4; do
		compiler -fPIC -fno-toplevel-reorder -c -o "part-$part.o" "part-$part.c"
	done
	flags=-ffunction-sections compiler -fPIC -fno-inline -c -o single.o single.c
	flags=-fPIC compiler -c -o main.o main.c
	"$triplet-ar" rc libparts.a part-*.o
}

all_reached()
{
	[ "$("$BUILD/bin/litifut" info --json "traced/$1" | grep -c out-of-reach)" = 0 ]
}

reaches()
{
	rm -rf plain traced
	link program "$@" && same_run program &&
		ok "every call site has a stub in reach" all_reached program &&
		events_equal_calls program
}

behaviour()
{
	sources
	reaches ../main.o ../libparts.a
	reaches ../main.o ../part-1.o ../part-2.o ../part-3.o ../part-4.o -Wl,--sort-section,alignment
	reaches ../main.o ../single.o -Wl,--gc-sections
	reaches -no-pie ../main.o ../libparts.a
	rm -rf plain traced
	link libparts.so -shared -Wl,--whole-archive ../libparts.a -Wl,--no-whole-archive &&
		ok "in a library every call site has a stub in reach" all_reached libparts.so
}

for_targets behaviour
