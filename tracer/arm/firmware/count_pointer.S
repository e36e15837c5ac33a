/* Counts a call through a pointer, by callee (and for time_pointer.S finds its record):
 *
 *	push {r0, lr}; mov r0, rN; bl litifut_count_pointer; .hword number of its first word
 *
 * Its entry in the table is {record, callee, other}, and what other callees it has are in
 * the overflow table, see <litifut/frames_format.h>. An entry of either, once taken, stays
 * what it is, so that only taking one and adding to a number are done with interrupts off,
 * for at most 7 instructions. Registers as in count_small.S. */
#include <litifut/frames_format.h>

#ifdef LITIFUT_TIMES
#define RECORD_BYTES (4 * LITIFUT_RECORD_TIMES)
#ifdef LITIFUT_SWITCHED
#define NAME litifut_time_pointer_switched
#else
#define NAME litifut_time_pointer
#endif
#else
#define RECORD_BYTES (4 * LITIFUT_RECORD_COUNT)
#ifdef LITIFUT_SWITCHED
#define NAME litifut_count_pointer_switched
#else
#define NAME litifut_count_pointer
#endif
#endif
#define ENTRY_BYTES (4 * LITIFUT_OVERFLOW_EXTRA + RECORD_BYTES)

	.syntax	unified
	.thumb
	.text
	.global	NAME
	.hidden	NAME
	.type	NAME, %function
	.thumb_func
	.balign	4
NAME:
#ifdef LITIFUT_TIMES
	push	{r0, r1, r2, r3, r4, r5}	@ as time.S has it: r0 to r6, the callee
	ldr	r3, [sp, #24]
	str	r3, [sp]
	str	r6, [sp, #24]
#else
	push	{r1, r2, r3, r4, r5, r6}
#endif
	mov	r3, lr
	subs	r3, #1
	ldrh	r1, [r3]
	ldr	r2, [sp, #28]
	mov	lr, r2
	str	r0, [sp, #28]		@ where the last pop goes
	ldr	r2, =litifut_table
	lsls	r3, r1, #2
	adds	r2, r2, r3		@ the entry
	adds	r1, #1			@ its name in the overflow table
1:	ldr	r3, [r2, #RECORD_BYTES]
	cmp	r3, r0
	beq	8f
	cmp	r3, #0
	bne	2f
	mrs	r5, PRIMASK
	cpsid	i
	ldr	r3, [r2, #RECORD_BYTES]
	cmp	r3, #0
	bne	0f
	str	r0, [r2, #RECORD_BYTES]	@ its first callee
0:	msr	PRIMASK, r5
	b	1b
2:	lsrs	r3, r0, #2
	adds	r3, r3, r1
	ldr	r6, =litifut_overflow_mask
	ands	r3, r6
	movs	r6, #ENTRY_BYTES
	muls	r3, r6, r3
	ldr	r6, =litifut_overflow
	adds	r3, r3, r6
.if ENTRY_BYTES * LITIFUT_OVERFLOW_TRIED < 256
	movs	r6, #ENTRY_BYTES * LITIFUT_OVERFLOW_TRIED
.else
	ldr	r6, =ENTRY_BYTES * LITIFUT_OVERFLOW_TRIED
.endif
	adds	r6, r6, r3
3:	ldr	r4, [r3]
	cmp	r4, r1
	bne	4f
	ldr	r5, [r3, #4]
	cmp	r5, r0
	bne	6f
	adds	r3, #8
	movs	r2, r3
	b	8f
4:	cmp	r4, #0
	bne	6f
	mrs	r5, PRIMASK		@ a free entry
	cpsid	i
	ldr	r4, [r3]
	cmp	r4, #0
	bne	5f
	str	r0, [r3, #4]
	str	r1, [r3]
5:	msr	PRIMASK, r5
	b	3b
6:	adds	r3, #ENTRY_BYTES
	cmp	r3, r6
	bne	3b
	adds	r2, #RECORD_BYTES + 4	@ no place: other
#ifdef LITIFUT_TIMES
	b	9f
8:	mov	r5, r2
	mov	r2, lr
	ldr	r0, =litifut_time_open + 1
	bx	r0
9:
#else
8:
#endif
#ifdef LITIFUT_SWITCHED
	ldr	r1, =litifut_step
	ldr	r1, [r1]
#else
	movs	r1, #1
#endif
	mrs	r5, PRIMASK
	cpsid	i
	ldr	r3, [r2]
	adds	r3, r3, r1
	str	r3, [r2]
	msr	PRIMASK, r5
#ifdef LITIFUT_TIMES
	pop	{r0, r1, r2, r3, r4, r5, r6, pc}
#else
	pop	{r1, r2, r3, r4, r5, r6}
	pop	{r0, pc}
#endif
	.pool
	.size	NAME, . - NAME
