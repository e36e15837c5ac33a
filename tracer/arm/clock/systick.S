/* The SysTick timer that the program uses for its ticks: the periods that have ended, counted
 * where the interrupt comes, and the part of the present one. It stands while the program has
 * not started the timer: CVR is 0 then. CSR says whether the timer runs, but a read of it clears
 * COUNTFLAG, by which programs find that a period has ended, so it is read once, at the first
 * call of all. DDI 0403E B3.3, B3.2.4 (ICSR). */
	.syntax	unified
	.thumb
	.text
	.global	litifut_clock, litifut_clock_start, litifut_tick, litifut_tick_target
	.hidden	litifut_clock, litifut_clock_start, litifut_tick, litifut_tick_target
	.type	litifut_clock, %function
	.type	litifut_clock_start, %function
	.type	litifut_tick, %function

/* To r0, r4 and r5: what `now' needs. The three words have the label 5. */
.macro	places
	adr	r0, 5f
	ldm	r0, {r0, r4, r5}
.endm

/* The time to r0. Interrupts are off. Changes r1, r2, r4 and the flags. now_else has to follow out of the way. */
.macro	now
	ldm	r0!, {r1, r2}		@ RVR, and CVR, which counts down
	cmp	r2, #0
	beq	4f
	ldr	r4, [r4]
	lsls	r4, r4, #5		@ PENDSTSET
	bmi	1f
	subs	r0, r1, r2
2:	ldr	r1, [r5]
	adds	r0, r0, r1
	/* An interrupt of a higher priority may come before that of SysTick is counted. */
	ldr	r1, [r5, #4]
	subs	r1, r0, r1
	bmi	3f
	str	r0, [r5, #4]
6:
.endm

.macro	now_else
3:	ldr	r0, [r5, #4]
	b	6b
1:	subs	r0, r0, #4
	ldr	r2, [r0]		@ a period has ended that is not counted yet
	subs	r0, r1, r2
	cmp	r2, #0
	beq	2b			@ it ends now
	adds	r0, r0, r1
	adds	r0, #1
	b	2b
4:	cmp	r1, #0			@ not started
	beq	3b
	movs	r0, #0
	ldr	r4, [r4]
	lsls	r4, r4, #5
	bpl	2b			@ the period that ends now is counted
	mov	r0, r1
	b	2b
	.balign	4
5:	.word	0xe000e014		@ SYST_RVR
	.word	0xe000ed04		@ ICSR
	.word	litifut_ticks
.endm

	.thumb_func
	.balign	4
litifut_clock:
	push	{r1, r2, r4, r5, r6, lr}
#if __ARM_ARCH_ISA_THUMB >= 2
	places
	mrs	r6, PRIMASK
	cpsid	i
	now
#else
	mrs	r6, PRIMASK
	cpsid	i
	bl	litifut_clock_masked
#endif
	msr	PRIMASK, r6
	pop	{r1, r2, r4, r5, r6, pc}
#if __ARM_ARCH_ISA_THUMB >= 2
	now_else
#endif
	.size	litifut_clock, . - litifut_clock

#if __ARM_ARCH_ISA_THUMB < 2
	.global	litifut_clock_masked
	.hidden	litifut_clock_masked
	.type	litifut_clock_masked, %function
/* The same where interrupts are off. Changes r0, r1, r2, r4, r5 and the flags. */
	.thumb_func
	.balign	4
litifut_clock_masked:
	places
	now
	bx	lr
	now_else
	.size	litifut_clock_masked, . - litifut_clock_masked
#endif

/* What a timer that does not run has counted before a reset would be taken for time. */
	.thumb_func
litifut_clock_start:
	ldr	r0, =0xe000e010		@ SYST_CSR
	ldr	r1, [r0]
	lsrs	r1, r1, #1		@ ENABLE
	bcs	1f
	str	r1, [r0, #8]		@ any value makes CVR 0
1:	bx	lr
	.size	litifut_clock_start, . - litifut_clock_start

/* Stands in for what the entry of SysTick in the vector table has led to, as sample.S. */
	.thumb_func
litifut_tick:
	ldr	r0, =0xe000e014
	ldr	r1, =litifut_ticks
	ldr	r0, [r0]
	ldr	r2, [r1]
	adds	r0, #1
	adds	r2, r2, r0
	str	r2, [r1]
	ldr	r0, =litifut_calibration
	ldr	r0, [r0]
	cmp	r0, #16
	bhs	1f
	push	{r4, lr}
	bl	litifut_calibrate	@ now the timer runs
	pop	{r4}
	pop	{r1}
	mov	lr, r1
1:	ldr	r0, litifut_tick_target
	bx	r0
	.balign	4
litifut_tick_target:
	.word	0
	.pool
	.size	litifut_tick, . - litifut_tick

	.bss
	.balign	4
litifut_ticks:				@ of periods that have ended; the last time that was read
	.space	8
