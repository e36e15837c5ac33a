/* The counter of CPU cycles in the Data Watchpoint and Trace unit of M3 and up. DDI 0403E
 * C1.6.5 (DEMCR), C1.8.7 (DWT_CTRL). */
	.syntax	unified
	.thumb
	.text
	.global	litifut_clock, litifut_clock_masked, litifut_clock_start
	.hidden	litifut_clock, litifut_clock_masked, litifut_clock_start
	.type	litifut_clock, %function
	.type	litifut_clock_masked, %function
	.type	litifut_clock_start, %function
	.thumb_func
	.balign	4
litifut_clock:
	.thumb_func
litifut_clock_masked:
	ldr	r0, =0xe0001004
	ldr	r0, [r0]
	bx	lr
	.size	litifut_clock, . - litifut_clock
	.size	litifut_clock_masked, . - litifut_clock_masked

	.thumb_func
litifut_clock_start:
	ldr	r0, =0xe000edfc
	movs	r1, #1
	lsls	r2, r1, #24		@ TRCENA
	ldr	r3, [r0]
	orrs	r3, r2
	str	r3, [r0]
	ldr	r0, =0xe0001000
	ldr	r3, [r0]
	orrs	r3, r1			@ CYCCNTENA
	str	r3, [r0]
	push	{r4, lr}
	bl	litifut_calibrate_all
	pop	{r4, pc}
	.pool
	.size	litifut_clock_start, . - litifut_clock_start
