/* Records a call and its return as events in a ring (<litifut/spans_format.h>). Stubs and the pool
 * of open calls are those of time.S, and so is how the call finds back; here an entry of the pool
 * has neither record nor time. Interrupts are off while an entry is taken, and again from the
 * reading of the time to the end of the event, so that the events are in the order of their times,
 * and an event in the ring is whole (span.inc says where this differs). What an interrupt records between
 * the two stands before the call: it has interrupted the caller. Where T32 is whole, each of the two
 * takes at most 40 cycles.
 *
 * All but the program counter is kept when a call is made, where time.S keeps it, and the flags as
 * well when it returns. With LITIFUT_SPAN_DWT the clock is the counter of CPU cycles, read on the
 * spot; nothing then changes the flags. With LITIFUT_KEPT the ring outlasts a reset
 * (<litifut/kept_format.h>). The linker wrapper defines litifut_span_begin: what starts the clock,
 * and with LITIFUT_KEPT the ring.
 *
 * A call through a pointer is two events, where it leads and then the call. Both are put into the
 * ring with interrupts off once, so that nothing comes between them.
 *
 * With LITIFUT_STREAM (LITIFUT_MODE=stream) calls are recorded without their returns and without
 * times: no return address is replaced, and there is neither a pool nor a clock.
 *
 * More than 500 lines in one file, because calls, calls through pointers and returns have one
 * state in the same registers, and share their ends. */
#if !defined(LITIFUT_SPAN_DWT) && !defined(LITIFUT_STREAM)
#define CALLS_CLOCK
#endif

#include "span.inc"

#if defined(LITIFUT_SPAN_DWT) && defined(LITIFUT_SWITCHED)
#define VARIANT(name) name##_dwt_switched
#elif defined(LITIFUT_SPAN_DWT)
#define VARIANT(name) name##_dwt
#elif defined(LITIFUT_SWITCHED)
#define VARIANT(name) name##_switched
#else
#define VARIANT(name) name
#endif
#define SPAN_CALL VARIANT(litifut_span_call)

#if !defined(LITIFUT_SPAN_DWT) || __ARM_ARCH_ISA_THUMB < 2
#define SAVES_FLAGS
#endif

	.syntax	unified
	.thumb
	.text
#ifndef LITIFUT_STREAM
	.global	SPAN_CALL, litifut_return
	.hidden	SPAN_CALL, litifut_return
	.global	litifut_calibrate, litifut_calibrate_all, litifut_calibration
	.hidden	litifut_calibrate, litifut_calibrate_all, litifut_calibration
	.type	SPAN_CALL, %function
	.type	litifut_return, %function
	.type	litifut_calibrate, %function
	.type	litifut_calibrate_all, %function
	.type	litifut_calibration, %object
#endif
	.global	litifut_span_pointer, litifut_span_note, litifut_clock_read, litifut_pool
	.hidden	litifut_span_pointer, litifut_span_note, litifut_clock_read, litifut_pool
	.type	litifut_span_pointer, %function
	.type	litifut_span_note, %function
	.type	litifut_clock_read, %function
	.type	litifut_pool, %object
	.thumb_func
	.balign	4
#ifdef LITIFUT_STREAM
litifut_span_note:
	read_stub
	mask
	pack	r3
#else
SPAN_CALL:
	read_stub
	mask
#ifndef EVENT_FIRST
	take_entry
#endif
	pack	r3
#if !defined(EVENT_FIRST) && !defined(READS_BEFORE)
	mask_again
#endif
#endif
/* Interrupts are off; with READS_BEFORE they may be on. r4: PRIMASK, as it was; with EVENT_FIRST it has NOTED_BIT as well if
 * the return of the call is not recorded. r5: the word of the event. On the stack: r1 to r6, r0, the callee. lr: where the
 * call returns to. */
litifut_span_record:
	keep_link
11:	event	r5, r4, litifut_span_full, kept
10:	unmask_behind
	take_link
#ifdef EVENT_FIRST
	lsls	r6, r4, #31 - NOTED_BIT
	bmi	9f
	entry_behind
#endif
9:	msr	PRIMASK, r4
	pop	{r1, r2, r3, r4, r5, r6}
	pop	{r0, pc}
