#!/bin/sh
# T32 code in which a call without room for a branch follows at once upon another site,
# a conditional tail call: that one stays in its place, and the call takes its room
# elsewhere. Hand-written code has it, as ffmpeg's for VP9.
. "$(dirname "$0")/../lib.sh"
[ "$TARGETS" = "$all_targets" ] && TARGETS="armhf"

sources()
{
	cat >pairs.S <<-'END'
		.syntax unified
		.arch armv7-a
		.thumb
		.text
		.macro function name
		.balign 4
		.type \name, %function
		.thumb_func
		\name:
		.endm
		@ int pair(int x, int (*f)(int)): ends in a call of one of the two, or of f
		.macro pair name instructions:req
		.globl \name
		function \name
		cmp r0, #2
		\instructions
		.size \name, . - \name
		.endm
		function double
		add r0, r0, r0
		movw r1, #7
		add r0, r0, r1
		bx lr
		.size double, . - double
		pair wide_narrow "bge.w square; b.n double"
		pair narrow_narrow "bge.n square; b.n double"
		pair narrow_wide "bge.n square; b.w double"
		pair zero_narrow "cbz r0, square; b.n double"
		pair wide_register "bge.w square; bx r1"
		pair three "beq.n square; bgt.n double; b.n square"
		function square
		mul r0, r0, r0
		movw r1, #9
		add r0, r0, r1
		bx lr
		.size square, . - square
		.globl wide_call
		function wide_call
		push {r3, lr}
		cmp r0, #2
		pop.w {r3, lr}
		bge.w square
		push {r3, lr}
		cmp r0, #1
		b 1f
		1: pop.w {r3, lr}
		bge.w square
		blx r1
		movs r0, #5
		bl exit
		.size wide_call, . - wide_call
		@ code that stepping stones can stand in
		function room
		.rept 30
		movw r0, #8
		movw r1, #9
		.endr
		bx lr
		.size room, . - room
		.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		#define PAIRS(X) X(wide_narrow) X(narrow_narrow) X(narrow_wide) X(zero_narrow) \
			X(wide_register) X(three) X(wide_call)
		#define DECLARE(name) int name(int, int (*)(int));
		PAIRS(DECLARE)
		static int callee(int x) { return x - 100; }
		int main(void)
		{
		#define RUN(name) for (int i = 4; i--;) { printf(#name " %d\n", name(i, callee)); fflush(stdout); }
			PAIRS(RUN)
			return 0;
		}
	END
}

behaviour()
{
	sources
	for engine in db thunk; do
		export LITIFUT_ENGINE=$engine
		link "pairs-$engine" ../main.c ../pairs.S || continue
		same_run "pairs-$engine"
		events_equal_calls "pairs-$engine"
		is "$engine: tail calls of both" "$(recorded double) $(recorded square)" "10 15"
		is "$engine: none is left" "$("$BUILD/bin/litifut" info --skipped "traced/pairs-$engine" |
			grep -c '^0x')" 0
	done
	unset LITIFUT_ENGINE
}

for_targets behaviour
