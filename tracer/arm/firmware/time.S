/* Times a call from where it is made to where it returns:
 *
 *	push {r0, lr}; bl litifut_time_call; .hword number of its record; .word callee | 1
 *
 * The stub stands at a multiple of 4, so that lr is its address + 7. The return address is
 * kept in an entry of a pool, and lr leads to litifut_return instead. sp is the same when a
 * function begins and when it has returned, and at no moment have two stacks the same, so
 * that finds the entry: tasks, interrupts and their nesting need nothing of their own. A tail
 * call has the sp of the call before it; the one entered last returns first.
 *
 * r0 to r12 and sp are kept, on return the flags as well: some functions of libgcc return
 * their result in them. */
#include <litifut/firmware_pool.h>
#include <litifut/frames_format.h>

#define RECORD_MINIMUM 4
#define RECORD_MAXIMUM 8
#define RECORD_SUM 12

#ifdef LITIFUT_SWITCHED
#define TIME_CALL litifut_time_call_switched
#else
#define TIME_CALL litifut_time_call
#endif

	.syntax	unified
	.thumb
	.text
	.global	TIME_CALL, litifut_time_open, litifut_return
	.hidden	TIME_CALL, litifut_time_open, litifut_return
	.type	TIME_CALL, %function
	.type	litifut_time_open, %function
	.type	litifut_return, %function
	.thumb_func
	.balign	4
TIME_CALL:
	push	{r1, r2, r3, r4, r5, r6}