/* The head is the limit. RING_NO_LIMIT is none: positions begin at 0 again. */
litifut_span_full:
	adds	FULL_HEAD, #1
	bne	12f
	str	FULL_HEAD, [r2, #AT(RING_HEAD)]
	b	11b
12:
#ifdef EVENT_BEGINS
	ldr	r1, [r2, #AT(RING_MASK)]
	cmp	r1, #0
	beq	13f
#endif
	ldr	r1, [r2, #AT(RING_LOST)]
	adds	r1, #1
	str	r1, [r2, #AT(RING_LOST)]
	b	10b
#ifdef EVENT_BEGINS
13:	take_link
	mov	r1, lr
	bl	litifut_span_first
	mov	lr, r1
	keep_link
	b	11b
#endif

#ifdef LITIFUT_STREAM
	.size	litifut_span_note, . - litifut_span_note
#else
	take_entry_else
	.size	SPAN_CALL, . - SPAN_CALL

/* A call whose return is not recorded. */
	.thumb_func
litifut_span_note:
	read_stub
	mask
	pack	r3
#ifdef EVENT_FIRST
	orr	r4, r4, #1 << NOTED_BIT
#endif
	b	litifut_span_record
#ifdef LITIFUT_SWITCHED
9:	msr	PRIMASK, r4
	pop	{r1, r2, r3, r4, r5, r6}
	pop	{r0, pc}
#endif
	.size	litifut_span_note, . - litifut_span_note
#endif

/* A call through a pointer:
 *
 *	push {r0, lr}; mov r0, rN; bl litifut_span_pointer; .hword its number */
	.thumb_func
	.balign	4
litifut_span_pointer:
	push	{r1, r2, r3, r4, r5, r6}
#if __ARM_ARCH_ISA_THUMB >= 2
	ldrh	r3, [lr, #-1]
	ldr	lr, [sp, #28]
#else
	mov	r4, lr
	subs	r4, #1
	ldrh	r3, [r4]
	ldr	r1, [sp, #28]
	mov	lr, r1
#endif
	str	r0, [sp, #28]		@ where the last pop goes
	mask
#if defined(LITIFUT_STREAM) || defined(EVENT_FIRST)
	pack	r3
#elif defined(READS_BEFORE)
	take_entry
	pack	r3
#else
	take_entry
	pack	r3
	mask_again
#endif
#ifdef READS_BEFORE
	keep_link
11:	read_before r4
	ldr	r3, [r2, #AT(RING_LIMIT)]
	subs	r3, r3, r1
	cmp	r3, #1
	bls	12f
	place_at_head
	ldr	r3, [sp, #28]
	str	r3, [lr]
	mov.w	r3, #(LITIFUT_SPAN_CALLEE << 16)
	str	r3, [lr, #4]
	adds	r1, #1
	place_at_head
	strd	r0, r5, [lr]
	adds	r1, #1
	str	r1, [r2]
	keep_head r1, r3
#elif __ARM_ARCH_ISA_THUMB >= 2
11:	ldm	r2, {r0, r1, r3, r6}	@ RING_HEAD, RING_LIMIT, RING_MASK, RING_BASE
	subs	r1, r1, r0
	cmp	r1, #1
	bls	12f
	and.w	r1, r3, r0
	add.w	r1, r6, r1, lsl #EVENT_SHIFT
	adds	r0, #1
	ands	r3, r0
	add.w	r6, r6, r3, lsl #EVENT_SHIFT
	adds	r0, #1
	ldr	r3, [sp, #28]
	str	r3, [r1]
	mov.w	r3, #(LITIFUT_SPAN_CALLEE << 16)
	str	r3, [r1, #4]
	mov	r1, r0
	clock
	strd	r0, r5, [r6]
	str	r1, [r2]
	keep_head r1, r3
#endif
#if __ARM_ARCH_ISA_THUMB >= 2
10:	unmask_behind
	take_link
#ifdef EVENT_FIRST
	entry_behind
#endif
9:	msr	PRIMASK, r4
	pop	{r1, r2, r3, r4, r5, r6}
	pop	{r0, pc}
/* There is no room for both. */
12:	ldr	r3, [r2, #AT(RING_LIMIT)]
	adds	r3, #1
	bne	15f
	str	r3, [r2]		@ as above
	b	11b
15:
#ifdef EVENT_BEGINS
	ldr	r3, [r2, #AT(RING_MASK)]
	cbz	r3, 16f
#endif
	ldr	r3, [r2, #AT(RING_LOST)]
	adds	r3, #2
	str	r3, [r2, #AT(RING_LOST)]
	b	10b
#ifdef EVENT_BEGINS
16:	take_link
	mov	r1, lr
	bl	litifut_span_first
	mov	lr, r1
	keep_link
	b	11b
#endif
#else
11:	ldr	r0, [sp, #28]
	movs	r1, #LITIFUT_SPAN_CALLEE
	lsls	r1, r1, #16
	push	{r4}
	put	r0, r1, r3, r6, r4, 1f
	pop	{r4}
	b	litifut_span_record
1:	pop	{r4}
	adds	r3, #1			@ as above
	bne	12f
	str	r3, [r2, #RING_HEAD]
	b	11b
12:	ldr	r1, [r2, #RING_LOST]
	adds	r1, #1
	str	r1, [r2, #RING_LOST]
	b	litifut_span_record
#ifdef LITIFUT_SWITCHED
9:	msr	PRIMASK, r4
	pop	{r1, r2, r3, r4, r5, r6}
	pop	{r0, pc}
#endif
#endif
#ifndef LITIFUT_STREAM
	take_entry_else
#endif
	.size	litifut_span_pointer, . - litifut_span_pointer

#if !defined(LITIFUT_STREAM) || defined(LITIFUT_KEPT)
/* Before the first call of all is recorded. The rewriter leaves calls alone in what has the type and size of a function and a
 * name of the tracer. As any function, but all registers of the call are kept. */
	.type	litifut_span_first, %function
litifut_span_first:
	push	{r1, r2, r3, lr}
	mov	r6, r12
	bl	litifut_span_begin
	mov	r12, r6
	pop	{r1, r2, r3, pc}
	.size	litifut_span_first, . - litifut_span_first
#endif

#ifndef LITIFUT_STREAM
/* An entry of the pool that is in no list, where none is free, to r0; 0: there is none. Interrupts are off. r1: the return
 * address of the call, r5: its sp. Changes r0, r6 and the flags. */
	.type	litifut_span_entry, %function
litifut_span_entry:
	push	{r3, lr}
	ldr	r0, [r2, #AT(POOL_USED)]
	cmp	r0, #0
	bne	2f
	ldr	r0, =litifut_open		@ the first of all calls: all entries are free
	ldr	r6, =litifut_open_end
	movs	r3, #0
1:	str	r3, [r0, #OPEN_NEXT]
	mov	r3, r0
	adds	r0, #OPEN_SPAN_BYTES
	cmp	r0, r6
	blo	1b
	str	r3, [r2, #AT(POOL_FREE)]
	str	r3, [r2, #AT(POOL_USED)]
#ifndef EVENT_FIRST
	bl	litifut_span_first
#endif
	ldr	r0, [r2, #AT(POOL_FREE)]
	ldr	r3, [r0, #OPEN_NEXT]
	str	r3, [r2, #AT(POOL_FREE)]
	pop	{r3, pc}
/* As in time.S: the entry of a call that has ended by longjmp(). */
2:	ldr	r0, =litifut_return + 1
	cmp	r0, r1
	beq	5f
	mov	r6, r2			@ POOL_HEAD is OPEN_NEXT
#if STATE
	subs	r6, #STATE
#endif
	b	4f
3:	ldr	r3, [r0, #OPEN_STACK]
	cmp	r3, r5
	beq	6f
	mov	r6, r0
4:	ldr	r0, [r6, #OPEN_NEXT]
	cmp	r0, #0
	bne	3b
5:	ldr	r0, [r2, #AT(POOL_UNTIMED)]
	adds	r0, #1
	str	r0, [r2, #AT(POOL_UNTIMED)]
	movs	r0, #0
	pop	{r3, pc}
6:	ldr	r3, [r0, #OPEN_NEXT]
	str	r3, [r6, #OPEN_NEXT]
	pop	{r3, pc}
	.size	litifut_span_entry, . - litifut_span_entry

	.thumb_func
litifut_return:
	push	{r0, r1, r2, r3, r4, r5, r6, r7, lr}
#ifdef SAVES_FLAGS
	mrs	r7, APSR
#endif
	ldr	r2, =litifut_pool + STATE
	add	r4, sp, #36
	mrs	r5, PRIMASK
	cpsid	i
#if __ARM_ARCH_ISA_THUMB >= 2
	ldrd	r1, r6, [r2, #AT(POOL_HEAD)]
#ifdef SAVES_FLAGS
	ldm	r1, {r0, r3, lr}	@ OPEN_NEXT, OPEN_RETURN, OPEN_STACK
	cmp	lr, r4
	bne	4f
#else
	ldm	r1, {r0, r3, r7}
	sub.w	r7, r7, r4
	cbnz	r7, 4f
#endif
1:	strd	r0, r1, [r2, #AT(POOL_HEAD)]
	strd	r6, r2, [r1]		@ OPEN_NEXT; OPEN_RETURN, with bit 0 clear
#else
	ldr	r1, [r2, #POOL_HEAD]
	ldr	r0, [r1, #OPEN_STACK]
	cmp	r0, r4
	bne	4f
	ldr	r0, [r1, #OPEN_NEXT]
1:	ldr	r6, [r2, #POOL_FREE]
	ldr	r3, [r1, #OPEN_RETURN]
	str	r0, [r2, #POOL_HEAD]
	str	r1, [r2, #POOL_FREE]
	str	r6, [r1, #OPEN_NEXT]
#endif
	str	r3, [sp, #32]		@ where the last pop goes
#if __ARM_ARCH_ISA_THUMB >= 2
	ubfx	r4, r4, #2, #16		@ LITIFUT_SPAN_RETURN is 0
#else
	lsls	r4, r4, #14
	lsrs	r4, r4, #16
#endif
#ifdef EVENT_FIRST
	msr	PRIMASK, r5
	cpsid	i
#endif
11:	event	r4, r5, 3f
2:	msr	PRIMASK, r5
#ifdef SAVES_FLAGS
	msr	APSR_nzcvq, r7
#endif
	pop	{r0, r1, r2, r3, r4, r5, r6, r7, pc}
3:
#ifndef SAVES_FLAGS
	mrs	r7, APSR
#endif
	adds	FULL_HEAD, #1		@ as above
	bne	12f
	str	FULL_HEAD, [r2, #AT(RING_HEAD)]
#ifndef SAVES_FLAGS
	msr	APSR_nzcvq, r7
#endif
	b	11b
12:	ldr	r1, [r2, #AT(RING_LOST)]
	adds	r1, #1
	str	r1, [r2, #AT(RING_LOST)]
#ifndef SAVES_FLAGS
	msr	APSR_nzcvq, r7
#endif
	b	2b
/* Calls of other stacks, or that have ended without a return, are newer; as in time.S. An entry that is free has no return
 * address there, whose bit 0 is 1. */
4:
#ifndef SAVES_FLAGS
	mrs	r7, APSR
#endif
#if __ARM_ARCH_ISA_THUMB >= 2
8:	msr	PRIMASK, r5
	movs	r6, #0
12:	sub.w	r0, r2, #STATE		@ POOL_HEAD is OPEN_NEXT
	b	5f
9:	mov	r0, r1
5:	ldr	r1, [r0, #OPEN_NEXT]
	cbz	r1, 10f
	ldr	r3, [r1, #OPEN_STACK]
	cmp	r3, r4
	bne	9b
	cpsid	i
	ldr	r3, [r0, #OPEN_NEXT]
	cmp	r3, r1
	bne	8b
	ldrd	r3, r6, [r1, #OPEN_RETURN]	@ and OPEN_STACK
	cmp	r6, r4
	bne	8b
	lsls	r6, r3, #31
	bpl	8b
	ldr	r6, [r1, #OPEN_NEXT]
	str	r6, [r0, #OPEN_NEXT]
	ldrd	r0, r6, [r2, #AT(POOL_HEAD)]	@ which stays, and POOL_FREE
#else
5:	mov	r0, r1
	ldr	r1, [r0, #OPEN_NEXT]
	cmp	r1, #0
	beq	6f
	ldr	r3, [r1, #OPEN_STACK]
	cmp	r3, r4
	bne	5b
	ldr	r3, [r1, #OPEN_NEXT]
	str	r3, [r0, #OPEN_NEXT]
	ldr	r0, [r2, #AT(POOL_HEAD)]	@ stays
#endif
#ifndef SAVES_FLAGS
	msr	APSR_nzcvq, r7
#endif
	b	1b
#if __ARM_ARCH_ISA_THUMB >= 2
10:	cbnz	r6, 6f
	cpsid	i
	movs	r6, #1
	b	12b
#endif
6:	bkpt	0			@ a function that has returned with another sp: lost
	b	6b
	.pool
	.size	litifut_return, . - litifut_return
#endif

/* As any function. */
	.thumb_func
litifut_clock_read:
	push	{r4, lr}
	clock
	pop	{r4, pc}
	.size	litifut_clock_read, . - litifut_clock_read

#ifdef LITIFUT_STREAM
#ifdef LITIFUT_KEPT
	.global	litifut_clock_start
	.hidden	litifut_clock_start
	.type	litifut_clock_start, %function
	.thumb_func
litifut_clock_start:
	bx	lr
	.size	litifut_clock_start, . - litifut_clock_start
#endif
#else
/* The clocks would have a table's times calibrated; here there is nothing to calibrate. */
	.thumb_func
litifut_calibrate_all:
	.thumb_func
litifut_calibrate:
	bx	lr
	.pool
	.balign	4
litifut_calibration:
	.word	16
	.size	litifut_calibrate, 2
	.size	litifut_calibrate_all, 2
	.size	litifut_calibration, 4
#endif

/* Not in .bss: a warm reset, too, begins with an empty ring. */
	.data
	.balign	4
litifut_pool:
	.space	POOL_BYTES
	.word	0			@ RING_HEAD
	.word	litifut_ring_limit	@ RING_LIMIT
	.word	litifut_ring_events - 1
	.word	litifut_table
	.word	0, 0
	.size	litifut_pool, . - litifut_pool
