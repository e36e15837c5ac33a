; Stands in for a function whose call sends the results (LITIFUT_SEND=call:FUNCTION): the stubs
; of its call sites come here, with everything as the function is to find it. The rewriter has
; put the way to the function to litifut_send_target.
#include "tracer/avr/firmware/machine.inc"

	hidden_function litifut_send_gate
	push	r0
	in	r0, SREG
	push	r0
	push	r1
	clr	r1
	.irp	number, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 30, 31
	push	r\number
	.endr
#ifdef __AVR_HAVE_RAMPZ__
	in	r0, RAMPZ
	push	r0
#endif
	CALL	litifut_send
#ifdef __AVR_HAVE_RAMPZ__
	pop	r0
	out	RAMPZ, r0
#endif
	.irp	number, 31, 30, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18
	pop	r\number
	.endr
	pop	r1
	pop	r0
	out	SREG, r0
	pop	r0
	.global	litifut_send_target
	.hidden	litifut_send_target
litifut_send_target:
	nop				; a jmp, or an rjmp
	nop
	.size	litifut_send_gate, . - litifut_send_gate
