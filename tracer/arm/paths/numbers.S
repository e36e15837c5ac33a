/* LITIFUT_MODE=balllarus of a firmware on Cortex-M: what the code of a branch calls
 * (rewriter/arm/edge.c), once it has pushed r0 and lr. The words behind the call are in the code;
 * <litifut/numbers_format.h> says what each of these does with them. tracer/sink/paths/numbers.c
 * does what is rare: where an activation has ended without its last branch, or a ring or the
 * stack of activations is full.
 *
 * Interrupts are off while a number is recorded and while the stack of activations changes. An
 * interrupt leaves the entries that it has found, so nothing is to be done where a number is only
 * added to the one on top. All registers and the flags are kept. */
#include <litifut/kept_format.h>
#include <litifut/numbers_format.h>
#include <litifut/paths_format.h>

	.syntax	unified
	.thumb
	.text

	.macro	begin name
	.balign	4
	.global	\name
	.hidden	\name
	.type	\name, %function
	.thumb_func
\name:
	push	{r1, r2, r3}
	.endm

	.macro	finish name words
	pop	{r1, r2, r3}
	add.w	lr, lr, #4 * \words
	bx	lr
	.size	\name, . - \name
	.endm

	.macro	mask
	mrs	r3, PRIMASK
	cpsid	i
	.endm

/* r1 = the entry on top; goes to `slow' if its activation has ended. */
	.macro	top slow
	ldr	r1, =litifut_path_top
	ldr	r1, [r1]
	ldr	r2, [r1, #NUMBERS_LIMIT]
	sub.w	r2, sp, r2
	lsr.w	r2, r2, #31
	cbz	r2, \slow
	.endm

/* r0 = what has been added up, with the number behind the call; goes to `slow' if it is of another
 * function. Needs r2. */
	.macro	sum slow
	ldr	r2, [r1, #NUMBERS_WORD]
	ldr.w	r0, [lr, #-1]
	eor.w	r0, r0, r2
	lsr.w	r0, r0, #16
	cbnz	r0, \slow
	ldrh.w	r0, [lr, #-1]
	add.w	r0, r0, r2
	.endm

/* Puts r0 into the ring; goes to `slow', with nothing done, if there is no room. Needs r1, r2. */
	.macro	put slow
	ldr	r1, =litifut_paths
	ldr	r2, [r1, #PATHS_STOP]
	ldr	r1, [r1, #PATHS_CURSOR]
	sub.w	r2, r2, r1
	lsr.w	r2, r2, #PATHS_ROOM_SHIFT
	cbz	r2, \slow
	str	r0, [r1]
	mov.w	r2, #LITIFUT_PATHS_NONE
	str	r2, [r1, #4]!
	ldr	r2, =litifut_paths
	str	r1, [r2, #PATHS_CURSOR]
#ifdef LITIFUT_KEPT
	ldr	r2, =litifut_kept
	str	r1, [r2, #KEPT_HEAD]
#endif
	.endm

	.macro	slow code words
	mov.w	r0, #\code
	sub.w	r1, lr, #1
	add.w	lr, lr, #4 * \words
	b	litifut_path_slow
	.endm

	begin	litifut_path_add
	top	8f
	sum	8f
	str	r0, [r1, #NUMBERS_WORD]
	finish	litifut_path_add 1
8:	mask
	slow	0 1

	begin	litifut_path_end
	mask
	top	8f
	sum	8f
	put	8f
	ldr	r1, =litifut_path_top
	ldr	r2, [r1]
	sub.w	r2, r2, #NUMBERS_ENTRY_BYTES
	str	r2, [r1]
	msr	PRIMASK, r3
	finish	litifut_path_end 1
8:	slow	1 1

	begin	litifut_path_next
	mask
	top	8f
	sum	8f
	put	8f
	ldr	r1, =litifut_path_top
	ldr	r1, [r1]
	ldr.w	r2, [lr, #3]
	str	r2, [r1, #NUMBERS_WORD]
	msr	PRIMASK, r3
	finish	litifut_path_next 2
8:	slow	2 2

/* The first one has no other on top. */
	begin	litifut_path_begin
	mask
	ldr	r1, =litifut_path_last
	ldr	r2, [r1]
	ldr	r1, =litifut_path_top
	ldr	r1, [r1]
	sub.w	r2, r2, r1
	cbz	r2, 8f
	ldr	r2, [r1, #NUMBERS_LIMIT]
	sub.w	r2, sp, r2
	lsr.w	r2, r2, #31
	cbz	r2, 8f
	ldr.w	r0, [lr, #-1]
	add.w	r2, sp, #1
	str	r2, [r1, #NUMBERS_ENTRY_BYTES + NUMBERS_LIMIT]
	str	r0, [r1, #NUMBERS_ENTRY_BYTES + NUMBERS_WORD]
	add.w	r1, r1, #NUMBERS_ENTRY_BYTES
	ldr	r2, =litifut_path_top
	str	r1, [r2]
	msr	PRIMASK, r3
	finish	litifut_path_begin 1
8:	slow	3 1

	begin	litifut_path_whole
	mask
	ldr.w	r0, [lr, #-1]
	put	8f
	msr	PRIMASK, r3
	finish	litifut_path_whole 1
8:	slow	4 1

/* r0, r1: see litifut_numbers_slow(). lr is behind the words, r3 = PRIMASK. */
	.thumb_func
litifut_path_slow:
	mov	r2, sp
	push	{r3, r4, r12, lr}
	mrs	r4, APSR
	bl	litifut_numbers_slow
	msr	APSR_nzcvq, r4
	pop.w	{r3, r4, r12, lr}
	msr	PRIMASK, r3
	pop	{r1, r2, r3}
	bx	lr
	.pool
