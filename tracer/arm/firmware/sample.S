/* Stands in for the handler of a timer in the vector table (LITIFUT_SAMPLE): adds 1 to the bin
 * of the address that was interrupted, and goes on to the handler with everything as the
 * exception has left it. The handler is a function of the C calling convention as any other,
 * so r0 to r3 are free. DDI 0419E B1.5.6: bit 2 of EXC_RETURN says which stack was in use. A
 * bin that is full stays full. */
	.syntax	unified
	.thumb
	.text
	.global	litifut_sample
	.hidden	litifut_sample
	.type	litifut_sample, %function
	.thumb_func
	.balign	4
litifut_sample:
	mov	r0, lr
	lsls	r0, r0, #29
	mov	r0, sp
	bpl	1f
	mrs	r0, PSP
1:	ldr	r0, [r0, #24]		@ pc
	ldr	r1, litifut_sample_low
	subs	r0, r0, r1
	ldr	r1, litifut_sample_shift
	lsrs	r0, r0, r1
	ldr	r1, litifut_sample_bins
	cmp	r0, r1
	bhs	2f
	lsls	r0, r0, #1
	ldr	r1, =litifut_profile
	ldrh	r2, [r1, r0]
	adds	r2, r2, #1
	lsrs	r3, r2, #16
	bne	2f
	strh	r2, [r1, r0]
2:	ldr	r3, litifut_sample_target
	bx	r3
	.balign	4
	/* The rewriter fills these. */
	.global	litifut_sample_low, litifut_sample_shift, litifut_sample_bins, litifut_sample_target
	.hidden	litifut_sample_low, litifut_sample_shift, litifut_sample_bins, litifut_sample_target
litifut_sample_low:
	.word	0
litifut_sample_shift:
	.word	0
litifut_sample_bins:
	.word	0
litifut_sample_target:
	.word	0
	.pool
	.size	litifut_sample, . - litifut_sample
