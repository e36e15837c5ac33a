; Stands in for the function whose call starts recording (LITIFUT_START_AT), at its call sites. The
; rewriter puts the jump to the function into litifut_start_target.
#include "tracer/avr/firmware/machine.inc"

	hidden_function litifut_start_gate
	push	r24
	ldi	r24, 1
	sts	litifut_step, r24
	pop	r24
	.global	litifut_start_target
	.hidden	litifut_start_target
litifut_start_target:
	nop				; a jmp, or an rjmp
	nop
	.size	litifut_start_gate, . - litifut_start_gate
