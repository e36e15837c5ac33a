#!/bin/sh
# LITIFUT_MODE=paths: behind calls of pointers there is no room to record that they have returned, nor in the
# block that follows. Two ways lead to the block that records it, and one of them has a block with room
# before: the reader expects the bits that are recorded, and no others.
. "$(dirname "$0")/../lib.sh"

# ways(n, f): calls f, and has its blocks without room behind that
assembly()
{
	cat >ways.S <<-'END'
			.text
			.globl	ways
			.type	ways, %function
		#ifdef __mips__
			.set	noreorder
			.ent	ways
		ways:	addiu	$sp, $sp, -40
			sw	$31, 36($sp)
			sw	$16, 32($sp)
			sw	$17, 28($sp)
			sw	$18, 24($sp)
			move	$16, $4
			move	$18, $5
			andi	$17, $4, 3
			sltiu	$2, $17, 1
			bnez	$2, 1f
			sltiu	$2, $17, 2
			bnez	$2, 2f
			sltiu	$2, $17, 3
			bnez	$2, 4f
			andi	$2, $16, 4
			bnez	$2, 3f
			nop
			move	$25, $18
			jalr	$25
			move	$4, $17
			addu	$17, $17, $2
		1:	addiu	$17, $17, 1
		2:	addiu	$17, $17, 2
			move	$25, $18
			jalr	$25
			move	$4, $17
			addu	$17, $17, $2
			sll	$3, $17, 2
			xor	$17, $17, $3
			andi	$3, $17, 8
			bnez	$3, 5f
			addiu	$17, $17, 1
			addiu	$17, $17, 5
		5:	move	$2, $17
			lw	$18, 24($sp)
			lw	$17, 28($sp)
			lw	$16, 32($sp)
			lw	$31, 36($sp)
			jr	$31
			addiu	$sp, $sp, 40
		3:	move	$25, $18
			jalr	$25
			move	$4, $17
			addu	$17, $17, $2
		4:	b	2b
			addiu	$17, $17, 3
			.end	ways
		#else
			.syntax	unified
		ways:	push	{r4, r5, r6, lr}
			mov	r4, r0
			mov	r6, r1
			and	r5, r0, #3
			cmp	r5, #1
			blo	1f
			beq	2f
			cmp	r5, #2
			beq	4f
			tst	r4, #4
			bne	3f
			mov	r0, r5
			blx	r6
			add	r5, r5, r0
		1:	add	r5, r5, #1
		2:	add	r5, r5, #2
			mov	r0, r5
			blx	r6
			add	r5, r5, r0
			eor	r5, r5, r5, lsl #2
			tst	r5, #8
			bne	5f
			add	r5, r5, #5
		5:	mov	r0, r5
			pop	{r4, r5, r6, pc}
		3:	mov	r0, r5
			blx	r6
			adds	r5, r5, r0
		4:	add	r5, r5, #3
			b	2b
		#endif
			.size	ways, . - ways
			.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		int ways(int, int (*)(int));
		static int twice(int n) { return n * 2; }
		static int odd(int n) { return n & 1 ? twice(n) : 7; }
		int main(void)
		{
			for (int i = 0; i < 60; i++)
				printf("%d\n", ways(i, i % 3 ? odd : twice));
			return 0;
		}
	END
}

behaviour()
{
	[ "$target" != armel ] || return 0 # its CPUs may be older: there is no such mode
	assembly
	export LITIFUT_MODE=paths
	for options in -O2 "-O2 -no-pie"; do
		flags=$options
		link program ../main.c ../ways.S || continue
		same_run program
		blocks_equal "" program
	done
}

for_targets behaviour
