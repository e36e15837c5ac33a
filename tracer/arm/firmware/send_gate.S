/* Stands in for a function whose call sends the results (LITIFUT_SEND=call:FUNCTION): the
 * stubs of its call sites come here, with everything as the function is to find it. The
 * rewriter has put the function's address into litifut_send_target. */
#ifndef NAME
#define NAME litifut_send_gate
#define FUNCTION litifut_send
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
	push	{r0, r1, r2, r3, r4, lr}
	mov	r4, r12
	bl	FUNCTION
	mov	r12, r4
	ldr	r4, [sp, #20]
	mov	lr, r4
	ldr	r4, litifut_send_target
	str	r4, [sp, #20]
	pop	{r0, r1, r2, r3, r4, pc}
	.balign	4
	.global	litifut_send_target
	.hidden	litifut_send_target
	.type	litifut_send_target, %object
litifut_send_target:
	.word	0
	.size	NAME, . - NAME
	.size	litifut_send_target, 4
