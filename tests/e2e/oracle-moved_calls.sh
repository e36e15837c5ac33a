#!/bin/sh
# T32 code: the branch that stands in the place of a moved call may be a stone, far from where the
# call returns to, and the callee near that stone. The oracle takes it for the call that it is.
. "$(dirname "$0")/../lib.sh"
[ "$TARGETS" != "$all_targets" ] || TARGETS=armhf # others have no calls of 16 bits that move

behaviour()
{
	cat >pointed.s <<-'END'
			.syntax unified
			.thumb
			.text
			.macro function name
			.globl \name
			.type \name, %function
			.thumb_func
		\name:
			.endm
			@ the only code near by that can make room for a stone
			function room
			adds r0, #1
			adds r0, #2
			adds r0, #3
			adds r0, #4
			bx lr
			.size room, . - room
			function beside
			adds r0, #1
			bx lr
			.size beside, . - beside
			.rept 30
			.word 0
			.endr
			@ to its call a branch leads, so that nothing before it can move
			function pointed
			push {r4, r5, r6, lr}
			mov r4, r1
		1:	blx r4
			adds r0, #1
			lsls r0, r0, #0
			cmp r0, r2
			blt 1b
			pop {r4, r5, r6, pc}
			.size pointed, . - pointed
			.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		int room(int), beside(int), pointed(int, int (*)(int), int);
		__attribute__((noipa)) static int other(int x) { __asm__ volatile(""); return x + 1; }
		int main(void)
		{
			int sum = 0;
			for (int i = 0; i < 10; i++)
				sum += pointed(i, beside, 0) + pointed(i, other, 0) + room(i);
			printf("%d\n", sum);
			return 0;
		}
	END
	for mode in table spans; do
		export LITIFUT_CLOCK=page LITIFUT_MODE=$mode
		link program ../main.c ../pointed.s || return
		unset LITIFUT_CLOCK LITIFUT_MODE
		same_run program
		run_timed program
		ok "$mode: the branch is far from where the call returns to" \
			python3 -c '
import sys
moved = [line.split()[1:3] for line in open(sys.argv[1]) if line.startswith("moved")]
sys.exit(not any(int(to, 16) - int(branch, 16) > 64 for branch, to in moved))' oracle.through
		"$BUILD/bin/litifut-post" -q -f csv -o out.csv data traced/program
		ok "$mode: both calls are recorded" sh -c '
			test "$(grep -c "\"pointed\".*\"\(beside\|other\)\".*,call,10,10," out.csv)" = 2'
		ok "$mode: the calls and times are what the oracle saw" \
			python3 "$root/tests/oracle/table.py" oracle out.csv traced/program
	done
}

for_targets behaviour
