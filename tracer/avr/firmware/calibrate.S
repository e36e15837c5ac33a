; Calls that measure what a timed call costs, see tracer/sink/frames/calibrate.c.
#include "tracer/avr/firmware/machine.inc"

	hidden_function litifut_calibration_timed
	CALL	1f
	ret
	.size	litifut_calibration_timed, . - litifut_calibration_timed

	hidden_function litifut_calibration_plain
	CALL	2f
	ret
	.size	litifut_calibration_plain, . - litifut_calibration_plain

; As the stub of a site, whose record is known; what it takes to find this one, 8 cycles, the plain
; call takes as well.
1:	push	r30
	push	r31
	lds	r30, litifut_calibration_number
	lds	r31, litifut_calibration_number + 1
	lsl	r30
	rol	r31
	lsl	r30
	rol	r31
	subi	r30, lo8(-(litifut_table))
	sbci	r31, hi8(-(litifut_table))
	CALL	litifut_time_call
	pop	r31
	pop	r30
	JUMP	3f
2:	.rept	8
	nop
	.endr
3:	ret

	.data
	.global	litifut_calibration_number
	.hidden	litifut_calibration_number
	.type	litifut_calibration_number, @object
litifut_calibration_number:		; of its record; the rewriter fills it
	.word	0
	.size	litifut_calibration_number, 2
