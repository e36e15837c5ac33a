/* Times a call from where it is made to where it returns:
 *
 *	push {lr}; bl litifut_time_call; .hword number of its record; .word callee | 1
 *
 * The stub stands at a multiple of 4, so that lr is its address + 7. The return address is
 * kept in an entry of a pool, and lr leads to litifut_return instead. sp is the same when a
 * function begins and when it has returned, and at no moment have two stacks the same, so
 * that finds the entry: tasks, interrupts and their nesting need nothing of their own. A tail
 * call has the sp of the call before it; the one entered last returns first.
 *
 * r0 to r12 and sp are kept, on return the flags as well: some functions of libgcc return
 * their result in them. OPEN_STACK is sp behind the first push, which is the same at both ends.
 *
 * With LITIFUT_TASKS both ends compare the task that runs, in a word of the kernel, with the one
 * that ran before, with interrupts on: in a task the word is always its own. Only a change leads
 * to tracer/port/bare/tasks.c. */
#include <litifut/firmware_pool.h>
#include <litifut/frames_format.h>

#define RECORD_MINIMUM 4 /* inverted */
#define RECORD_BYTES (4 * LITIFUT_RECORD_TIMES)

/* Where the end of a call keeps the flags and PRIMASK. On v6-M the clock is read where interrupts are off
 * already, and may change what is not needed then. */
#if __ARM_ARCH_ISA_THUMB >= 2
#define FLAGS r6
#define MASK lr
#else
#define FLAGS lr
#define MASK r6
#endif

#if defined(LITIFUT_TASKS) && defined(LITIFUT_SWITCHED)
#define TIME_CALL litifut_time_call_tasks_switched
#elif defined(LITIFUT_TASKS)
#define TIME_CALL litifut_time_call_tasks
#elif defined(LITIFUT_SWITCHED)
#define TIME_CALL litifut_time_call_switched
#else
#define TIME_CALL litifut_time_call
#endif

#ifdef LITIFUT_TASKS
#define CLOCK_START litifut_tasks_start
#else
#define CLOCK_START litifut_clock_start
#endif

/* The calls of a task are counted with interrupts on where that can be done, and where it is known
 * already that the call is recorded. */
#if defined(LITIFUT_TASKS) && !defined(LITIFUT_SWITCHED) && __ARM_ARCH_ISA_THUMB >= 2
#define COUNTS_EXCLUSIVE
#endif

/* The pool to \pool; to `changed' if another task runs. */
.macro	see_task pool, a, b, changed
	ldr	\pool, =litifut_pool
