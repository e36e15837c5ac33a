#!/bin/sh
# Link-time optimisation: fat and slim objects, alone and from an archive. What the program gets of room for the tracer is
# about what it needs, whatever else is in the objects.
. "$(dirname "$0")/../lib.sh"
few_targets armhf mips

# part FIRST COUNT: functions with calls, in a file of their own
part()
{
	awk -v first="$1" -v count="$2" 'BEGIN {
		print "extern int use(int, int); static int table[64];"
		for (i = first; i < first + count; i++)
			printf "__attribute__((noinline)) int f%d(int a, int b) { int sum = use(a, b);\n" \
				"for (int i = 0; i < b; i++) sum += use(i, table[i & 63]) ? use(sum, i) : a;\n" \
				"while (use(sum, b)) sum -= use(b, %d);\n" \
				"return use(a, sum) + use(b, sum) * table[sum & 63]; }\n", i, i
		printf "int run%d(int a) { int sum = 0;\n", first
		for (i = first; i < first + count; i++)
			printf "sum += f%d(a, a + 1);\n", i
		print "return sum; }"
	}'
}

# bytes FILE: of what a device has of it
bytes()
{
	"$triplet-strip" -o stripped "$1" && wc -c <stripped
}

# bounded NAME MODE COMPILER...: four times the program, what a small program gets, and 64 KB which room may be too large by
# shellcheck disable=SC2086
bounded()
{
	name=$1
	shift
	LITIFUT_MODE=$1
	shift
	export LITIFUT_MODE
	"$@" -o plain.large
	LITIFUT_VERBOSE=1 "$BUILD/bin/litifut" build -q "$@" -o traced.large >said 2>&1
	"$BUILD/bin/litifut" build -q "$triplet-gcc" $machine_flags -O2 ../small.c -o traced.small
	unset LITIFUT_MODE
	ok "$name: all is traced" "$BUILD/bin/litifut" info traced.large
	most=$(($(bytes plain.large) * 4 + $(bytes traced.small) + 65536))
	ok "$name: $(bytes traced.large) bytes are at most $most" [ "$(bytes traced.large)" -le "$most" ]
}

sizes()
{
	part 0 100 >low.c
	part 100 100 >high.c
	echo '__attribute__((noinline)) int use(int a, int b) { volatile int c = a; return c * b & 1; } int run0(int), run100(int);
		int main(int n, char **v) { return (run0(n) + run100(n)) & 1; }' >large.c
	echo 'int main(void) { return 0; }' >../small.c
	for mode in calls spans; do
		# shellcheck disable=SC2086
		bounded "$mode" $mode "$triplet-gcc" $machine_flags -O2 -g -flto low.c high.c large.c
		is "$mode: one link" "$(grep -c '^litifut-ld: run:' said)" 1
	done
	if ! command -v clang >/dev/null || ! command -v ld.lld >/dev/null; then
		skip "bitcode" "there is no clang or lld"
		return
	fi
	# shellcheck disable=SC2086
	bounded "spans, bitcode" spans clang --target="$triplet" $machine_flags -O2 -g -flto -fuse-ld=lld low.c high.c large.c
}

behaviour()
{
	sizes
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
