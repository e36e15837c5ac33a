#!/bin/sh
# LITIFUT_MODE=paths: places that have room for a 16-bit branch only borrow code near by (T32 code). They take the
# start of a function only where there is nothing else: it has to be recorded if a function that calls it is
# left, and would be left as well without it.
. "$(dirname "$0")/../lib.sh"
few_targets armhf

assembly()
{
	cat >code.S <<-'END'
			.syntax	unified
			.thumb
			.text
			.globl	kept
			.type	kept, %function
		kept:	push	{r4, lr}
			mov	r4, r0
			adds	r0, #1
			lsls	r4, r4, #1
			cmp	r4, #8
			bhi	1f
			adds	r0, r0, r4
		1:	pop	{r4, pc}
			.size	kept, . - kept

			.globl	room
			.type	room, %function
		room:	push	{r4, lr}
			.rept	60
			adds	r0, #3
			.endr
			pop	{r4, pc}
			.size	room, . - room

			@ each case but the last has a single instruction
			.globl	cases
			.type	cases, %function
		cases:	push	{r4, lr}
			cmp	r0, #3
			bhi	9f
			tbb	[pc, r0]
		0:	.byte	(1f - 0b) / 2, (2f - 0b) / 2, (3f - 0b) / 2, (4f - 0b) / 2
		1:	adds	r1, #1
		2:	adds	r1, #2
		3:	adds	r1, #3
		4:	adds	r1, #4
			mov	r0, r1
		9:	pop	{r4, pc}
			.size	cases, . - cases

			@ one case is nothing but the jump of another switch, which can't be moved
			.globl	left
			.type	left, %function
		left:	push	{r4, lr}
			cmp	r0, #1
			bhi	9f
			tbb	[pc, r0]
		0:	.byte	(1f - 0b) / 2, (2f - 0b) / 2
		1:	tbb	[pc, r1]
		0:	.byte	(2f - 0b) / 2, (3f - 0b) / 2
		2:	adds	r0, #5
			adds	r0, #6
			b	9f
		3:	adds	r0, #7
			adds	r0, #8
		9:	bl	kept
			pop	{r4, pc}
			.size	left, . - left
			.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <stdio.h>

		int kept(int n);
		int room(int n);
		int cases(int n, int m);
		int left(int n, int m);

		int main(int argc, char **argv)
		{
			int sum = 0;

			(void)argv;
			for (int i = 0; i < 8; i++)
				sum += kept(i) + room(i) + cases(i, argc) + left(i & 1, i >> 1 & 1);
			printf("%d\n", sum);
			return 0;
		}
	END
}

behaviour()
{
	assembly
	export LITIFUT_MODE=paths
	link program ../main.c ../code.S
	same_run program
	blocks_equal "" program
	is "a function keeps its start where its caller is left" \
		"$("$BUILD/bin/litifut" info --skipped traced/program | sed -n 's/^0x.* in //p' | sort -u)" left
}

for_targets behaviour