#ifdef LITIFUT_TASKS
	ldr	\a, litifut_task_at
	ldr	\a, [\a]
	ldr	\b, [\pool, #POOL_TASK]
	cmp	\a, \b
	bne	\changed
#endif
.endm

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
	push	{r0, r1, r2, r3, r4, r5, r6}
#if __ARM_ARCH_ISA_THUMB >= 2
	ldrh	r5, [lr, #-1]
	ldr	r4, [lr, #1]
	ldr	r2, [sp, #28]
	ldr	r0, =litifut_table
	add	r5, r0, r5, lsl #2
#else
	mov	r3, lr
	subs	r3, #3
	ldm	r3!, {r1, r4}		@ r1: the number, and below it the end of a bl, whose upper bits are 11
	ldr	r2, [sp, #28]
	lsrs	r5, r1, #14
	ldr	r0, =litifut_table - 3
	adds	r5, r5, r0
#endif
	str	r4, [sp, #28]		@ where the last pop goes

/* r5: the record; r2: where the call is to return to. On the stack: r0 to r6, the callee. */
	.thumb_func
litifut_time_open:
	see_task r0, r1, r3, 11f
12:
#ifdef COUNTS_EXCLUSIVE
	ldrex	r1, [r0, #POOL_CALLS]
	adds	r1, #1
	strex	r3, r1, [r0, #POOL_CALLS]
	cmp	r3, #0
	bne	12b
#endif
	mrs	r6, PRIMASK
	cpsid	i
	ldr	r1, [r5]
#ifdef LITIFUT_SWITCHED
	ldr	r3, =litifut_step
	ldr	r3, [r3]
	cmp	r3, #0
	beq	10f
#endif
	adds	r1, #1
	str	r1, [r5]
#if defined(LITIFUT_TASKS) && !defined(COUNTS_EXCLUSIVE)
	ldr	r1, [r0, #POOL_CALLS]
	adds	r1, #1
	str	r1, [r0, #POOL_CALLS]
#endif
#if __ARM_ARCH_ISA_THUMB >= 2
	ldrd	r1, r3, [r0, #POOL_HEAD]
	cbz	r3, litifut_time_new
	ldr	lr, [r3, #OPEN_NEXT]
	strd	r3, lr, [r0, #POOL_HEAD]
#else
	ldr	r3, [r0, #POOL_FREE]
	cmp	r3, #0
	beq	litifut_time_new
	ldr	r4, [r3, #OPEN_NEXT]
	ldr	r1, [r0, #POOL_HEAD]
	stm	r0!, {r3, r4}		@ POOL_HEAD, POOL_FREE
#endif
1:	mov	r4, sp
	stm	r3!, {r1, r2, r4, r5}	@ OPEN_NEXT, OPEN_RETURN, OPEN_STACK, OPEN_RECORD
#if __ARM_ARCH_ISA_THUMB >= 2
	msr	PRIMASK, r6
	bl	litifut_clock		@ changes r0, lr and flags only
	str	r0, [r3]		@ OPEN_START
	ldr	lr, =litifut_return + 1
#else
	bl	litifut_clock_masked	@ keeps r3 and r6
	str	r0, [r3]
	msr	PRIMASK, r6
	ldr	r1, =litifut_return + 1
	mov	lr, r1
#endif
2:	pop	{r0, r1, r2, r3, r4, r5, r6, pc}

/* No entry has been freed. r0: the pool; r1 where T32 is whole, r2, r5, r6 as above. Back at 1, r3 is the entry, which
 * is the head, and r1 what was. */
litifut_time_new:
	ldr	r4, [r0, #POOL_USED]
	ldr	r3, =litifut_open
	adds	r3, r3, r4
	adds	r4, #OPEN_BYTES
#if __ARM_ARCH_ISA_THUMB >= 2
	ldr	lr, =litifut_open_end
	cmp	r3, lr
#else
	ldr	r1, =litifut_open_end
	cmp	r3, r1
#endif
	bhs	3f
	str	r4, [r0, #POOL_USED]
	cmp	r4, #OPEN_BYTES
	beq	9f
#if __ARM_ARCH_ISA_THUMB >= 2
	str	r3, [r0, #POOL_HEAD]
	b	1b
#endif
8:	ldr	r1, [r0, #POOL_HEAD]
	str	r3, [r0, #POOL_HEAD]
	b	1b
9:	mov	r1, r12			@ the first of all calls
	push	{r0, r1, r2, r3}
	bl	CLOCK_START		@ as any function
	pop	{r0, r1, r2, r3}
	mov	r12, r1
	b	8b
/* Does an entry belong to a call that has ended without a return (longjmp)? One with the sp of this
 * call does, unless this is a tail call, whose lr leads to litifut_return. */
3:	ldr	r1, =litifut_return + 1
	cmp	r1, r2
	bne	5f			@ POOL_HEAD is OPEN_NEXT
6:	ldr	r0, =litifut_pool
	ldr	r1, [r0, #POOL_UNTIMED]
	adds	r1, #1
	str	r1, [r0, #POOL_UNTIMED]
10:	msr	PRIMASK, r6
	mov	lr, r2
	b	2b
4:	ldr	r1, [r3, #OPEN_STACK]
	cmp	sp, r1
	beq	7f
	mov	r0, r3
5:	ldr	r3, [r0, #OPEN_NEXT]
	cmp	r3, #0
	bne	4b
	b	6b
7:	ldr	r1, [r3, #OPEN_NEXT]
	str	r1, [r0, #OPEN_NEXT]
	ldr	r0, =litifut_pool
	b	8b
#ifdef LITIFUT_TASKS
11:	mov	r1, r12
	push	{r0, r1, r2, r3}
	bl	litifut_task_changed	@ as any function
	pop	{r0, r1, r2, r3}
	mov	r12, r1
	b	12b
#endif
	.size	TIME_CALL, . - TIME_CALL

	.thumb_func
litifut_return:
	push	{r0, r1, r2, r3, r4, r5, r6, lr}
#if __ARM_ARCH_ISA_THUMB >= 2
	mrs	r6, APSR
	bl	litifut_clock
	see_task r1, r2, r3, 7f
8:	mrs	lr, PRIMASK
	cpsid	i
#else
	mrs	r3, APSR
#ifdef LITIFUT_TASKS
	see_task r1, r0, r2, 7f
8:
#endif
	mrs	r6, PRIMASK
	cpsid	i
	bl	litifut_clock_masked
	mov	lr, r3
	ldr	r1, =litifut_pool
#endif
	ldr	r5, [r1, #POOL_HEAD]
	ldm	r5, {r2, r3, r4, r5}	@ OPEN_NEXT, OPEN_RETURN, OPEN_STACK, OPEN_RECORD
	cmp	sp, r4
	bne	4f
	str	r3, [sp, #28]		@ where the last pop goes
#if __ARM_ARCH_ISA_THUMB >= 2
	ldrd	r3, r4, [r1, #POOL_HEAD]
	strd	r2, r3, [r1, #POOL_HEAD]
#else
	ldr	r3, [r1, #POOL_HEAD]
	ldr	r4, [r1, #POOL_FREE]
	stm	r1!, {r2, r3}
#endif
1:	str	r4, [r3, #OPEN_NEXT]
	movs	r1, #0
	str	r1, [r3, #OPEN_RECORD]
	ldr	r2, [r3, #OPEN_START]
	msr	PRIMASK, MASK
	subs	r0, r0, r2
	adds	r5, #RECORD_MINIMUM
	cpsid	i
	ldm	r5!, {r1, r2, r3, r4}	@ RECORD_MINIMUM, RECORD_MAXIMUM, the two words of RECORD_SUM
	adds	r3, r3, r0
	bcc	5f
	adds	r4, #1
5:	cmn	r1, r0			@ carries unless the time is less than the minimum, which is inverted
	bcs	2f
	mvns	r1, r0
2:	cmp	r0, r2
	bls	3f
	mov	r2, r0
3:	subs	r5, #RECORD_BYTES - RECORD_MINIMUM
	stm	r5!, {r1, r2, r3, r4}
	msr	PRIMASK, MASK
	msr	APSR_nzcvq, FLAGS
	pop	{r0, r1, r2, r3, r4, r5, r6, pc}
/* Calls of other stacks, or that have ended without a return, are newer. Where T32 is whole, interrupts may come while they
 * are passed. Then the list may change, and lead to free entries: what is found is looked at again, and if nothing is found,
 * all is once more, without interrupts. */
#if __ARM_ARCH_ISA_THUMB >= 2
4:	msr	PRIMASK, MASK
	movs	r5, #0
12:	mov	r2, r1			@ POOL_HEAD is OPEN_NEXT
	b	5f
9:	mov	r2, r3
5:	ldr	r3, [r2, #OPEN_NEXT]
	cbz	r3, 10f
	ldr	r4, [r3, #OPEN_STACK]
	cmp	sp, r4
	bne	9b
	cpsid	i
	ldr	r4, [r2, #OPEN_NEXT]
	cmp	r4, r3
	bne	4b
	ldrd	r4, r5, [r3, #OPEN_STACK]	@ and OPEN_RECORD, which is 0 where the entry is free
	cmp	sp, r4
	bne	4b
	cmp	r5, #0
	beq	4b
	ldrd	r4, r5, [r3]		@ OPEN_NEXT, OPEN_RETURN
	str	r4, [r2, #OPEN_NEXT]
	str	r5, [sp, #28]
	ldr	r5, [r3, #OPEN_RECORD]
	ldr	r4, [r1, #POOL_FREE]
	str	r3, [r1, #POOL_FREE]
	b	1b
10:	cbnz	r5, 6f
	cpsid	i
	movs	r5, #1
	b	12b
#else
4:	ldr	r3, [r1, #POOL_HEAD]
5:	mov	r2, r3
	ldr	r3, [r2, #OPEN_NEXT]
	cmp	r3, #0
	beq	6f
	ldr	r4, [r3, #OPEN_STACK]
	cmp	sp, r4
	bne	5b
	ldr	r4, [r3, #OPEN_NEXT]
	str	r4, [r2, #OPEN_NEXT]
	ldr	r4, [r3, #OPEN_RETURN]
	str	r4, [sp, #28]
	ldr	r5, [r3, #OPEN_RECORD]
	ldr	r4, [r1, #POOL_FREE]
	str	r3, [r1, #POOL_FREE]
	b	1b
#endif
6:	bkpt	0			@ a function that has returned with another sp: lost
	b	6b
#ifdef LITIFUT_TASKS
7:	mov	r2, r12
	push	{r0, r1, r2, r3}
	bl	litifut_task_changed
	pop	{r0, r1, r2, r3}
	mov	r12, r2
	b	8b
	.global	litifut_task_at
	.hidden	litifut_task_at
	.type	litifut_task_at, %object
	.balign	4
litifut_task_at:			@ the rewriter fills it
	.word	0
	.size	litifut_task_at, 4
#endif
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
/* The call does not belong to a task; both ways take as long. */
.macro	uncount calls
#ifdef LITIFUT_TASKS
	ldr	r0, =litifut_pool
	mrs	r3, PRIMASK
	cpsid	i
	ldr	r1, [r0, #POOL_CALLS]
	subs	r1, #\calls
	str	r1, [r0, #POOL_CALLS]
	msr	PRIMASK, r3
#endif
.endm
	.thumb_func
litifut_calibration_timed:
	push	{r4, lr}
	bl	1f
	uncount	1
	pop	{r4, pc}
	.thumb_func
litifut_calibration_plain:
	push	{r4, lr}
	bl	2f
	uncount	0
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
1:	push	{lr}			@ as the stub of a site
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
#ifdef LITIFUT_TASKS
	.space	POOL_TASKS_BYTES
#else
	.space	POOL_BYTES
#endif
	.size	litifut_pool, . - litifut_pool
	.global	litifut_open_untimed
	.hidden	litifut_open_untimed
	.set	litifut_open_untimed, litifut_pool + POOL_UNTIMED
	.global	litifut_open_bytes, litifut_open_record
	.set	litifut_open_bytes, OPEN_BYTES
	.set	litifut_open_record, OPEN_RECORD
