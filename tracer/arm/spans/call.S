/* Records a call and its return as events in a ring (<litifut/spans_format.h>). Stubs and the pool
 * of open calls are those of time.S, and so is how the call finds back; here an entry of the pool
 * has neither record nor time. Interrupts are off from the taking of an entry to the end of the
 * event, so that the events are in the order of their times, and an event in the ring is whole.
 *
 * All but the program counter is kept when a call is made, where time.S keeps it, and the flags as
 * well when it returns. With LITIFUT_SPAN_DWT the clock is the counter of CPU cycles, read on the
 * spot; nothing then changes the flags. With LITIFUT_KEPT the ring outlasts a reset
 * (<litifut/kept_format.h>). The linker wrapper defines litifut_span_begin: what starts the clock,
 * and with LITIFUT_KEPT the ring.
 *
 * With LITIFUT_STREAM (LITIFUT_MODE=stream) calls are recorded without their returns and without
 * times: no return address is replaced, and there is neither a pool nor a clock. */
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

#if !defined(LITIFUT_SPAN_DWT) && !defined(LITIFUT_STREAM)
#define CALLS_CLOCK
#endif

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
	.global	litifut_span_open, litifut_span_note, litifut_clock_read, litifut_pool
	.hidden	litifut_span_open, litifut_span_note, litifut_clock_read, litifut_pool
	.type	litifut_span_open, %function
	.type	litifut_span_note, %function
	.type	litifut_clock_read, %function
	.type	litifut_pool, %object
	.thumb_func
	.balign	4
#ifdef LITIFUT_STREAM
litifut_span_note:
	read_stub
	mask
/* r3: the number of the call. On the stack: r1 to r6, r0, the callee. lr: where it returns to. */
	.thumb_func
litifut_span_open:
#else
SPAN_CALL:
	read_stub
	mask
/* r3: the number of the call. On the stack: r1 to r6, r0, the callee. lr: where it returns to. */
	.thumb_func
