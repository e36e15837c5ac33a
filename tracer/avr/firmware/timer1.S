; Timer 1 as the clock of timed calls, see timer.inc.
#include "tracer/avr/firmware/machine.inc"
#include "tracer/avr/firmware/timer.inc"

#define CALIBRATIONS 16
#define INSIDE 4 /* in struct litifut_calibration, which has less than 64 K of cycles here */
#define RETURN_CYCLES (2 + RETURN_BYTES)

	hidden_function litifut_clock_read
	in	r20, SREG
	cli
	load_clock r22, r23, r24, r25
	sbic	TIFR1, TOV1
	rjmp	2f
1:	out	SREG, r20
	ret
2:	count_overflow r23, r24, r25, 1b
	.size	litifut_clock_read, . - litifut_clock_read

; The first call is timed: as any function of C, with interrupts off.
	hidden_function litifut_clock_start
	push	r16
	ldi	r24, 0
	sts	TCCR1A, r24
	ldi	r24, 1
	sts	TCCR1B, r24
	lds	r24, TIMSK1
	ori	r24, 1
	sts	TIMSK1, r24
	ldi	r16, CALIBRATIONS
4:	CALL	litifut_calibrate
	lds	r24, litifut_calibration + INSIDE
	subi	r24, RETURN_CYCLES	; of the function that was called, not of the tracer
	sts	litifut_calibration + INSIDE, r24
	brcc	5f
	lds	r24, litifut_calibration + INSIDE + 1
	subi	r24, 1
	sts	litifut_calibration + INSIDE + 1, r24
5:	dec	r16
	brne	4b
	pop	r16
	ret
	.size	litifut_clock_start, . - litifut_clock_start

; In the place of the vector's handler. A program that sets the timer up at its start, as init() of the Arduino
; core does for the PWM, has it back as a clock at its next overflow.
	hidden_function litifut_timer_overflow
	push	r24
	in	r24, SREG
	push	r24
	push	r25
	lds	r24, litifut_ticks
	lds	r25, litifut_ticks + 1
	adiw	r24, 1
	sts	litifut_ticks, r24
	sts	litifut_ticks + 1, r25
	ldi	r24, 0
	sts	TCCR1A, r24
	ldi	r24, 1
	sts	TCCR1B, r24
	pop	r25
	pop	r24
	out	SREG, r24
	pop	r24
	reti
	.size	litifut_timer_overflow, . - litifut_timer_overflow

	.section .bss
	.global	litifut_ticks
	.hidden	litifut_ticks
litifut_ticks:
	.space	2
