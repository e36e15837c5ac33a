/* Records a call through a pointer as events: where it leads, then the call (tracer/arm/spans/call.S).
 *
 *	push {r0, lr}; mov r0, rN; bl litifut_span_pointer; .hword its number */
#include "tracer/arm/spans/span.inc"

#ifdef NAME
/* stream_pointer.S */
#elif defined(LITIFUT_SWITCHED)
#define NAME litifut_span_pointer_switched
#else
#define NAME litifut_span_pointer
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
	push	{r1, r2, r3, r4, r5, r6}
	mov	r4, lr
	subs	r4, #1
	ldrh	r3, [r4]
	ldr	r1, [sp, #28]
	mov	lr, r1
	str	r0, [sp, #28]		@ where the last pop goes
	mask
	movs	r1, #LITIFUT_SPAN_CALLEE
	lsls	r1, r1, #16
	push	{r3}
	put	r0, r1, r3, r5, r6, 1f
2:	pop	{r3}
	add	r5, sp, #32
	ldr	r0, =litifut_span_open + 1
	bx	r0
1:	ldr	r1, [r2, #RING_LOST]
	adds	r1, #1
	str	r1, [r2, #RING_LOST]
	b	2b
#ifdef LITIFUT_SWITCHED
9:	msr	PRIMASK, r4
	pop	{r1, r2, r3, r4, r5, r6}
	pop	{r0, pc}
#endif
	.pool
	.size	NAME, . - NAME
