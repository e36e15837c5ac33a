; The clock of timed calls, for the sender: litifut_ticks and timer 1, as a function of C. See time.S.
#include "tracer/avr/firmware/machine.inc"
#include "tracer/avr/firmware/timer.inc"

	hidden_function litifut_clock_read
	in	r20, SREG
	cli
	lds	r22, TCNT1L
	lds	r24, TCNT1H
	mov	r23, r24
	sbic	TIFR1, TOV1
	CALL	litifut_time_overflow
	lds	r24, litifut_ticks
	lds	r25, litifut_ticks + 1
	out	SREG, r20
	ret
	.size	litifut_clock_read, . - litifut_clock_read
