#!/bin/sh
# LITIFUT_MODE=paths: in position-independent MIPS code a call reaches 128 KB. Direct calls and jumps do not record
# the start of a function to which pointers lead as well, also where the code that records it is farther away:
# they come behind the record by ways that stand behind islands.
. "$(dirname "$0")/../lib.sh"
few_targets mipsel
[ "$TARGETS" = "$all_targets" ] && TARGETS="mipsel mips"

# filler NAME: 192 KB of code, in functions
filler()
{
	awk -v name="$1" 'BEGIN {
		for (i = 0; i < 24; i++) {
			f = name i
			printf "\t.section .text.%s,\"ax\",@progbits\n\t.globl %s\n\t.type %s, @function\n\t.ent %s\n", f, f, f, f
			printf "%s:\n\t.set noreorder\n\tbgtz $4, 1f\n\tmove $2, $4\n", f
			for (j = 0; j < 2040; j++)
				print "\taddiu $2, $2, 3"
			printf "1:\tjr $31\n\tnop\n\t.set reorder\n\t.end %s\n\t.size %s, .-%s\n", f, f, f
		}
	}' >"$1.s"
}

# callers NAME: the calls, from a place of their own
callers()
{
	cat >"$1.c" <<-END
		#include "far.h"
		/* loads the address once */
		KEEP static int again(int n)
		{
			int sum = 0;

			for (int i = 0; i < 8; i++)
				sum += leaf(n + i) ^ turn(n - i);
			return sum;
		}
		KEEP static int tail(int n) { return n & 1 ? plain(n + 1) : turn(n - 4); }
		int $1(int n)
		{
			int sum = again(n) + tail(n);

			sum += leaf(n) + plain(n) + turn(n - 2) + framed(n, leaf) + stored(n, turn);
			return sum + odd(n) + half(n) + early(n);
		}
	END
}

sources()
{
	cat >far.h <<-'END'
		#define KEEP __attribute__((noipa))
		int leaf(int n), plain(int n), turn(int n), odd(int n), half(int n), early(int n);
		int framed(int n, int (*f)(int)), stored(int n, int (*f)(int));
		int start(int n), middle(int n), end(int n);
		extern volatile int sum;
	END
	cat >main.c <<-'END'
		#include "far.h"
		#include <stdio.h>
		volatile int sum;
		/* makes its global pointer of t9 */
		KEEP int plain(int n)
		{
			sum += n;
			return n > 2 ? leaf(n) + 1 : n;
		}
		KEEP int framed(int n, int (*f)(int)) { return n & 64 ? f(n) + 1 : n; }
		KEEP int stored(int n, int (*f)(int))
		{
			volatile int kept = n;

			return n & 32 ? f(kept) + 1 : kept;
		}
		int main(void)
		{
			static int (*volatile const pointers[])(int) = {leaf, plain, turn, odd, half, early, start, middle, end};

			for (int i = 0; i < 60; i++)
				sum += start(i) + middle(i) + end(i);
			for (int i = 0; i < 9; i++)
				sum += pointers[i](i);
			printf("%d\n", sum);
			return 0;
		}
	END
	# leaf() has room; turn() and early() begin with a branch, whose delay slot may come before it in early()
	cat >leaf.s <<-'END'
		.text
		.set noreorder
		.macro begins name
		.globl \name
		.type \name, @function
		.ent \name
		\name:
		.endm
		.macro ends name
		.end \name
		.size \name, . - \name
		.endm
		begins leaf
		sll $2, $4, 1
		addiu $2, $2, 5
		xori $3, $2, 3
		addu $2, $2, $3
		blez $2, 1f
		nop
		addiu $2, $2, -1
		1: jr $31
		nop
		ends leaf
		begins turn
		bgtz $4, 1f
		addiu $4, $4, 3
		sll $4, $4, 1
		1: jr $31
		move $2, $4
		ends turn
		begins early
		bgtz $4, 1f
		move $2, $4
		addiu $2, $2, 9
		1: jr $31
		nop
		ends early
	END
	# odd() calls near() with something else in t9
	cat >odd.s <<-'END'
		.text
		.set noreorder
		.globl odd
		.type odd, @function
		.ent odd
		odd: move $24, $31
		bal near
		move $25, $4
		bgtz $2, 1f
		move $31, $24
		addiu $2, $2, 1
		1: jr $31
		nop
		.end odd
		.size odd, . - odd
		.globl half
		.type half, @function
		.ent half
		half: sra $2, $4, 1
		addiu $2, $2, 1
		xori $2, $2, 6
		bgtz $2, 1f
		nop
		addiu $2, $2, 3
		1: jr $31
		nop
		.end half
		.size half, . - half
		.globl near
		.type near, @function
		.ent near
		near: bgez $4, 1f
		sll $4, $4, 2
		addiu $4, $4, 3
		1: jr $31
		addu $2, $4, $25
		.end near
		.size near, . - near
	END
	for place in start middle end; do callers $place; done
	filler before
	filler behind
}

# at_most MOST: so many records are in the trace, some at least
at_most()
{
	records=$(python3 "$root/tests/oracle/records.py" data)
	echo "$records records"
	[ "$records" -gt 12 ] && [ "$records" -le "$1" ]
}

far_calls()
{
	sources
	export LITIFUT_MODE=paths
	for flags in "-O2 -Wl,-E" "-O2 -fno-pie -no-pie -Wl,-E"; do
		rm -rf plain traced
		link far ../main.c ../leaf.s ../start.c ../before.s ../middle.c ../odd.s ../behind.s ../end.c || continue
		same_run far
		blocks_equal "" far
		ok "$flags: direct calls are not recorded" at_most 250
	done
	unset LITIFUT_MODE
}

for_targets far_calls
