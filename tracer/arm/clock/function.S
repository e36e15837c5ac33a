/* A function of the program, `uint32_t NAME(void)`, whose value grows (LITIFUT_CLOCK=NAME). The
 * rewriter has put its address into litifut_clock_target. */
	.syntax	unified
	.thumb
	.text
	.global	litifut_clock, litifut_clock_masked, litifut_clock_start, litifut_clock_target
	.hidden	litifut_clock, litifut_clock_masked, litifut_clock_start, litifut_clock_target
	.type	litifut_clock, %function
	.type	litifut_clock_masked, %function
	.type	litifut_clock_start, %function
	.thumb_func
	.balign	4
litifut_clock:
	.thumb_func
litifut_clock_masked:
	push	{r1, r2, r3, r4, r5, lr}
	mov	r4, r12
	ldr	r0, litifut_clock_target
	blx	r0
	mov	r12, r4
	pop	{r1, r2, r3, r4, r5, pc}
	.thumb_func
litifut_clock_start:
	push	{r4, lr}
	bl	litifut_calibrate_all
	pop	{r4, pc}
	.balign	4
litifut_clock_target:
	.word	0
	.size	litifut_clock, . - litifut_clock
	.size	litifut_clock_masked, . - litifut_clock_masked
