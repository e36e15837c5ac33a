/* As span_pointer.S where no returns are recorded (LITIFUT_MODE=stream). Both events are put into the
 * ring with interrupts off once, and all else is done before or behind that, so that it takes at
 * most 40 cycles. Where there is no room for both, and on a CPU with the small instruction set,
 * it is done as there. */
#ifdef LITIFUT_SWITCHED
#define NAME litifut_stream_pointer_switched
#else
#define NAME litifut_stream_pointer
#endif

#if __ARM_ARCH_ISA_THUMB < 2
#include "span_pointer.S"
#else
#include "tracer/arm/spans/span.inc"

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
	ldrh	r3, [lr, #-1]
	add	r5, sp, #32
	pack	r3
	mov	r1, #(LITIFUT_SPAN_CALLEE << 16)
	ldr	r2, =litifut_pool
	mrs	r4, PRIMASK
	cpsid	i
#ifdef LITIFUT_SWITCHED
	ldr	r6, =litifut_step
	ldr	r6, [r6]
	cbz	r6, 3f
#endif
	put	r0, r1, r3, r6, lr, 1f
	movs	r1, #0			@ there is no time
	put	r1, r5, r3, r6, lr, 2f
3:	msr	PRIMASK, r4
	ldr	lr, [sp, #28]
	str	r0, [sp, #28]		@ where the last pop goes
	pop	{r1, r2, r3, r4, r5, r6}
	pop	{r0, pc}
1:	ldr	r1, [r2, #RING_LOST]
	adds	r1, #1
	str	r1, [r2, #RING_LOST]
2:	lsrs	r3, r5, #16		@ the number, which `pack` has put there
	add	r5, sp, #32
	ldr	lr, [sp, #28]
	str	r0, [sp, #28]
	ldr	r0, =litifut_span_open + 1
	bx	r0
	.pool
	.size	NAME, . - NAME
#endif
