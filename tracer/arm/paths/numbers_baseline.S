/* The same as numbers.S for CPUs with the small instruction set (v6-M, v8-M Baseline). The code of
 * a branch puts r0 back by itself. */
#include <litifut/kept_format.h>
#include <litifut/numbers_format.h>
#include <litifut/paths_format.h>

	.syntax	unified
	.thumb
	.text

/* r2 = flags, r3 = PRIMASK. */
	.macro	begin name
	.balign	4
	.global	\name
	.hidden	\name
	.type	\name, %function
	.thumb_func
\name:
	push	{r1, r2, r3, r4}
	mrs	r2, APSR
	mrs	r3, PRIMASK
	.endm

	.macro	finish name words
	mov	r1, lr
	adds	r1, #4 * \words
	mov	lr, r1
	msr	PRIMASK, r3
	msr	APSR_nzcvq, r2
	pop	{r1, r2, r3, r4}
	bx	lr
	.size	\name, . - \name
	.endm

/* r1 = the entry on top; goes to `slow' if its activation has ended. */
	.macro	top slow
	ldr	r1, =litifut_path_top
	ldr	r1, [r1]
	ldr	r0, [r1, #NUMBERS_LIMIT]
	cmp	sp, r0
	bhs	\slow
	.endm

/* r0 = word number `index' behind the call. */
	.macro	word index
	mov	r0, lr
	subs	r0, #1
	ldr	r0, [r0, #4 * \index]
	.endm

/* r0 = what has been added up, with the number behind the call; goes to `slow' if it is of another
 * function. */
	.macro	sum slow
	word	0
	ldr	r4, [r1, #NUMBERS_WORD]
	eors	r4, r0
	lsrs	r4, r4, #16
	bne	\slow
	uxth	r0, r0
	ldr	r4, [r1, #NUMBERS_WORD]
	adds	r0, r0, r4
	.endm

/* Puts r0 into the ring; goes to `slow', with nothing done, if there is no room. */
	.macro	put slow
	ldr	r4, =litifut_paths
	ldr	r1, [r4, #PATHS_CURSOR]
	ldr	r4, [r4, #PATHS_STOP]
	subs	r4, r4, r1
	lsrs	r4, r4, #PATHS_ROOM_SHIFT
	beq	\slow
	str	r0, [r1]
	movs	r4, #LITIFUT_PATHS_NONE
	adds	r1, #4
	str	r4, [r1]
	ldr	r4, =litifut_paths
	str	r1, [r4, #PATHS_CURSOR]
#ifdef LITIFUT_KEPT
	ldr	r4, =litifut_kept
	str	r1, [r4, #KEPT_HEAD]
#endif
	.endm

	.macro	slow code words
	movs	r0, #\code
	movs	r4, #4 * \words
	b	litifut_path_slow
	.endm

	begin	litifut_path_add
	top	8f
	sum	8f
	str	r0, [r1, #NUMBERS_WORD]
	finish	litifut_path_add 1
8:	cpsid	i
	slow	0 1

	begin	litifut_path_end
	cpsid	i
	top	8f
	sum	8f
	put	8f
	ldr	r1, =litifut_path_top
	ldr	r4, [r1]
	subs	r4, #NUMBERS_ENTRY_BYTES
	str	r4, [r1]
	finish	litifut_path_end 1
8:	slow	1 1

	begin	litifut_path_next
	cpsid	i
	top	8f
	sum	8f
	put	8f
	ldr	r1, =litifut_path_top
	ldr	r1, [r1]
	word	1
	str	r0, [r1, #NUMBERS_WORD]
	finish	litifut_path_next 2
8:	slow	2 2

	begin	litifut_path_begin
	cpsid	i
	top	8f
	ldr	r0, =litifut_path_last
	ldr	r0, [r0]
	cmp	r0, r1
	beq	8f
	adds	r1, #NUMBERS_ENTRY_BYTES
	word	0
	str	r0, [r1, #NUMBERS_WORD]
	mov	r0, sp
	adds	r0, #1
	str	r0, [r1, #NUMBERS_LIMIT]
	ldr	r0, =litifut_path_top
	str	r1, [r0]
	finish	litifut_path_begin 1
8:	slow	3 1

	begin	litifut_path_whole
	cpsid	i
	word	0
	put	8f
	finish	litifut_path_whole 1
8:	slow	4 1

/* r0: see litifut_numbers_slow(). r4: bytes of the words behind the call. */
	.thumb_func
litifut_path_slow:
	mov	r1, lr
	adds	r4, r4, r1
	mov	lr, r4
	subs	r1, #1
	push	{r2, r3, lr}
	mov	r2, sp
	adds	r2, #12
	mov	r4, r12
	bl	litifut_numbers_slow
	mov	r12, r4
	pop	{r2, r3}
	pop	{r1}
	mov	lr, r1
	msr	PRIMASK, r3
	msr	APSR_nzcvq, r2
	pop	{r1, r2, r3, r4}
	bx	lr
	.pool
