/* LITIFUT_MODE=paths on MIPS: what the code of a branch calls (rewriter/mips/edge.c), once it has
 * made room for 16 bytes on the stack and stored $v1 at 8 and ra at 12. litifut_bit_zero and
 * litifut_bit_one put one bit into the word before the thread's cursor, litifut_bits_number several,
 * litifut_bits_enter puts down where it was called from; <litifut/trace_format.h> has the words. A word behind the call
 * says how far from there the code goes on. Linked for this mode only.
 *
 * As branches do not reach far, the rewriter makes copies of this code, from litifut_bit_zero to
 * the end of litifut_bits_spawn: nothing in it depends on where it stands but one word.
 *
 * A signal handler may come between any two instructions: see tracer/arm/bits.S, which does the
 * same. Only the cursor is changed by both, and by ll and sc.
 *
 * $at is free; all other registers are kept. rdhwr is of release 2; older CPUs trap, and the kernel
 * has a short way for just this form, with $v1.
 *
 * Where the code of a branch has a register that holds nothing, or has stored one, it shifts its bit in
 * by itself, and calls only when the word is full. X is that register:
 *
 *	again:	rdhwr	X, $29
 *		lw	X, VECTOR(X)
 *		lw	X, CURSOR(X)
 *		bnezl	X, go
 *		lw	$at, -4(X)
 *	slow:	addiu	$sp, $sp, -16
 *		sw	$ra, 12($sp)
 *		bal	litifut_bits_room
 *		addiu	X, $sp, form
 *	go:	sll	$at, $at, 1
 *		bltz	$at, slow
 *		...
 *	on:	...			stores $at at -4(X)
 *
 * litifut_bits_room begins another word and goes back to `again`, or, where nothing is recorded, to
 * `on`, 12 bytes behind `go`: then X leads to nothing, below the stack pointer. `form` is 0, or
 * LITIFUT_BITS_STORED_MIPS where X is in the lower of two words that were pushed; then the upper one
 * gets $ra as well, by one more instruction before the call. Or it is LITIFUT_BITS_HEAD_MIPS: then this
 * code is one of the heads at the end of the copies, which the code of a branch calls where $ra holds
 * nothing either. They return with $at as it is to be stored. */

#include <litifut/thunk_abi.h>

#include "save.inc"

#define VECTOR LITIFUT_THUNK_VECTOR_MIPS
#define CURSOR LITIFUT_THUNK_CURSOR
#define LL_AT_CURSOR .word 0xc0610000 + CURSOR	/* as thunk.S has it */
#define EXIT_DISTANCE 20	/* LITIFUT_EXIT_DISTANCE */

	.set	noreorder
	.set	noat
	.set	nomips16
	.set	nomicromips
	.set	mips32r2

	.text
	.p2align 4

	.macro	begin name
	.globl \name
	.hidden \name
	.type \name, @function
	.ent \name
\name:
	.cfi_startproc
	.endm

	.macro	end name
	.cfi_endproc
	.end \name
	.size \name, . - \name
	.endm

	.macro	goes_on
	lw	$at, 0($ra)
	addu	$at, $at, $ra
	lw	$ra, 12($sp)
	jr	$at
	addiu	$sp, $sp, 16
	.endm

	.macro	bit name value
	begin	\name
1:	rdhwr	$v1, $29
	lw	$v1, VECTOR($v1)
	lw	$v1, CURSOR($v1)
	beqz	$v1, 8f
	nop
	lw	$at, -4($v1)
	sll	$at, $at, 1
	bltz	$at, 2f			/* the word is full */
	.if	\value
	ori	$at, $at, 1
	.else
	nop
	.endif
	sw	$at, -4($v1)
	lw	$v1, 8($sp)
	goes_on
2:	andi	$at, $v1, LITIFUT_THUNK_STOP_BYTES - 1
	beqz	$at, 8f			/* there is no room behind it */
	sw	$t0, 4($sp)
	move	$t0, $v1
	rdhwr	$v1, $29
	lw	$v1, VECTOR($v1)
	LL_AT_CURSOR
	bne	$at, $t0, 3f		/* a handler came between: into the word that it has left */
	addiu	$t0, $t0, 4
	sc	$t0, CURSOR($v1)
	beqz	$t0, 3f
	li	$v1, 2 | \value
	sw	$v1, 0($at)
	lw	$t0, 4($sp)
	lw	$v1, 8($sp)
	goes_on
3:	b	1b
	lw	$t0, 4($sp)
8:	b	.Lslow
	li	$v1, \value
	end	\name
	.endm

	bit	litifut_bit_zero, 0
	bit	litifut_bit_one, 1

	begin	litifut_bits_enter
	sw	$t0, 4($sp)
