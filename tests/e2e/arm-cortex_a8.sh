#!/bin/sh
# The stubs by which the linker works around an erratum of the Cortex-A8: 32-bit
# branches across the end of a page lead to them. What they lead to is the callee.
TARGETS=${TARGETS:-armhf}
. "$(dirname "$0")/../lib.sh"

sources()
{
	cat >crossing.S <<-'END'
		.syntax unified
		.arch armv7-a
		.text
		@ a branch at the end of a page, to a function at the start of that page;
		@ `before` is the 16-bit instruction that the function begins with
		.macro crossing name before after branch:vararg
		.balign 4096
		.thumb
		.thumb_func
		.globl target_\name
		.type target_\name, %function
		target_\name:
		adds r0, #1
		bx lr
		.size target_\name, . - target_\name
		.arm
		.globl plain_\name
		.type plain_\name, %function
		plain_\name:
		add r0, r0, #10
		bx lr
		.size plain_\name, . - plain_\name
		.thumb
		.rept (4096 - 8 - 12) / 2
		nop
		.endr
		.globl \name
		.thumb_func
		.type \name, %function
		\name:
		\before
		add.w r0, r0, #0
		\branch
		adds r0, #100
		\after
		.size \name, . - \name
		.endm
		crossing crosses_bl "push {lr}" "pop {pc}" bl target_crosses_bl
		crossing crosses_blx "push {lr}" "pop {pc}" blx plain_crosses_blx
		crossing crosses_b nop "bx lr" b.w target_crosses_b
		crossing crosses_condition "cmp r0, #1" "bx lr" bne.w target_crosses_condition
		@ a loop that is not a call
		.balign 4096
		.globl loops
		.thumb_func
		.type loops, %function
		loops:
		movs r1, #0
		1: adds r1, #1
		cmp r1, #3
		bhs.w 2f
		.rept (4096 - 12 - 4) / 2
		nop
		.endr
		add.w r0, r0, #7
		b.w 1b
		2: bx lr
		.size loops, . - loops
		.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		int crosses_bl(int), crosses_blx(int), crosses_b(int), crosses_condition(int), loops(int);
		int main(void)
		{
			for (int i = 0; i < 3; i++)
				printf("%d %d %d %d %d\n", crosses_bl(i), crosses_blx(i), crosses_b(i),
				       crosses_condition(i), loops(i));
			return 0;
		}
	END
}

behaviour()
{
	sources
	flags="-mthumb -march=armv7-a+fp -Wl,--fix-cortex-a8"
	link program ../main.c ../crossing.S || return
	ok "the linker made stubs" [ "$("$triplet-objdump" -d plain/program |
		grep -c '[0-9a-f]*ffe:.*<target_crosses')" = 0 ]
	is "the loop goes through one as well, and is not a site" "$("$triplet-objdump" -d plain/program |
		grep -c 'ffe:.*<loops+0x2>') $("$BUILD/bin/litifut" info --sites traced/program |
		grep -c '^0x[0-9a-f]*ffe ')" "0 4"
	same_run program
	events_equal_calls program
	is "calls and tail calls have their callees" "$(recorded target_crosses_bl) \
$(recorded plain_crosses_blx) $(recorded target_crosses_b) $(recorded target_crosses_condition)" "3 \
3 3 2"
}

for_targets behaviour
