#!/bin/sh
# LITIFUT_MODE=spans: returns to places that branches lead to as well, with another call so near that
# there is no room for what these branches are led to. Another return point lends it. Branches of all
# kinds lead there, from both sides; exceptions and backtraces pass, and a fault of the code that moves
# from the lender is found where it would be.
. "$(dirname "$0")/../lib.sh"
TARGETS=$(for each in $TARGETS; do case $each in mips*) echo "$each" ;; esac; done)

# Calls between labels, for which the frame is that of `framed`.
assembly()
{
	cat >shapes.S <<-'END'
			.text
			.set	noreorder
			.macro	begin name
			.globl	\name
			.type	\name, @function
			.ent	\name
		\name:
			.endm
			.macro	end name
			.end	\name
			.size	\name, . - \name
			.endm
			.macro	framed name
			begin	\name
			addiu	$sp, $sp, -32
			sw	$ra, 28($sp)
			sw	$16, 24($sp)
			sw	$17, 20($sp)
			move	$16, $4
			li	$17, 0
			.endm
			.macro	leave name
			move	$2, $17
			lw	$17, 20($sp)
			lw	$16, 24($sp)
			lw	$ra, 28($sp)
			jr	$ra
			addiu	$sp, $sp, 32
			end	\name
			.endm

		begin	leaf
			jr	$ra
			addiu	$2, $4, 1
		end	leaf

		# a branch from before, to the first instruction
		framed	forward
			b	1f
			li	$2, 100
		0:	bal	leaf
			move	$4, $16
		1:	addu	$17, $17, $2
			move	$4, $17
			bal	leaf
			addiu	$16, $16, -1
			bgtz	$16, 0b
			nop
		leave	forward

		# a likely branch from behind, to the first one
		framed	likely
		0:	bal	leaf
			move	$4, $16
		1:	addu	$17, $17, $2
			addiu	$16, $16, -1
			bal	leaf
			move	$4, $17
			andi	$3, $16, 3
			nop
			bnel	$3, $0, 1b
			li	$2, 7
			bgtz	$16, 0b
			nop
		leave	likely

		# to the second one, by the sign and by a likely branch
		framed	second
		0:	bal	leaf
			move	$4, $16
			addu	$17, $17, $2
		1:	addiu	$16, $16, -1
			bal	leaf
			move	$4, $17
			andi	$3, $16, 2
			nop
			bnel	$3, $0, 1b
			addiu	$17, $17, 9
			bgtz	$16, 0b
			nop
		leave	second

		# by the condition of a coprocessor
		framed	floating
		0:	bal	leaf
			move	$4, $16
		1:	addu	$17, $17, $2
			addiu	$16, $16, -1
			bal	leaf
			move	$4, $17
			mtc1	$16, $f0
			cvt.s.w	$f0, $f0
			li	$3, 4
			mtc1	$3, $f2
			cvt.s.w	$f2, $f2
			c.lt.s	$f2, $f0
			bc1t	1b
			li	$2, 3
			bgtz	$16, 0b
			nop
		leave	floating

		# a branch in the delay slot of whose place another instruction sets what it uses
		framed	waits
			b	2f
			li	$2, 5
		0:	bal	leaf
			move	$4, $16
		1:	addu	$17, $17, $2
			move	$4, $2
			bal	leaf
			nop
		2:	addiu	$16, $16, -1
			andi	$3, $16, 1
			beq	$3, $0, 1b
			sll	$2, $16, 1
			bgtz	$16, 0b
			nop
		leave	waits

		# return points that can lend room
		framed	lends
			bal	leaf
			nop
			addu	$17, $17, $2
			sll	$3, $17, 1
			addu	$17, $17, $3
			lw	$3, 16($sp)
			addiu	$17, $17, 1
			bal	leaf
			move	$4, $17
			addu	$17, $17, $2
			sll	$3, $17, 1
			xor	$17, $17, $3
			andi	$17, $17, 0xff
			addiu	$17, $17, 1
			bal	leaf
			move	$4, $17
			addu	$17, $17, $2
			sll	$3, $17, 2
			xor	$17, $17, $3
			andi	$17, $17, 0xff
			addiu	$17, $17, 1
			bal	leaf
			move	$4, $17
			addu	$17, $17, $2
			sll	$3, $17, 2
			addu	$17, $17, $3
			andi	$17, $17, 0xff
			addiu	$17, $17, 1
			bal	leaf
			move	$4, $17
			addu	$17, $17, $2
			sll	$3, $17, 2
			subu	$17, $17, $3
			andi	$17, $17, 0xff
			addiu	$17, $17, 1
			.rept	4
			bal	leaf
			move	$4, $17
			addu	$17, $17, $2
			sll	$3, $17, 2
			xor	$17, $17, $3
			andi	$17, $17, 0xff
			addiu	$17, $17, 1
			.endr
		leave	lends
			.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		int forward(int), likely(int), second(int), floating(int), waits(int), lends(int);
		int main(void)
		{
			int (*const all[])(int) = {forward, likely, second, floating, waits, lends};
			for (int i = 0; i < 60; i++)
				printf("%d\n", all[i % 6](i));
			return 0;
		}
	END
}

