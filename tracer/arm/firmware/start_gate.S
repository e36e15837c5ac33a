/* Stands in for the function whose call starts recording (LITIFUT_START_AT), at its call sites.
 * The rewriter has put the function's address into litifut_start_target. */
	.syntax	unified
	.thumb
	.text
	.global	litifut_start_gate, litifut_start_target
	.hidden	litifut_start_gate, litifut_start_target
	.type	litifut_start_gate, %function
	.type	litifut_start_target, %object
	.thumb_func
	.balign	4
litifut_start_gate:
	push	{r0, r1, r2}
	ldr	r0, =litifut_step
	movs	r1, #1
	str	r1, [r0]
	ldr	r0, litifut_start_target
	str	r0, [sp, #8]
	pop	{r0, r1, pc}
	.balign	4
litifut_start_target:
	.word	0
	.pool
	.size	litifut_start_gate, . - litifut_start_gate
	.size	litifut_start_target, 4
