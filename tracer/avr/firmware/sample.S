; Stands in for the handler of an interrupt in the vector table (LITIFUT_SAMPLE): adds 1 to the bin of
; the address that was interrupted, and goes on to the handler with everything as it was. A bin
; that is full stays full. The code begins at 0 and a bin has 4 bytes or more.
#include "tracer/avr/firmware/machine.inc"

/* On the stack below the return address, which is in words and has its upper byte first. */
#define SAVED 6

	hidden_function litifut_sample
	push	r24
	in	r24, SREG
	push	r24
	push	r25
	push	r26
	push	r30
	push	r31
	in	r30, SPL
	in	r31, SPH
#if RETURN_BYTES == 3
	ldd	r26, Z + SAVED + 1
#else
	ldi	r26, 0
#endif
	ldd	r25, Z + SAVED + RETURN_BYTES - 1
	ldd	r24, Z + SAVED + RETURN_BYTES
	lds	r30, litifut_sample_shift
	rjmp	2f
1:	lsr	r26
	ror	r25
	ror	r24
2:	dec	r30
	brne	1b
	lsl	r24
	rol	r25
	movw	r30, r24
	subi	r30, lo8(-(litifut_profile))
	sbci	r31, hi8(-(litifut_profile))
	ld	r24, Z
	ldd	r25, Z + 1
	adiw	r24, 1
	breq	3f
	st	Z, r24
	std	Z + 1, r25
3:	pop	r31
	pop	r30
	pop	r26
	pop	r25
	pop	r24
	out	SREG, r24
	pop	r24
	.global	litifut_sample_target
	.hidden	litifut_sample_target
litifut_sample_target:
	nop				; a jmp, or an rjmp
	nop
	.size	litifut_sample, . - litifut_sample

	/* The rewriter fills these. */
	.data
	.global	litifut_sample_low, litifut_sample_shift, litifut_sample_bins
	.hidden	litifut_sample_low, litifut_sample_shift, litifut_sample_bins
litifut_sample_low:
	.long	0
litifut_sample_shift:
	.long	0
litifut_sample_bins:
	.long	0
