/* LITIFUT_MODE=paths on ARM: what the code of a branch calls (rewriter/arm/edge.c), once it has
 * pushed r0 to r2 and lr. litifut_bit_zero and litifut_bit_one put one bit into the word before the
 * thread's cursor, litifut_bits_number several, litifut_bits_enter puts down where it was called from;
 * <litifut/trace_format.h> has the words. Linked for this mode only.
 *
 * A signal handler may come between any two instructions. What it records begins with a word of
 * its own (all functions that it can begin with record that they were entered), so it leaves the
 * word before the cursor as it was, and what is stored there late stands before what the handler
 * has recorded. Only the cursor is changed by both, and by ldrex and strex.
 *
 * All registers and the flags are kept; litifut_bits_free has code for places where some hold
 * nothing. The code of the first part is T32, as thunks are, and for
 * ARMv7; where no cursor is, or a multiple of 16 KB is reached, the recorder does it. */

#include <litifut/thunk_abi.h>

#define PUSH_BYTES 16 /* of litifut_bits_push */
#define JUMPED 4

	.syntax unified
	.arch armv7-a
	.cfi_sections .debug_frame

	.section .text, "ax", %progbits
	.p2align 2
	.thumb

	.fnstart			/* see stub.S */
	.save	{lr}
	.pad	#4
	.inst.n	0xdeff
	.fnend

	.macro	begin name pushed=16
	.globl \name
	.hidden \name
	.type \name, %function
	.thumb_func
\name:
	.cfi_startproc
	.fnstart
	.if	\pushed
	.cfi_def_cfa_offset \pushed
	.cfi_offset lr, -4
	.save	{lr}
	.pad	#\pushed - 4
	.endif
	.endm

	.macro	end name
	.cfi_endproc
	.fnend
	.size \name, . - \name
	.endm

	.macro	bit name value
	begin	\name