1:	rdhwr	$v1, $29
	lw	$v1, VECTOR($v1)
	LL_AT_CURSOR
	addiu	$t0, $at, 8
	andi	$t0, $t0, LITIFUT_THUNK_STOP_BYTES - 16
	beqz	$t0, 8f			/* there is no cursor, or no room */
	addiu	$t0, $at, 8
	sc	$t0, CURSOR($v1)
	beqz	$t0, 1b
	srl	$t0, $ra, 1
	lui	$v1, 0x8000
	or	$t0, $t0, $v1
	sw	$t0, 0($at)
	li	$v1, 1			/* the word for bits behind it */
	sw	$v1, 4($at)
	lw	$t0, 4($sp)
	lw	$v1, 8($sp)
	goes_on
8:
.Lentered:
	lw	$t0, 4($sp)
	li	$v1, 2
	/* $v1: 0 or 1, the bit; 2: the block is entered; or LITIFUT_BITS_SPAWNS */
.Lslow:	sw	$ra, 0($sp)
	bal	9f
	nop
	/* the rewriter changes it in copies */
	.globl litifut_bits_distance
	.hidden litifut_bits_distance
litifut_bits_distance:
	.word	litifut_bits_slow - litifut_bits_distance
9:	lw	$at, 0($ra)
	addu	$at, $at, $ra
	jr	$at
	lw	$ra, 0($sp)
	end	litifut_bits_enter

/* Records nothing: a child is about to be made (tracer/port/linux/spawn.c). */
	begin	litifut_bits_spawn
	b	.Lslow
	li	$v1, LITIFUT_BITS_SPAWNS
	/* for code that has recorded already, and is not near where it goes on */
	.org	litifut_bit_zero + LITIFUT_BITS_ON_MIPS
	goes_on
	/* the same where ra holds nothing */
	.org	litifut_bit_zero + LITIFUT_BITS_BACK_MIPS
	lw	$at, 0($ra)
	addu	$at, $at, $ra
	jr	$at
	nop
	end	litifut_bits_spawn

	/* back to `again`: 36 bytes before $ra, or 40 */
	.macro	tries_again
	lw	$t0, -4($ra)
	andi	$t0, $t0, LITIFUT_BITS_STORED_MIPS
	srl	$t0, $t0, LITIFUT_BITS_STORED_SHIFT_MIPS
	subu	$at, $ra, $t0
	addiu	$at, $at, -36
	lw	$t0, 4($sp)
	lw	$v1, 8($sp)
	lw	$ra, 12($sp)
	jr	$at
	addiu	$sp, $sp, 16
	.endm

	.org	litifut_bit_zero + LITIFUT_BITS_ROOM_MIPS
	begin	litifut_bits_room
	sw	$t0, 4($sp)
	sw	$v1, 8($sp)
1:	rdhwr	$v1, $29
	lw	$v1, VECTOR($v1)
	LL_AT_CURSOR
	andi	$t0, $at, LITIFUT_THUNK_STOP_BYTES - 1
	beqz	$t0, .Lentered		/* there is no cursor, or no room */
	addiu	$t0, $at, 4
	sc	$t0, CURSOR($v1)
	beqz	$t0, 1b
	li	$v1, 1
	sw	$v1, 0($at)
	tries_again
	end	litifut_bits_room

	/* In $at what is to be stored, with one bit that is 0, or with 1 and 0 */
	.macro	head register bits
1:	rdhwr	$\register, $29
	lw	$\register, VECTOR($\register)
	lw	$\register, CURSOR($\register)
	bnezl	$\register, 3f
	lw	$at, -4($\register)
2:	addiu	$sp, $sp, -16
	sw	$ra, 12($sp)
	bal	litifut_bits_room
	addiu	$\register, $sp, LITIFUT_BITS_HEAD_MIPS
3:	sll	$at, $at, 1
	bltz	$at, 2b
	.if	\bits == 1
	nop
	.else
	sll	$at, $at, 1
	bltz	$at, 2b
	ori	$at, $at, 2
	.endif
	jr	$ra
	nop
	.endm

	.org	litifut_bit_zero + LITIFUT_BITS_HEADS_MIPS
	begin	litifut_bits_heads
	.irp	register, 2, 3, 4, 5, 6, 7, 8, 25
	head	\register, 1
	head	\register, 2
	.endr
	end	litifut_bits_heads

/* The number of a label: behind the word behind the call, another one has how many bits it has, and
 * above its lowest byte the number. They are shifted into the word before the cursor as bits are, or
 * into another one. Where the recorder has to do it, it puts down the address. */
	begin	litifut_bits_number
	sw	$t0, 4($sp)
	lw	$t0, 4($ra)
