#!/bin/sh
# One function with more code than four branches reach (4 * 128 KB), in a position-
# independent executable and a library, with switches, landing pads, labels whose address
# is taken, and hand-written branches in its middle: every call there is traced.
. "$(dirname "$0")/../lib.sh"
few_targets mips
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

# large NAME KIND ADDED: 300 cases of some 2.3 KB, most of it branches with nothing between
# that could make way for something; KIND says how it gets to them: switch, labels, or
# distances between labels. ADDED stands in each.
large()
{
	awk -v name="$1" -v kind="$2" -v added="$3" 'BEGIN {
		cases = 300
		printf "KEEP int %s(int which, int x, int (*other)(int))\n{\n", name
		print "\tint v[8] = {1, 2, 3, 4, 5, 6, 7, 8}, t = x;"
		if (kind == "switch") {
			print "\tswitch (which) {"
			print "\tdefault: return other(t);"
		} else {
			printf "\tstatic %s labels[] = {\n", kind == "labels" ? "const void *const" : "const int"
			for (i = 0; i < cases; i++)
				printf kind == "labels" ? "&&l%d, " : "&&l%d - &&l0, ", i
			print "};\n\tif (which >= " cases ") return other(t);"
			print kind == "labels" ? "\tgoto *labels[which];" : "\tgoto *(&&l0 + labels[which]);"
		}
		for (i = 0; i < cases; i++) {
			printf kind == "switch" ? "\tcase %d:\n" : "\tl%d:\n", i
			printf "\t\tt = leaf(t + %d, which);\n\t\tFILL(v)\n", i
			printf "\t\tt += other(t ^ v[%d]);\n", i % 8
			if (kind == "switch") {
				printf "\t\tswitch (t & 7) {\n"
				for (j = 0; j < 6; j++)
					printf "\t\tcase %d: v[%d] = leaf(v[%d], t) + %d; t -= other(t); break;\n", j, (i + j) % 8, j, i * j
				printf "\t\tdefault: v[%d] += wide(t, which) >> 3;\n\t\t}\n", i % 8
			}
			print "\t\t" added
			print kind == "switch" ? "\t\tbreak;" : "\t\tgoto out;"
		}
		print kind == "switch" ? "\t}" : "out:"
		print "\treturn leaf(t, v[which % 8]);\n}"
	}'
}

leaves()
{
	echo '#include "large.h"'
	echo 'static SMALL int leaf(int a, int b) { __asm__ volatile(""); return a * 3 + b; }'
	echo 'static SMALL long long wide(int a, int b) { __asm__ volatile(""); return (long long)a * b; }'
}

sources()
{
	cat >large.h <<-'END'
		#define KEEP __attribute__((noipa))
		#define SMALL __attribute__((noinline, unused))
		#ifdef __cplusplus
		#define C extern "C"
		#else
		#define C extern
		#endif
		typedef int large(int, int, int (*)(int));
		C large switching, throwing, jumping, counting;
		C int hop(int, int *);
		/* the compiler counts lines */
		#define TWELVE(text) text text text text text text text text text text text text
		#define FILL(v) __asm__ volatile(".set push\n.set noreorder\n" \
			TWELVE(TWELVE("beq $0, $0, .+8\nnop\naddiu $8, $8, 1\n")) \
			".set pop" : : "r"(v) : "$8", "memory");
	END
	{
		leaves
		large switching switch "v[0] += hop(t & 127, v);"
	} >switching.c
	{
		leaves
		large jumping labels "v[1] -= hop(t & 63, v);"
	} >jumping.c
	{
		leaves
		large counting distances "v[1] -= hop(t & 63, v);"
	} >counting.c
	{
		leaves
		large throwing switch \
			"try { v[0] += hop(t & 255, v); } catch (int e) { v[2] ^= leaf(e, t); }"
	} >throwing.cpp
	cat >main.cpp <<-'END'
		#include "large.h"
		#include <stdio.h>
		C KEEP int hop(int a, int *v)
		{
			if (a > 128)
				throw a;
			return a + v[3];
		}
		static KEEP int add(int a) { return a + 3; }
		static KEEP int sub(int a) { return a - 7; }
		static void all(const char *name, large *function)
		{
			unsigned sum = 1;
			for (int round = 0; round < 8; round++)
				for (int i = 0; i < 301; i++)
					sum = sum * 31 + (unsigned)function(i, (int)(sum % 97) + round, i & 1 ? add : sub);
			printf("%s %u\n", name, sum);
		}
		int main(void)
		{
			all("switching", switching);
			all("jumping", jumping);
			all("throwing", throwing);
			return 0;
		}
	END
	cat >counting_main.c <<-'END'
		#include "large.h"
		#include <stdio.h>
		KEEP int hop(int a, int *v) { return a + v[3]; }
		static KEEP int add(int a) { return a + 3; }
		int main(void)
		{
			unsigned sum = 1;
			for (int i = 0; i < 301; i++)
				sum = sum * 31 + (unsigned)counting(i, (int)(sum % 97), add);
			printf("%u\n", sum);
			return 0;
		}
	END
}

# Nothing is left but what lies in start-up files or is not a call.
all_patched()
{
	"$BUILD/bin/litifut" info --skipped "$1" >skipped
	! grep -E 'out-of-reach|branch-target|delay-slot' skipped
}

out_of_reach()
{
	"$BUILD/bin/litifut" info --skipped "$1" >skipped
	grep -c 'out-of-reach in counting' skipped
}

# The size of the largest function of OBJECT.
size_of()
{
	echo $((0x$("$triplet-nm" -S --size-sort "$1" | awk '{ size = $2 } END { print size }')))
}

behaviour()
{
	sources
	flags="-O1 -fPIC"
	ok "compile" compiler -c switching.c jumping.c counting.c || return
	language=g++
	ok "compile C++" compiler -c throwing.cpp main.cpp || return
	for object in switching jumping throwing; do
		ok "$object has more code than four branches reach" \
			[ "$(size_of $object.o)" -gt $((4 * 131072)) ]
	done
	flags=-pie
	link pie ../main.o ../switching.o ../jumping.o ../throwing.o || return
	same_run pie
	events_equal_calls pie
	ok "pie: no call is out of reach" all_patched traced/pie

	flags=-shared
	link liblarge.so ../switching.o ../jumping.o ../throwing.o || return
	flags=-pie
	link with-library ../main.o -L. -llarge || return
	same_run with-library
	events_equal_calls with-library
	ok "library: no call is out of reach" all_patched traced/liblarge.so

	# What it jumps to is not known: nothing in it is moved.
	language=gcc
	link counting ../counting_main.c ../counting.o || return
	same_run counting
	events_equal_calls counting
	ok "a jump to a calculated place: what is far is listed" [ "$(out_of_reach traced/counting)" -gt 300 ]
}

for_targets behaviour