check()
{
	export LITIFUT_CLOCK=page LITIFUT_MODE=spans
	link "$@" || return
	unset LITIFUT_CLOCK LITIFUT_MODE
	same_run "$1"
	run_timed "$1"
	ok "$1: calls, returns and their times are those of the oracle" \
		python3 "$root/tests/oracle/returns.py" times oracle data "traced/$1"
}

left_of_shapes()
{
	"$BUILD/bin/litifut" info --skipped "$1" |
		awk '$2 == "return" && $NF ~ /^(forward|likely|second|floating|waits|lends)$/'
}

throwing_source()
{
	cat >throws.cc <<-'END'
		#include <execinfo.h>
		#include <signal.h>
		#include <stdio.h>
		#include <stdlib.h>
		#include <string.h>
		#define KEEP __attribute__((noipa))
		struct noisy { int *count; KEEP ~noisy() { ++*count; } };
		struct item { int a, b, c; item *next; };
		static int undone, depth_at;
		static bool armed;
		static int depth()
		{
			void *addresses[64];
			int count = backtrace(addresses, 64);
			__asm__ volatile("" : : "r"(addresses) : "memory");
			return count;
		}
		KEEP static int step(int n)
		{
			depth_at += depth();
			if (n == 5)
				throw n;
			return n & 3;
		}
		KEEP static int more(int n) { depth_at += depth(); return n > 2; }
		KEEP static int loops(int n)
		{
			noisy here{&undone};
			int r = 0, i = 0;
			goto middle;
			for (; i < n; i++) {
				r += step(i);
			middle:
				more(r);
				if (more(i + n))
					r += 2;
				while (more(r) && r < 30)
					r += 1 + step(r & 3);
			}
			return r;
		}
		KEEP static item *get(item *p) { return p; }
		KEEP static int reads(item *p)
		{
			item *q = get(p);
			return q->a + q->b * q->c + q->next->a;
		}
		static void on_fault(int)
		{
			printf("fault %d\n", depth());
			fflush(stdout);
			_Exit(3);
		}
		int main()
		{
			item last = {1, 2, 3, nullptr}, first = {4, 5, 6, &last};
			signal(SIGSEGV, on_fault);
			for (int i = 0; i < 9; i++)
				try {
					printf("%d\n", loops(i));
				} catch (int n) {
					printf("caught %d\n", n);
				}
			printf("%d undone, depths %d\n", undone, depth_at);
			printf("%d\n", reads(&first));
			return reads(&last);
		}
	END
}

behaviour()
{
	assembly
	for flags in "" -no-pie; do
		check "shapes$flags" ../shapes.S ../main.c || continue
		is "shapes$flags: all returns are recorded" "$(left_of_shapes "traced/shapes$flags")" ""
	done
	# far from the trampolines: by islands
	flags=
	printf '.text; .space 0x50000\n' >space.S
	check far ../space.S ../shapes.S ../main.c ../space.S
	is "far: all returns are recorded" "$(left_of_shapes traced/far)" ""
	throwing_source
	for flags in "-funwind-tables" "-no-pie -funwind-tables"; do
		name=throws${flags%% *}
		export LITIFUT_MODE=spans
		language=g++
		link "$name" ../throws.cc || continue
		language=gcc
		unset LITIFUT_MODE
		same_run "$name"
		ok "$name: a fault has ended it" grep -q '^fault [3-9]' plain.out
	done
}

for_targets behaviour
