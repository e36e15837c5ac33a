/* Stands in for the handler of SysTick in the vector table where a pin is set for power analysers
 * (LITIFUT_MARK_SET), as sample.S. The rewriter has put the handler's address into
 * litifut_pin_target. */
	.syntax	unified
	.thumb
	.text
	.global	litifut_pin_gate, litifut_pin_target
	.hidden	litifut_pin_gate, litifut_pin_target
	.type	litifut_pin_gate, %function
	.type	litifut_pin_target, %object
	.thumb_func
	.balign	4
litifut_pin_gate:
	push	{r4, lr}
	bl	litifut_pin_tick
	pop	{r4}
	pop	{r1}
	mov	lr, r1
	ldr	r0, litifut_pin_target
	bx	r0
	.balign	4
litifut_pin_target:
	.word	0
	.size	litifut_pin_gate, . - litifut_pin_gate
	.size	litifut_pin_target, 4