1:	mrc	p15, 0, r1, c13, c0, 3
	ldr	r1, [r1]
	ldr.w	r2, [r1, #LITIFUT_THUNK_CURSOR]	/* as cursor_code.h has it */
	cbz	r2, 8f
	ldr	r0, [r2, #-4]
	lsr.w	r1, r0, #30
	cbnz	r1, 2f			/* the word is full */
	add.w	r0, r0, r0
	.if	\value
	orr.w	r0, r0, #1
	.endif
	str	r0, [r2, #-4]
	bx	lr
2:	lsl.w	r0, r2, #(32 - LITIFUT_THUNK_STOP_BITS)
	cbz	r0, 8f			/* there is no room behind it */
	mrc	p15, 0, r1, c13, c0, 3
	ldr	r1, [r1]
	ldrex	r0, [r1, #LITIFUT_THUNK_CURSOR]
	eor	r0, r0, r2
	cbnz	r0, 3f			/* a handler came between: into the word that it has left */
	add.w	r2, r2, #4
	strex	r0, r2, [r1, #LITIFUT_THUNK_CURSOR]
	cbnz	r0, 3f
	mov.w	r0, #(2 | \value)
	str	r0, [r2, #-4]
	bx	lr
3:	b	1b
8:	mov.w	r0, #\value
	b.n	litifut_bits_slow
	end	\name
	.endm

	bit	litifut_bit_zero, 0
	bit	litifut_bit_one, 1

	begin	litifut_bits_enter
1:	mrc	p15, 0, r1, c13, c0, 3
	ldr	r1, [r1]
	ldrex	r0, [r1, #LITIFUT_THUNK_CURSOR]
	add.w	r0, r0, #8
	ubfx	r2, r0, #4, #(LITIFUT_THUNK_STOP_BITS - 4)
	cbz	r2, 8f
	strex	r2, r0, [r1, #LITIFUT_THUNK_CURSOR]
	cbnz	r2, 3f
	lsr.w	r2, lr, #1
	orr.w	r2, r2, #0x80000000
	mov.w	r1, #1			/* the word for bits behind it */
	str	r2, [r0, #-8]
	str	r1, [r0, #-4]
	bx	lr
3:	b	1b
8:	mov.w	r0, #2
	b.n	litifut_bits_slow
	end	litifut_bits_enter

/* Records nothing: a child is about to be made (tracer/port/linux/spawn.c). */
	begin	litifut_bits_spawn
	mov.w	r0, #LITIFUT_BITS_SPAWNS
	b.n	litifut_bits_slow
	end	litifut_bits_spawn

/* Bits again, for places where the flags hold nothing; and for those where r0, another register, from
 * r1 to r3, and lr hold nothing either, so that nothing is pushed. Each has LITIFUT_BITS_FREE_BYTES. */
	.macro	free word value more
	.org	litifut_bit_zero + LITIFUT_BITS_FREE_ARM + .Lnumber * LITIFUT_BITS_FREE_BYTES
	.set	.Lnumber, .Lnumber + 1
	mrc	p15, 0, r0, c13, c0, 3
	ldr	r0, [r0]
	ldr.w	r0, [r0, #LITIFUT_THUNK_CURSOR]	/* as cursor_code.h has it */
	cbz	r0, 8f
	ldr	\word, [r0, #-4]
	adds	\word, \word, \word
	bmi.n	8f			/* the word is full */
	.if	\value
	adds	\word, \word, #1
	.endif
	str	\word, [r0, #-4]
	bx	lr
8:	b.n	\more
	.endm

	begin	litifut_bits_free, 0
	.set	.Lnumber, 0
	free	r1, 0, litifut_bit_zero
	free	r1, 1, litifut_bit_one
	free	r1, 0, .Lpush_zero
	free	r1, 1, .Lpush_one
	free	r2, 0, .Lpush_zero
	free	r2, 1, .Lpush_one
	free	r3, 0, .Lpush_zero
	free	r3, 1, .Lpush_one
	end	litifut_bits_free

/* Where nothing is pushed and the word is full, or there is no cursor, these go on. */
	begin	litifut_bits_push, 0
	.save	{lr}
	.pad	#12
.Lpush_zero:
	push	{r0-r2, lr}
	.cfi_def_cfa_offset 16
	.cfi_offset lr, -4
	bl	litifut_bit_zero
	pop	{r0-r2, pc}
	.cfi_def_cfa_offset 0
	.cfi_restore lr
.Lpush_one:
	push	{r0-r2, lr}
	.cfi_def_cfa_offset 16
	.cfi_offset lr, -4
	bl	litifut_bit_one
	pop	{r0-r2, pc}
	end	litifut_bits_push

/* r0: where a jump is about to lead. Puts that down, as the block there does not. */
	begin	litifut_bits_jump
	push	{r3}
	.cfi_def_cfa_offset 20
1:	mrc	p15, 0, r1, c13, c0, 3
	ldr	r1, [r1]
	ldrex	r2, [r1, #LITIFUT_THUNK_CURSOR]
	add.w	r2, r2, #8
	ubfx	r3, r2, #4, #(LITIFUT_THUNK_STOP_BITS - 4)
	cbz	r3, 8f
	strex	r3, r2, [r1, #LITIFUT_THUNK_CURSOR]
	cbnz	r3, 3f
	lsr.w	r0, r0, #1
	orr.w	r0, r0, #0x80000000
	mov.w	r1, #1			/* as in litifut_bits_enter */
	str	r0, [r2, #-8]
	str	r1, [r2, #-4]
	pop	{r3}
	.cfi_def_cfa_offset 16
	bx	lr
	.cfi_def_cfa_offset 20
3:	b	1b
8:	pop	{r3}
	.cfi_def_cfa_offset 16
	mov	r1, r0
	mov.w	r0, #(2 | JUMPED)
	b.n	litifut_bits_slow
	end	litifut_bits_jump

/* The number of a label, as the word behind the call has it (rewriter/arm/edge.c): shifts its bits into
 * the word before the cursor as bits are, or begins another one. Where the recorder has to do it, it
 * puts down the address. */
	begin	litifut_bits_number
1:	mrc	p15, 0, r1, c13, c0, 3
	ldr	r1, [r1]
	ldr.w	r2, [r1, #LITIFUT_THUNK_CURSOR]	/* as cursor_code.h has it */
	cbz	r2, 8f
	ldr	r0, [r2, #-4]
	ldrb.w	r1, [lr]
	lsr.w	r1, r0, r1
	cbnz	r1, 2f			/* they do not fit into the word */
4:	ldrb.w	r1, [lr, #2]
	lsl.w	r0, r0, r1
	ldrb.w	r1, [lr, #1]
	orr.w	r0, r0, r1
	str	r0, [r2, #-4]
	add.w	lr, lr, #4
	bx	lr
2:	lsl.w	r0, r2, #(32 - LITIFUT_THUNK_STOP_BITS)
	cbz	r0, 8f			/* the chunk is full */
	mrc	p15, 0, r1, c13, c0, 3
	ldr	r1, [r1]
	ldrex	r0, [r1, #LITIFUT_THUNK_CURSOR]
	eor	r0, r0, r2
	cbnz	r0, 3f			/* as for a bit */
	add.w	r2, r2, #4
	strex	r0, r2, [r1, #LITIFUT_THUNK_CURSOR]
	cbnz	r0, 3f
	mov.w	r0, #1
	b	4b
3:	b	1b
8:	mov	r1, lr
	add.w	lr, lr, #4
	mov.w	r0, #(2 | JUMPED)
	b.n	litifut_bits_slow
	end	litifut_bits_number

/* r0: 0 or 1, the bit; 2: the block is entered, or with JUMPED that at r1; or LITIFUT_BITS_SPAWNS. The recorder gets it as the
 * lowest bits of the stack pointer, and as the return address that in the code of the branch: lr, or
 * what litifut_bits_push has pushed. As litifut_thunk_call. */
	.p2align 2
	.globl litifut_bits_slow
	.hidden litifut_bits_slow
	.type litifut_bits_slow, %function
	.thumb_func
litifut_bits_slow:
	bx	pc
	nop
	.arm
	.cfi_startproc
	.fnstart
	.save	{lr}
	.pad	#76
	.cfi_def_cfa_offset 16
	.cfi_offset lr, -4
	sub	sp, sp, #64
	.cfi_adjust_cfa_offset 64
	stmia	sp, {r0-r12}
	mrs	r5, cpsr		/* r4 to r7 are kept by the C code */
	mov	r7, lr
	tst	r0, #JUMPED
	movne	lr, r1
	bic	r0, r0, #JUMPED
	adr	r1, litifut_bits_push
	sub	r1, lr, r1
	cmp	r1, #PUSH_BYTES
	ldrlo	lr, [sp, #76]
	str	lr, [sp, #52]		/* return_address */
	str	lr, [sp, #60]		/* link_register */
	adr	r3, .Lexit
	orr	r3, r3, #1
	str	r3, [sp, #56]		/* next_pc: not that of a call */
	mov	r6, r0
	ldrd	r0, r1, [sp, #64]	/* the program's: arguments, if a call comes */
	strd	r0, r1, [sp]
	ldr	r2, [sp, #72]
	str	r2, [sp, #8]
	mov	r4, sp
	.cfi_def_cfa_register r4
	.setfp	r4, sp
	bic	sp, sp, #7
	mov	r0, r4
	ldr	r1, .Lmodule
1:	add	r1, pc, r1
	ldr	r2, .Lstate
2:	add	r2, pc, r2
	add	r3, r4, #80		/* the program's sp */
	orr	r3, r3, r6
	bl	litifut_enter_thunk
	mov	lr, r7
	msr	cpsr_fs, r5
	mov	sp, r4
	.cfi_def_cfa_register sp
	ldmia	sp, {r0-r12}
	add	sp, sp, #64
	.cfi_adjust_cfa_offset -64
	bx	lr
	.p2align 2
.Lexit:
	.inst	0x47704770		/* bx lr, twice, of T32 code: a return, for litifut_frame_exit() */
.Lmodule:
	.word	litifut_module - (1b + 8)
.Lstate:
	.word	litifut_module_state - (2b + 8)
	.cfi_endproc
	.fnend
	.size litifut_bits_slow, . - litifut_bits_slow

	.section .note.GNU-stack, "", %progbits
