/* LITIFUT_MODE=paths on MIPS: what the code of a branch calls (rewriter/mips/edge.c), once it has
 * made room for 16 bytes on the stack and stored $v1 at 8 and ra at 12. litifut_bit_zero and
 * litifut_bit_one put one bit into the word before the thread's cursor, litifut_bits_enter puts
 * down where it was called from; <litifut/trace_format.h> has the words. A word behind the call
 * says how far from there the code goes on. Linked for this mode only.
 *
 * As branches do not reach far, the rewriter makes copies of this code, from litifut_bit_zero to
 * the end of litifut_bits_spawn: nothing in it depends on where it stands but one word.
 *
 * A signal handler may come between any two instructions: see tracer/arm/bits.S, which does the
 * same. Only the cursor is changed by both, and by ll and sc.
 *
 * $at is free; all other registers are kept. rdhwr is of release 2; older CPUs trap, and the kernel
 * has a short way for just this form, with $v1. */

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
8:	lw	$t0, 4($sp)
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
	.org	litifut_bit_zero + LITIFUT_BITS_BYTES_MIPS
	end	litifut_bits_spawn

/* The recorder gets what $v1 is as the lowest bits of the stack pointer. */
	begin	litifut_bits_slow
	move	$at, $v1
	lw	$v1, 8($sp)
	save	litifut_enter_thunk
	bal	1f
	lw	$t1, AT(1)($sp)
	jr	$ra			/* a return, for litifut_frame_exit() */
	nop
1:	addiu	$t0, $ra, EXIT_DISTANCE
	sw	$t0, AT(1)($sp)
	addiu	$a3, $sp, FRAME + 16	/* the program's sp */
	or	$a3, $a3, $t1
	jalr	$t9
	addiu	$a0, $sp, 16
	restore
	addiu	$sp, $sp, FRAME
	.cfi_adjust_cfa_offset -FRAME
	goes_on
	end	litifut_bits_slow

	.section .note.GNU-stack, "", @progbits