litifut_span_open:
#if __ARM_ARCH_ISA_THUMB >= 2
	ldrd	r6, r0, [r2, #POOL_HEAD]
	cbz	r0, litifut_span_new
	ldr	r1, [r0, #OPEN_NEXT]
	strd	r0, r1, [r2, #POOL_HEAD]
1:	strd	r6, lr, [r0, #OPEN_NEXT]
	str	r5, [r0, #OPEN_STACK]
	ldr	lr, =litifut_return + 1
#else
	ldr	r0, [r2, #POOL_FREE]
	cmp	r0, #0
	beq	litifut_span_new
	ldr	r1, [r0, #OPEN_NEXT]
	str	r1, [r2, #POOL_FREE]
	ldr	r6, [r2, #POOL_HEAD]
	str	r0, [r2, #POOL_HEAD]
1:	str	r6, [r0, #OPEN_NEXT]
	mov	r6, lr
	str	r6, [r0, #OPEN_RETURN]
	str	r5, [r0, #OPEN_STACK]
	ldr	r6, =litifut_return + 1
	mov	lr, r6
#endif
#endif
litifut_span_record:
#ifdef CALLS_CLOCK
	mov	r6, lr
#endif
	clock
#ifdef CALLS_CLOCK
	mov	lr, r6
#endif
	pack	r3
11:	put	r0, r5, r1, r3, r6, litifut_span_full
9:	msr	PRIMASK, r4
	pop	{r1, r2, r3, r4, r5, r6}
	pop	{r0, pc}
/* r1: the head, which is the limit. RING_NO_LIMIT is none: positions begin at 0 again. */
litifut_span_full:
	adds	r1, #1
	bne	12f
	str	r1, [r2, #RING_HEAD]
	b	11b
12:
#if defined(LITIFUT_STREAM) && defined(LITIFUT_KEPT)
	ldr	r1, [r2, #RING_MASK]
	cmp	r1, #0
	beq	13f
#endif
	ldr	r1, [r2, #RING_LOST]
	adds	r1, #1
	str	r1, [r2, #RING_LOST]
	b	9b
#if defined(LITIFUT_STREAM) && defined(LITIFUT_KEPT)
13:	mov	r1, r12			@ the first of all calls
	mov	r6, lr
	push	{r0, r1, r2, r3}
	bl	litifut_span_begin	@ as any function
	pop	{r0, r1, r2, r3}
	mov	r12, r1
	mov	lr, r6
	b	11b
#endif

#ifdef LITIFUT_STREAM
	.size	litifut_span_note, . - litifut_span_note
#else
/* No entry has been freed. Back at 1, r0 is the entry, which is the head, and r6 what was. */
litifut_span_new:
	ldr	r0, [r2, #POOL_USED]
	ldr	r1, =litifut_open_end
	ldr	r6, =litifut_open
	subs	r1, r1, r6
	adds	r6, r6, r0
	adds	r0, #OPEN_SPAN_BYTES
	cmp	r0, r1
	bhi	3f
	str	r0, [r2, #POOL_USED]
	cmp	r0, #OPEN_SPAN_BYTES
	mov	r0, r6
	bne	8f
	mov	r1, lr			@ the first of all calls
	mov	r6, r12
	push	{r0, r1, r2, r3}
	bl	litifut_span_begin	@ as any function
	pop	{r0, r1, r2, r3}
	mov	r12, r6
	mov	lr, r1
8:	ldr	r6, [r2, #POOL_HEAD]
	str	r0, [r2, #POOL_HEAD]
	b	1b
/* As in time.S: the entry of a call that has ended by longjmp(). */
3:	ldr	r1, =litifut_return + 1
	cmp	r1, lr
	beq	6f
	mov	r6, r2			@ POOL_HEAD is OPEN_NEXT
	b	5f
4:	ldr	r1, [r0, #OPEN_STACK]
	cmp	r1, r5
	beq	7f
	mov	r6, r0
5:	ldr	r0, [r6, #OPEN_NEXT]
	cmp	r0, #0
	bne	4b
6:	ldr	r1, [r2, #POOL_UNTIMED]
	adds	r1, #1
	str	r1, [r2, #POOL_UNTIMED]
	b	litifut_span_record
7:	ldr	r1, [r0, #OPEN_NEXT]
	str	r1, [r6, #OPEN_NEXT]
	b	8b
	.size	SPAN_CALL, . - SPAN_CALL

/* A call whose return is not recorded. */
	.thumb_func
litifut_span_note:
	read_stub
	mask
	b	litifut_span_record
#ifdef LITIFUT_SWITCHED
9:	msr	PRIMASK, r4
	pop	{r1, r2, r3, r4, r5, r6}
	pop	{r0, pc}
#endif
	.size	litifut_span_note, . - litifut_span_note

	.thumb_func
litifut_return:
	push	{r0, r1, r2, r3, r4, r5, r6, r7, lr}
#ifdef SAVES_FLAGS
	mrs	r7, APSR
#endif
	ldr	r2, =litifut_pool
	add	r4, sp, #36
	mrs	r5, PRIMASK
	cpsid	i
#if __ARM_ARCH_ISA_THUMB >= 2
	ldrd	r1, r6, [r2, #POOL_HEAD]
#ifdef SAVES_FLAGS
	ldm	r1, {r0, r3, lr}	@ OPEN_NEXT, OPEN_RETURN, OPEN_STACK
	cmp	lr, r4
	bne	4f
#else
	ldm	r1, {r0, r3, r7}
	sub.w	r7, r7, r4
	cbnz	r7, 4f
#endif
1:	strd	r0, r1, [r2, #POOL_HEAD]
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
#endif
	str	r6, [r1, #OPEN_NEXT]
	str	r3, [sp, #32]		@ where the last pop goes
	clock
#if __ARM_ARCH_ISA_THUMB >= 2
	ubfx	r4, r4, #2, #16		@ LITIFUT_SPAN_RETURN is 0
#else
	lsls	r4, r4, #14
	lsrs	r4, r4, #16
#endif
11:	put	r0, r4, r1, r3, r6, 3f
2:	msr	PRIMASK, r5
#ifdef SAVES_FLAGS
	msr	APSR_nzcvq, r7
#endif
	pop	{r0, r1, r2, r3, r4, r5, r6, r7, pc}
3:
#ifndef SAVES_FLAGS
	mrs	r7, APSR
#endif
	adds	r1, #1			@ as above
	bne	12f
	str	r1, [r2, #RING_HEAD]
#ifndef SAVES_FLAGS
	msr	APSR_nzcvq, r7
#endif
	b	11b
12:	ldr	r1, [r2, #RING_LOST]
	adds	r1, #1
	str	r1, [r2, #RING_LOST]
#ifndef SAVES_FLAGS
	msr	APSR_nzcvq, r7
#endif
	b	2b
/* Calls of other stacks, or that have ended without a return, are newer. */
4:
#ifndef SAVES_FLAGS
	mrs	r7, APSR
#endif
5:	mov	r0, r1
	ldr	r1, [r0, #OPEN_NEXT]
	cmp	r1, #0
	beq	6f
	ldr	r3, [r1, #OPEN_STACK]
	cmp	r3, r4
	bne	5b
	ldr	r3, [r1, #OPEN_NEXT]
	str	r3, [r0, #OPEN_NEXT]
	ldr	r0, [r2, #POOL_HEAD]	@ stays
#if __ARM_ARCH_ISA_THUMB >= 2
	ldr	r3, [r1, #OPEN_RETURN]
	ldr	r6, [r2, #POOL_FREE]
#endif
#ifndef SAVES_FLAGS
	msr	APSR_nzcvq, r7
#endif
	b	1b
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
