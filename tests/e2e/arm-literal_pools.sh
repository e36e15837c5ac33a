#!/bin/sh
# T32 functions with words of data in them. Distances in a literal pool, as of the GOT in
# position-independent code, are not a table of a switch: the calls that they would lead to
# are rewritten. Where a table holds such distances, its cases are where they were. A
# literal is not taken for instructions that were written as numbers.
. "$(dirname "$0")/../lib.sh"
[ "$TARGETS" = "$all_targets" ] && TARGETS="armhf"

sources()
{
	cat >pools.S <<-'END'
		.syntax unified
		.arch armv7-a
		.thumb
		.text
		.macro function name
		.balign 4
		.globl \name
		.type \name, %function
		.thumb_func
		\name:
		.endm
		@ nothing near by that a stepping stone could stand in
		.fill 1024, 4, 0
		@ int pool(int x, int (*f)(int)): any two words of the pool add up to some
		@ multiple of four behind it, where each of the calls stands
		function pool
		push {r4, lr}
		mov r4, r1
		b.w 1f
		.balign 4
		.rept 16
		.word 256, 512, 768, 1024
		.endr
		1: nop
		.rept 40
		adds r0, #1
		blx r4
		.endr
		pop {r4, pc}
		.size pool, . - pool
		.fill 1024, 4, 0
		@ a switch by distances that lack the bit of the state, and cases that begin
		@ with a call
		function switch_even
		push {r4, r5, r6, lr}
		mov r4, r1
		and r6, r0, #1
		adr r3, 7f
		ldr.w r6, [r3, r6, lsl #2]
		add r3, r6
		mov pc, r3
		.balign 4
		7: .word 1f - 7b, 2f - 7b
		.balign 4
		1: blx r4
		adds r0, #10
		.balign 4
		2: blx r4
		pop {r4, r5, r6, pc}
		.size switch_even, . - switch_even
		@ int constant(int x): the literal looks like a call, and the code before it seems
		@ to lead there
		function constant
		ldr r1, 8f
		cmp r0, r0
		nop
		beq 1f
		8: .word 0xf800f000
		1: add r0, r1
		bx lr
		.size constant, . - constant
		.arm
		.globl plain_constant
		.type plain_constant, %function
		plain_constant:
		ldr r1, 8f
		cmp r0, r0
		beq 1f
		8: .word 0xebffffff
		1: add r0, r0, r1
		bx lr
		.size plain_constant, . - plain_constant
		.thumb
		.rept 20
		movw r0, #7
		movw r1, #7
		.endr
		.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		int pool(int, int (*)(int)), switch_even(int, int (*)(int));
		int constant(int), plain_constant(int);
		static int callee(int x) { return x * 3 % 1009; }
		int main(void)
		{
			printf("%d\n", pool(5, callee));
			for (int i = 0; i < 4; i++)
				printf("%d\n", switch_even(i, callee));
			printf("%x %x\n", constant(1), plain_constant(1));
			return 0;
		}
	END
}

behaviour()
{
	sources
	for engine in db thunk; do
		export LITIFUT_ENGINE=$engine
		link "pools-$engine" ../main.c ../pools.S || continue
		same_run "pools-$engine"
		events_equal_calls "pools-$engine"
		is "$engine: calls" "$(recorded callee)" 46
		is "$engine: none is left" "$("$BUILD/bin/litifut" info --skipped "traced/pools-$engine" |
			grep -c '^0x')" 0
	done
	unset LITIFUT_ENGINE
}

for_targets behaviour
