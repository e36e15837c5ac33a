/* Counts a call whose stub is made for size:
 *
 *	push {r0, lr}; bl litifut_count_small; .hword number of its word; .word callee | 1
 *
 * The stub stands at a multiple of 4, so that lr is its address + 7. r0 to r12, lr and sp
 * are kept; the flags are lost, as a call may lose them (GCC counts them as changed by each
 * call). Exact under nested interrupts: by ldrex and strex, whose monitor an exception
 * clears, or on v6-M, which has none, with interrupts off for 4 instructions. */
#ifdef LITIFUT_SWITCHED
#define NAME litifut_count_small_switched
#else
#define NAME litifut_count_small
#endif

	.syntax	unified
	.thumb
	.text
	.global	NAME
	.hidden	NAME
	.type	NAME, %function
	.thumb_func
	.balign	4
NAME:
	push	{r1, r2, r3}
	mov	r3, lr
	subs	r3, #7
	ldr	r2, [sp, #16]
	mov	lr, r2
	ldr	r0, [r3, #8]
	str	r0, [sp, #16]		@ where the last pop goes
	ldrh	r1, [r3, #6]
	lsls	r1, r1, #2
	ldr	r2, =litifut_table
#if __ARM_ARCH_ISA_THUMB >= 2
	adds	r2, r2, r1
#ifdef LITIFUT_SWITCHED
	ldr	r0, =litifut_step
	ldr	r0, [r0]
1:	ldrex	r1, [r2]
	adds	r1, r1, r0
#else
1:	ldrex	r1, [r2]
	adds	r1, #1
#endif
	strex	r3, r1, [r2]
	cbnz	r3, 2f
	pop	{r1, r2, r3}
	pop	{r0, pc}
2:	b	1b
#else
	mrs	r3, PRIMASK
	cpsid	i
#ifdef LITIFUT_SWITCHED
	adds	r2, r2, r1
	ldr	r1, =litifut_step
	ldr	r1, [r1]
	ldr	r0, [r2]
	adds	r0, r0, r1
	str	r0, [r2]
#else
	ldr	r0, [r2, r1]
	adds	r0, #1
	str	r0, [r2, r1]
#endif
	msr	PRIMASK, r3
	pop	{r1, r2, r3}
	pop	{r0, pc}
#endif
	.pool
	.size	NAME, . - NAME