1:	rdhwr	$v1, $29
	lw	$v1, VECTOR($v1)
	lw	$v1, CURSOR($v1)
	beqz	$v1, 8f
	sw	$t1, 0($sp)
	lw	$at, -4($v1)
	nor	$t1, $t0, $zero		/* 31 less the bits, as shifts take it */
	srlv	$t1, $at, $t1
	bnez	$t1, 2f			/* they do not fit into the word */
4:	sllv	$at, $at, $t0
	srl	$t0, $t0, 8
	or	$at, $at, $t0
	sw	$at, -4($v1)
	lw	$t1, 0($sp)
	lw	$t0, 4($sp)
	lw	$v1, 8($sp)
	goes_on
2:	andi	$at, $v1, LITIFUT_THUNK_STOP_BYTES - 1
	beqz	$at, 8f			/* the chunk is full */
	move	$t1, $v1
	rdhwr	$v1, $29
	lw	$v1, VECTOR($v1)
	LL_AT_CURSOR
	bne	$at, $t1, 3f		/* as for a bit */
	addiu	$t1, $t1, 4
	sc	$t1, CURSOR($v1)
	beqz	$t1, 3f
	addiu	$v1, $at, 4
	b	4b
	li	$at, 1
3:	b	1b
	lw	$t1, 0($sp)
8:	b	.Lentered
	lw	$t1, 0($sp)
	.org	litifut_bit_zero + LITIFUT_BITS_BYTES_MIPS
	end	litifut_bits_number

/* The recorder gets what $v1 is as the lowest bits of the stack pointer. The return address that it gets
 * is in the code of the branch. */
	begin	litifut_bits_slow
	move	$at, $v1
	lw	$v1, 8($sp)
	save	litifut_enter_thunk
	lw	$t1, AT(1)($sp)
	lw	$t2, AT(31)($sp)
	addiu	$a3, $sp, FRAME + 16	/* the program's sp */
	lw	$t3, -4($t2)		/* the delay slot of the call */
	bltz	$t3, 2f			/* not of litifut_bits_room */
	andi	$t2, $t3, LITIFUT_BITS_STORED_MIPS	/* 8 bytes */
	addu	$a3, $a3, $t2
	andi	$t3, $t3, LITIFUT_BITS_HEAD_MIPS
	beqz	$t3, 2f
	lw	$t3, FRAME + 12($sp)
	sw	$t3, AT(31)($sp)
2:	bal	3f
	or	$a3, $a3, $t1
	jr	$ra			/* a return, for litifut_frame_exit() */
	nop
3:	addiu	$t0, $ra, EXIT_DISTANCE
	sw	$t0, AT(1)($sp)
	jalr	$t9
	addiu	$a0, $sp, 16
4:	lw	$at, AT(1)($sp)		/* the cursor, if it was given (litifut_frame_give_cursor) */
	addiu	$t0, $ra, EXIT_DISTANCE - 8 - (4b - 3b)
	xor	$t0, $t0, $at
	movz	$at, $zero, $t0
	restore
	addiu	$sp, $sp, FRAME
	.cfi_adjust_cfa_offset -FRAME
	lw	$ra, 0($sp)
	lw	$v1, -4($ra)
	bgez	$v1, 5f
	nop
	lw	$v1, 8($sp)
	goes_on
5:	beqz	$at, 6f
	nop
	.cfi_remember_state
	.cfi_undefined 31		/* a backtrace ends here */
	/* X gets the cursor, and control goes to the `bnezl' */
	sw	$at, 0($sp)
	srl	$v1, $v1, 16
	andi	$v1, $v1, 31
	srl	$at, $v1, 4		/* 24 and 25 stand behind 15 */
	sll	$at, $at, 3
	subu	$v1, $v1, $at
	sll	$at, $v1, 4
	sll	$v1, $v1, 2
	addu	$v1, $v1, $at		/* 20 bytes each */
	move	$at, $ra
	bal	7f
	nop
7:	addu	$v1, $v1, $ra
	addiu	$v1, $v1, .Lgiven - 7b - 2 * 20
	lw	$ra, -4($at)
	andi	$ra, $ra, LITIFUT_BITS_STORED_MIPS
	srl	$ra, $ra, LITIFUT_BITS_STORED_SHIFT_MIPS
	subu	$at, $at, $ra
	jr	$v1
	addiu	$at, $at, -36 + 12
	/* nothing is recorded */
	.cfi_restore_state
6:	lw	$v1, 8($sp)
	addiu	$at, $ra, 12
	lw	$ra, 12($sp)
	jr	$at
	addiu	$sp, $sp, 16
	.cfi_undefined 31
.Lgiven:
	.irp	register, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25
	lw	$v1, 8($sp)
	lw	$\register, 0($sp)
	lw	$ra, 12($sp)
	jr	$at
	addiu	$sp, $sp, 16
	.endr
	end	litifut_bits_slow

	.section .note.GNU-stack, "", @progbits
