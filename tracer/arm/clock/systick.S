/* The SysTick timer that the program uses for its ticks: the periods that have ended, counted
 * where the interrupt comes, and the part of the present one. It stands while the program has
 * not started the timer. DDI 0403E B3.3, B3.2.4 (ICSR). */
	.syntax	unified
	.thumb
	.text
	.global	litifut_clock, litifut_clock_start, litifut_tick, litifut_tick_target
	.hidden	litifut_clock, litifut_clock_start, litifut_tick, litifut_tick_target
	.type	litifut_clock, %function
	.type	litifut_clock_start, %function
	.type	litifut_tick, %function
	.thumb_func
	.balign	4
litifut_clock:
	push	{r1, r2, r3, r4, r5}
	mrs	r5, PRIMASK
	ldr	r1, =0xe000e010
	ldr	r4, =litifut_ticks
	ldr	r3, =0xe000ed04
	cpsid	i
	ldr	r0, [r1]		@ CSR
	lsls	r0, r0, #31		@ ENABLE
	beq	3f
	ldr	r0, [r1, #8]		@ CVR, which counts down
	ldr	r3, [r3]
	ldr	r2, [r1, #4]		@ RVR
	lsls	r3, r3, #5		@ PENDSTSET
	bpl	1f
	ldr	r0, [r1, #8]		@ a period has ended that is not counted yet
	subs	r0, r0, r2
	subs	r0, #1
1:	subs	r2, r2, r0
	ldr	r0, [r4]
	adds	r0, r0, r2
	/* An interrupt of a higher priority may come before that of SysTick is counted. */
	ldr	r2, [r4, #4]
	subs	r1, r0, r2
	bpl	2f
	mov	r0, r2
2:	str	r0, [r4, #4]
4:	msr	PRIMASK, r5
	pop	{r1, r2, r3, r4, r5}
	bx	lr
3:	ldr	r0, [r4, #4]
	b	4b
	.size	litifut_clock, . - litifut_clock

	.thumb_func
litifut_clock_start:
	bx	lr
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
