/* The same as bits.S for CPUs with the small instruction set (v6-M, v8-M Baseline). There is no
 * exclusive store, so interrupts are off while a bit is stored, for 7 instructions; the code of a
 * branch puts r0 back by itself, and lr holds nothing there. */
#include <litifut/kept_format.h>
#include <litifut/paths_format.h>

	.syntax	unified
	.thumb
	.text

#define SAVED 16 /* bytes, by the macro `begin' */
#define PUSHED 8 /* by the caller: r0, lr */

/* Keeps registers. */
	.macro	begin name
	.balign	4
	.global	\name
	.hidden	\name
	.type	\name, %function
	.thumb_func
\name:
	push	{r1, r2, r3, r4}
	.endm

/* Interrupts are off then; r2 = flags, r3 = PRIMASK. */
	.macro	mask
	mrs	r2, APSR
	mrs	r3, PRIMASK
	cpsid	i
	.endm

/* r0 = the cursor; goes to `slow` if there is no room for so many bytes. */
	.macro	room bytes slow
	ldr	r4, =litifut_paths
	ldr	r0, [r4, #PATHS_CURSOR]
	ldr	r4, [r4, #PATHS_STOP]
	subs	r4, r4, r0
	cmp	r4, #\bytes
	blo	\slow
	.endm

/* The cursor is r0. */
	.macro	move_cursor
	ldr	r4, =litifut_paths
	str	r0, [r4, #PATHS_CURSOR]
#ifdef LITIFUT_KEPT
	ldr	r4, =litifut_kept
	str	r0, [r4, #KEPT_HEAD]
#endif
	.endm

/* A word without bits is used for the record. */
	.macro	take_empty
	ldr	r4, [r0]
	cmp	r4, #LITIFUT_PATHS_NONE
	bne	4f
	subs	r0, #4
4:
	.endm

	.macro	bit name value
	begin	\name
	mask
	ldr	r1, =litifut_paths
	ldr	r1, [r1, #PATHS_CURSOR]
	ldr	r0, [r1]
	lsls	r0, r0, #1
	bmi	2f			/* it was LITIFUT_PATHS_FULL */
	.if	\value
	adds	r0, #1
	.endif
	str	r0, [r1]
	b	litifut_bits_end
2:	room	1 << PATHS_ROOM_SHIFT, 8f
	movs	r1, #(2 * LITIFUT_PATHS_NONE + \value)
	adds	r0, #4
	str	r1, [r0]
	move_cursor
	b	litifut_bits_end
8:	movs	r0, #\value
	b	litifut_bits_slow
	.size	\name, . - \name
	.endm

	.balign	4
litifut_bits_first:
	bit	litifut_bit_zero, 0
	bit	litifut_bit_one, 1

/* The number of a label: see bits.S. */
	begin	litifut_bits_number
	mask
	room	1 << PATHS_ROOM_SHIFT, 8f
	mov	r4, lr
	ldrb	r1, [r4]
	ldr	r4, [r0]
	lsrs	r4, r1
	beq	1f
	adds	r0, #4
	movs	r4, #LITIFUT_PATHS_NONE
	str	r4, [r0]
1:	mov	r4, lr
	ldrb	r1, [r4, #2]
	ldr	r4, [r0]
	lsls	r4, r1
	mov	r1, lr
	ldrb	r1, [r1, #1]
	orrs	r4, r1
	str	r4, [r0]
	move_cursor
	mov	r1, lr
	adds	r1, #4
	mov	lr, r1
	b	litifut_bits_end
8:	movs	r0, #2
	mov	r1, lr
	adds	r4, r1, #4
	mov	lr, r4
	b	litifut_bits_slower
	.size	litifut_bits_number, . - litifut_bits_number

	begin	litifut_bits_enter
	mask
	room	1 << PATHS_ROOM_SHIFT, 8f
	take_empty
	mov	r1, lr
	lsrs	r1, r1, #1
	ldr	r4, =LITIFUT_PATHS_RECORD
	orrs	r1, r4
	str	r1, [r0, #4]
	movs	r1, #LITIFUT_PATHS_NONE
	str	r1, [r0, #8]
	adds	r0, #8
	move_cursor
	b	litifut_bits_end
8:	movs	r0, #2
	.size	litifut_bits_enter, . - litifut_bits_enter

	.balign	4			/* to here interrupts are off once the ring has changed */
/* r0: 0 or 1, the bit; 2: a block is entered, that of the code at r1, which is that of the call where
 * litifut_bits_slow comes first. Interrupts are off. */
	.thumb_func
litifut_bits_slow:
	mov	r1, lr
	.thumb_func
litifut_bits_slower:
	push	{r2, r3, lr}
	mov	r4, r12
	mov	r2, sp
	adds	r2, #12 + SAVED + PUSHED
	bl	litifut_paths_slow
	mov	r12, r4
	pop	{r2, r3}
	pop	{r1}
	mov	lr, r1
	.thumb_func
litifut_bits_end:
	msr	PRIMASK, r3
	msr	APSR_nzcvq, r2
	pop	{r1, r2, r3, r4}
	bx	lr

/* Called before an interrupt handler, with r0 and lr on the stack as above. The flags are not kept. */
	begin	litifut_paths_interrupt
	ldr	r2, [sp, #SAVED + 4]	/* EXC_RETURN */
	mrs	r0, PSP
	lsls	r1, r2, #29		/* bit 2: it has interrupted a task */
	bmi	1f
	mov	r0, sp
	adds	r0, #SAVED + PUSHED
1:	ldr	r1, [r0, #20]		/* lr */
	ldr	r3, [r0, #24]		/* pc */
	ldr	r4, =litifut_bits_first	/* not of a function: bit 0 is clear */
	subs	r4, r3, r4
	lsrs	r4, r4, #2
	cmp	r4, #(litifut_paths_interrupt - litifut_bit_zero) >> 2
	bhs	2f
	lsrs	r1, r1, #1
	lsls	r1, r1, #1
	cmp	r4, #(litifut_bits_slow - litifut_bit_zero) >> 2
	bhs	3f
	subs	r1, #4			/* the bit or record is not there: before the call */
	b	3f
2:	mov	r1, r3
3:	lsls	r2, r2, #28		/* bit 3: it has interrupted no handler */
	lsrs	r2, r2, #31
	orrs	r2, r0
	mrs	r3, PRIMASK
	cpsid	i
	room	(1 << PATHS_ROOM_SHIFT) + 4, 8f
	take_empty
	ldr	r4, =(LITIFUT_PATHS_RECORD | LITIFUT_PATHS_INTERRUPT)
	str	r4, [r0, #4]
	str	r1, [r0, #8]
	str	r2, [r0, #12]
	movs	r1, #LITIFUT_PATHS_NONE
	str	r1, [r0, #16]
	adds	r0, #16
	move_cursor
	msr	PRIMASK, r3
	pop	{r1, r2, r3, r4}
	bx	lr
8:	movs	r0, #LITIFUT_PATHS_INTERRUPT
	push	{r3, lr}
	mov	r4, r12
	bl	litifut_paths_slow
	mov	r12, r4
	pop	{r3}
	pop	{r1}
	mov	lr, r1
	msr	PRIMASK, r3
	pop	{r1, r2, r3, r4}
	bx	lr
	.size	litifut_paths_interrupt, . - litifut_paths_interrupt
	.pool

#include "tracer/arm/paths/facts.inc"