#if __ARM_ARCH_ISA_THUMB >= 2
	ldrh	r3, [lr, #-1]
	ldr	r4, [lr, #1]
	ldr	lr, [sp, #28]
	ldr	r0, =litifut_table
	add	r3, r0, r3, lsl #2
#else
	mov	r4, lr
	subs	r4, #7
	ldr	r1, [sp, #28]
	ldrh	r3, [r4, #6]
	ldr	r4, [r4, #8]
	mov	lr, r1
	lsls	r3, r3, #2
	ldr	r0, =litifut_table
	adds	r3, r3, r0
#endif
	str	r4, [sp, #28]		@ where the last pop goes

/* r3: the record. On the stack: r1 to r6, r0, the callee. lr: where it is to return to. */
	.thumb_func
litifut_time_open:
	ldr	r2, =litifut_pool
	add	r5, sp, #32
	mrs	r4, PRIMASK
	cpsid	i
	ldr	r1, [r3]
#ifdef LITIFUT_SWITCHED
	ldr	r6, =litifut_step
	ldr	r6, [r6]
	cmp	r6, #0
	beq	9f
#endif
	adds	r1, #1
	str	r1, [r3]
#if __ARM_ARCH_ISA_THUMB >= 2
	ldrd	r6, r0, [r2, #POOL_HEAD]
	cbz	r0, litifut_time_new
	ldr	r1, [r0, #OPEN_NEXT]
	strd	r0, r1, [r2, #POOL_HEAD]
1:	strd	r6, lr, [r0, #OPEN_NEXT]
	strd	r5, r3, [r0, #OPEN_STACK]
#else
	ldr	r0, [r2, #POOL_FREE]
	cmp	r0, #0
	beq	litifut_time_new
	ldr	r1, [r0, #OPEN_NEXT]
	str	r1, [r2, #POOL_FREE]
	ldr	r6, [r2, #POOL_HEAD]
	str	r0, [r2, #POOL_HEAD]
1:	str	r6, [r0, #OPEN_NEXT]
	mov	r6, lr
	str	r6, [r0, #OPEN_RETURN]
	str	r5, [r0, #OPEN_STACK]
	str	r3, [r0, #OPEN_RECORD]
#endif
	msr	PRIMASK, r4
	mov	r3, r0
	bl	litifut_clock		@ changes r0 and lr only
	str	r0, [r3, #OPEN_START]
#if __ARM_ARCH_ISA_THUMB >= 2
	ldr	lr, =litifut_return + 1
#else
	ldr	r1, =litifut_return + 1
	mov	lr, r1
#endif
2:	pop	{r1, r2, r3, r4, r5, r6}
	pop	{r0, pc}

/* No entry has been freed. r2: the pool; r3, r4, r5 as above. Back at 1, r0 is the entry, which
 * is the head, and r6 what was. */
litifut_time_new:
	ldr	r0, [r2, #POOL_USED]
	ldr	r1, =litifut_open_end
	ldr	r6, =litifut_open
	subs	r1, r1, r6
	adds	r6, r6, r0
	adds	r0, #OPEN_BYTES
	cmp	r0, r1
	bhi	3f
	str	r0, [r2, #POOL_USED]
	cmp	r0, #OPEN_BYTES
	mov	r0, r6
	bne	8f
	mov	r1, lr			@ the first of all calls
	mov	r6, r12
	push	{r0, r1, r2, r3}
	bl	litifut_clock_start	@ as any function
	pop	{r0, r1, r2, r3}
	mov	r12, r6
	mov	lr, r1
8:	ldr	r6, [r2, #POOL_HEAD]
	str	r0, [r2, #POOL_HEAD]
	b	1b
/* Does an entry belong to a call that has ended without a return (longjmp)? One with the sp of this
 * call does, unless this is a tail call, whose lr leads to litifut_return. */
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
9:	msr	PRIMASK, r4
	b	2b
7:	ldr	r1, [r0, #OPEN_NEXT]
	str	r1, [r6, #OPEN_NEXT]
	b	8b
	.size	TIME_CALL, . - TIME_CALL

	.thumb_func
litifut_return:
	push	{r0, r1, r2, r3, r4, r5, r6, lr}
	mrs	r6, APSR
	bl	litifut_clock
	ldr	r2, =litifut_pool
	add	r4, sp, #32
	mrs	r5, PRIMASK
	cpsid	i
	ldr	r1, [r2, #POOL_HEAD]
	ldr	r3, [r1, #OPEN_STACK]
	cmp	r3, r4
	bne	4f
	ldr	r4, [r1, #OPEN_NEXT]
1:	ldr	r3, [r2, #POOL_FREE]
#if __ARM_ARCH_ISA_THUMB >= 2
	strd	r4, r1, [r2, #POOL_HEAD]
	ldr	r2, [r1, #OPEN_RETURN]
	str	r3, [r1, #OPEN_NEXT]
	ldrd	r3, r4, [r1, #OPEN_RECORD]
#else
	str	r4, [r2, #POOL_HEAD]
	str	r1, [r2, #POOL_FREE]
	ldr	r2, [r1, #OPEN_RETURN]
	str	r3, [r1, #OPEN_NEXT]
	ldr	r3, [r1, #OPEN_RECORD]
	ldr	r4, [r1, #OPEN_START]
#endif
	str	r2, [sp, #28]		@ where the last pop goes
	movs	r2, #0
	str	r2, [r1, #OPEN_RECORD]
	msr	PRIMASK, r5
	subs	r0, r0, r4
	cpsid	i
#if __ARM_ARCH_ISA_THUMB >= 2
	ldrd	r1, r4, [r3, #RECORD_SUM]
	adds	r1, r1, r0
	adc	r4, r4, #0
	strd	r1, r4, [r3, #RECORD_SUM]
	mvns	r4, r0
	ldrd	r1, r2, [r3, #RECORD_MINIMUM]
#else
	ldr	r1, [r3, #RECORD_SUM]
	ldr	r4, [r3, #RECORD_SUM + 4]
	adds	r1, r1, r0
	adcs	r4, r2
	str	r1, [r3, #RECORD_SUM]
	str	r4, [r3, #RECORD_SUM + 4]
	mvns	r4, r0
	ldr	r1, [r3, #RECORD_MINIMUM]
	ldr	r2, [r3, #RECORD_MAXIMUM]
#endif
	cmp	r4, r1
	bls	2f
	str	r4, [r3, #RECORD_MINIMUM]
2:	cmp	r0, r2
	bls	3f
	str	r0, [r3, #RECORD_MAXIMUM]
3:	msr	PRIMASK, r5
	msr	APSR_nzcvq, r6
	pop	{r0, r1, r2, r3, r4, r5, r6, pc}
/* Calls of other stacks, or that have ended without a return, are newer. */
4:	mov	lr, r0
5:	mov	r0, r1
	ldr	r1, [r0, #OPEN_NEXT]
	cmp	r1, #0
	beq	6f
	ldr	r3, [r1, #OPEN_STACK]
	cmp	r3, r4
	bne	5b
	ldr	r3, [r1, #OPEN_NEXT]
	str	r3, [r0, #OPEN_NEXT]
	mov	r0, lr
	ldr	r4, [r2, #POOL_HEAD]	@ stays
	b	1b
6:	bkpt	0			@ a function that has returned with another sp: lost
	b	6b
	.pool
	.size	litifut_return, . - litifut_return

/* Calls that measure what a timed call costs, see tracer/sink/frames/calibrate.c. */
	.global	litifut_clock_read, litifut_calibration_timed, litifut_calibration_plain
	.hidden	litifut_clock_read, litifut_calibration_timed, litifut_calibration_plain
	.global	litifut_calibration_number, litifut_calibrate_all
	.hidden	litifut_calibration_number, litifut_calibrate_all
	.type	litifut_clock_read, %function
	.type	litifut_calibration_timed, %function
	.type	litifut_calibration_plain, %function
	.type	litifut_calibration_number, %object
	.type	litifut_calibrate_all, %function
	.thumb_func
	.balign	4
litifut_clock_read:
	push	{r4, lr}
	bl	litifut_clock
	pop	{r4, pc}
	.thumb_func
litifut_calibration_timed:
	push	{r4, lr}
	bl	1f
	pop	{r4, pc}
	.thumb_func
litifut_calibration_plain:
	push	{r4, lr}
	bl	2f
	pop	{r4, pc}
/* Where the clock runs from its start on. */
	.thumb_func
litifut_calibrate_all:
	push	{r4, lr}
	movs	r4, #16
3:	bl	litifut_calibrate
	subs	r4, #1
	bne	3b
	pop	{r4, pc}
	.balign	4
1:	push	{r0, lr}		@ as the stub of a site
	bl	TIME_CALL
litifut_calibration_number:		@ of its record; the rewriter fills it
	.hword	0
	.word	2f + 1
2:	bx	lr
	.size	litifut_clock_read, . - litifut_clock_read
	.size	litifut_calibration_number, 2

	.bss
	.global	litifut_pool
	.hidden	litifut_pool
	.type	litifut_pool, %object
	.balign	4
litifut_pool:
	.space	POOL_BYTES
	.size	litifut_pool, . - litifut_pool
	.global	litifut_open_bytes, litifut_open_record
	.set	litifut_open_bytes, OPEN_BYTES
	.set	litifut_open_record, OPEN_RECORD
