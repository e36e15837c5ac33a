#!/bin/sh
# Code far from the tracer is reached over islands, wherever it lies: in one
# archive, in one object with a section a function, sorted by the linker.
. "$(dirname "$0")/../lib.sh"
few_targets mipsel armhf
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips armhf"

# part NAME: a function NAME with calls all over some 130 KiB of code.
part()
{
	printf '%s\n' 'int hop(int);'
	for i in $(seq 1 120); do
		printf '%s\n' "__attribute__((noipa)) int $1_$i(int x)" \
			"{ __asm__(\".space 1024\"); return hop(x) + $i; }"
	done
	printf '%s\n' "int $1(int x) { return 0"
	for i in $(seq 1 120); do
		printf '%s\n' "+ $1_$i(x)"
	done
	printf '%s\n' '; }'
}

# Each link compiles all of it: not with what takes longest.
lto_flags="-O1 -g0"

sources()
{
	for name in a b c d; do
		part $name >"part-$name.c"
	done
	cat part-?.c >single.c
	cat >main.c <<-'END'
		#include <stdio.h>
		int a(int), b(int), c(int), d(int);
		__attribute__((noipa)) int hop(int x) { return x + 1; }
		int main(void) { printf("%d\n", a(1) + b(2) + c(3) + d(4)); return 0; }
	END
	for name in a b c d; do
		flags=-fPIC compiler -c -o "part-$name.o" "part-$name.c"
	done
	flags="-fPIC -ffunction-sections" compiler -c -o single.o single.c
	flags="-fPIC -flto $lto_flags" compiler -c -o lto.o single.c
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
	reaches ../main.o ../part-a.o ../part-b.o ../part-c.o ../part-d.o -Wl,--sort-section,alignment
	reaches ../main.o ../single.o -Wl,--gc-sections
	reaches -no-pie ../main.o ../libparts.a
	# The linker's plugin gives the objects that it makes other names in each link.
	export LITIFUT_MODE=coverage
	for partition in one none balanced; do
		rm -rf plain traced
		# shellcheck disable=SC2086
		link program ../main.o ../lto.o -flto -flto-partition=$partition $lto_flags
		same_run program
	done
	unset LITIFUT_MODE
	# Islands are alike, and must not be folded into one.
	reaches ../main.o ../libparts.a -fuse-ld=gold -Wl,--icf=all
	if command -v ld.lld >/dev/null; then
		mkdir linkers
		ln -s "$(command -v ld.lld)" linkers/ld.lld
		export COMPILER_PATH="$PWD/linkers"
		reaches -no-pie ../main.o ../single.o -fuse-ld=lld -Wl,--icf=all
		unset COMPILER_PATH
	else
		skip "islands by lld" "not installed"
	fi
	rm -rf plain traced
	link libparts.so -shared -Wl,--whole-archive ../libparts.a -Wl,--no-whole-archive &&
		ok "in a library every call site has a stub in reach" all_reached libparts.so
}

for_targets behaviour
