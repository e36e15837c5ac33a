; Records calls and returns as events in a ring (<litifut/spans_format.h>, ring.h). The site jumps to
; its stub, which makes the call itself, so that the callee returns to the stub:
;
;	push	r24
;	ldi	r24, lo8(number)
;	call	litifut_span_call
;	pop	r24
;	call	callee
;	call	litifut_span_return
;	jmp	return_address
;
; In a program that switches recording off and on (LITIFUT_SWITCHED) there is more behind the call of
; litifut_span_call_switched, which returns to the second word where the call is not recorded:
;
;	rjmp	1f
;	pop	r24
;	call	callee
;	jmp	return_address
;   1:	pop	r24
;	...
;
; What is open when recording is switched off has its return recorded, as on other CPUs.
;
; There is a litifut_span_call for each upper half of numbers (recorder.inc, high.S). All registers and
; SREG are kept. The clock is timer 1, which counts cycles; its interrupt puts an event with the number of
; its overflows into the ring.
;
; With LITIFUT_STREAM (LITIFUT_MODE=stream) stubs record the call and go on to the callee, which returns
; to the site; there is no clock, and the timer is the program's.
#define LITIFUT_HIGH 0
#include "tracer/avr/spans/recorder.inc"

/* What a call costs, in hundredths of a cycle, for litifut-post energy: between the two readings of the
 * clock, and the rest; with the average of the chunks' ends (0.29). litifut_hook_before: of each of the
 * two, what comes before the reading (22 at the call, 21 at the return). litifut_clock_interrupt: one
 * interrupt of the clock; litifut_clock_period: cycles from one to the next. Where recording is switched off and
 * on, 4 cycles come before the reading at the call, and 2 behind it. */
#ifdef LITIFUT_SWITCHED
#define SWITCH_BEFORE 400
#define SWITCH_BEHIND 200
#else
#define SWITCH_BEFORE 0
#define SWITCH_BEHIND 0
#endif
#ifndef LITIFUT_STREAM
	.global	litifut_hook_inside, litifut_hook_outside, litifut_hook_before
	.global	litifut_clock_period, litifut_clock_interrupt
	.set	litifut_hook_inside, 5829 + 301 * (RETURN_BYTES - 2) + SWITCH_BEHIND
	.set	litifut_hook_outside, 5729 + 100 * (RETURN_BYTES - 2) + SWITCH_BEFORE
	.set	litifut_hook_before, 2150 + 100 * (RETURN_BYTES - 2) + SWITCH_BEFORE / 2
	.set	litifut_clock_period, 65536
	.set	litifut_clock_interrupt, 14000
#endif

#define SPAN_CALL SWITCHED_NAME(litifut_span_call)

	.global	litifut_span_note
	.hidden	litifut_span_note
	.set	litifut_span_note, SPAN_CALL
	recorder SPAN_CALL

#if defined(LITIFUT_SWITCHED) && !defined(LITIFUT_STREAM)
; Adds 1 to the return address of the code that has called this, in words. That has pushed r28 and r29.
	hidden_function litifut_span_skip
	push	r24
	in	r24, SREG
	push	r24
	in	r28, SPL
	in	r29, SPH
#define SKIPPED (2 + RETURN_BYTES + 2 + RETURN_BYTES) /* from the stack pointer to its lowest byte */
	ldd	r24, Y + SKIPPED
	subi	r24, 0xff
	std	Y + SKIPPED, r24
	brcs	1f			; no carry: it was 255
	ldd	r24, Y + SKIPPED - 1
	subi	r24, 0xff
	std	Y + SKIPPED - 1, r24
#if RETURN_BYTES == 3
	brcs	1f
	ldd	r24, Y + SKIPPED - 2
	inc	r24
	std	Y + SKIPPED - 2, r24
#endif
1:	pop	r24
	out	SREG, r24
	pop	r24
	ret
	.size	litifut_span_skip, . - litifut_span_skip
#endif

#ifndef LITIFUT_STREAM
	.macro	return_event
	begin_event
	ldi	r24, LITIFUT_SPAN_RETURN
	st	Y+, r24
	st	Y+, r24
	end_event
	pop	r24
	.endm

	hidden_function litifut_span_return
	push	r24
	brid	1f
	cli
	return_event
	sei				; an interrupt comes behind the next instruction at the earliest
	ret
1:	return_event
	ret
	.size	litifut_span_return, . - litifut_span_return
#endif

; Of a call through Z: first an event that says where it leads to. It has no time.
	.macro	pointer_event skipped
	push	r29
	push	r24
#ifdef LITIFUT_SWITCHED
	unless_recording r24, \skipped
#endif
	load_head
	ldi	r24, LITIFUT_SPAN_CALLEE
	st	Y+, r24
	ldi	r24, 0
	st	Y+, r24
	st	Y+, r24
	st	Y+, r24
	st	Y+, r30
	st	Y+, r31
	next_place
	pop	r24
	st	Y+, r24
	pop	r24
	st	Y+, r24
	end_event
	.endm

	pointer_recorder litifut_span_pointer
	.global	litifut_span_pointer_number
	.hidden	litifut_span_pointer_number
litifut_span_pointer_number:
	brid	1f
	cli
	pointer_event 2f
	sei
	ret
1:	pointer_event 3f
	ret
#ifdef LITIFUT_SWITCHED
2:	pop	r24
	pop	r29
	skip_event
	sei
	ret
3:	pop	r24
	pop	r29
	skip_event
	ret
#endif
	.size	litifut_span_pointer, . - litifut_span_pointer

; void litifut_span_put(uint16_t number, uint16_t value), with interrupts off.
	hidden_function litifut_span_put
	begin_event
	st	Y+, r24
	st	Y+, r25
	put_time
	st	Y+, r22
	st	Y+, r23
	tst	r28
	brne	1f
	rcall	litifut_span_chunk
1:	store_head
	pop	r29
	pop	r28
	ret
	.size	litifut_span_put, . - litifut_span_put

; Y is behind an event that was the last one in its chunk. If the next chunk is not free, this event is
; lost, and the next ones have the same place, until the sender has made room. Changes r24.
	hidden_function litifut_span_chunk
	in	r24, SREG
	push	r24
	push	r30
	push	r31
	lds	r24, litifut_ring + RING_STATE
	cpi	r24, RING_NEW
	breq	3f
	cpi	r24, RING_FULL
	breq	2f
	movw	r30, r28
	cpi	r31, hi8(litifut_table_end)
	brne	1f
	ldi	r31, hi8(litifut_table)
1:	lds	r24, litifut_ring + RING_LIMIT + 1
	cpse	r31, r24
	rjmp	4f
	ldi	r24, RING_FULL
	sts	litifut_ring + RING_STATE, r24
2:	sbiw	r28, LITIFUT_AVR_EVENT_BYTES
	lds	r30, litifut_ring + RING_LOST
	lds	r31, litifut_ring + RING_LOST + 1
	adiw	r30, 1
	breq	5f			; there are more than can be counted: it stays at the most
	sts	litifut_ring + RING_LOST, r30
	sts	litifut_ring + RING_LOST + 1, r31
	rjmp	5f
4:	movw	r28, r30
5:	pop	r31
	pop	r30
	pop	r24
	out	SREG, r24
	ret

; The first event of all is in the last place of the ring, so that the clock starts here. It goes to
; the first place.
3:	ldi	r24, RING_OPEN
	sts	litifut_ring + RING_STATE, r24
#ifndef LITIFUT_STREAM
	ldi	r24, 0
	sts	TCCR1A, r24
	sts	TCNT1H, r24
	sts	TCNT1L, r24
	ldi	r24, 1
	sts	TCCR1B, r24
	lds	r24, TIMSK1
	ori	r24, 1
	sts	TIMSK1, r24
#endif
	ldi	r30, lo8(litifut_table)
	ldi	r31, hi8(litifut_table)
	sbiw	r28, LITIFUT_AVR_EVENT_BYTES
	.rept	LITIFUT_AVR_EVENT_BYTES
	ld	r24, Y+
	st	Z+, r24
	.endr
	ldi	r24, 0			; its time
	sbiw	r30, 4
	st	Z+, r24
	st	Z+, r24
	adiw	r30, 2
	rjmp	4b
	.size	litifut_span_chunk, . - litifut_span_chunk

#ifndef LITIFUT_STREAM
; In the place of the vector's handler. If the event before it is of the same kind, and the sender has
; not read it, that one is changed, so that a program that sleeps does not fill the ring.
	hidden_function litifut_timer_overflow
	push	r24
	in	r24, SREG
	push	r24
	.irp	number, 22, 23, 25, 30, 31
	push	r\number
	.endr
	lds	r22, litifut_ring + RING_OVERFLOWS
	lds	r23, litifut_ring + RING_OVERFLOWS + 1
	subi	r22, 0xff
	sbci	r23, 0xff
	sts	litifut_ring + RING_OVERFLOWS, r22
	sts	litifut_ring + RING_OVERFLOWS + 1, r23
	ldi	r24, 0			; as in time.S
	sts	TCCR1A, r24
	ldi	r24, 1
	sts	TCCR1B, r24
	lds	r30, litifut_ring + RING_HEAD
	lds	r31, litifut_ring + RING_HEAD + 1
	tst	r30
	breq	1f
	lds	r24, litifut_ring + RING_END
	lds	r25, litifut_ring + RING_END + 1
	cp	r24, r30
	cpc	r25, r31
	breq	1f
	sbiw	r30, LITIFUT_AVR_EVENT_BYTES
	ld	r24, Z
	ldd	r25, Z + 1
	sbiw	r24, LITIFUT_SPAN_CLOCK
	brne	1f
	lds	r24, TCNT1L
	std	Z + 2, r24
	lds	r24, TCNT1H
	std	Z + 3, r24
	std	Z + 4, r22
	std	Z + 5, r23
	rjmp	2f
1:	ldi	r24, LITIFUT_SPAN_CLOCK
	ldi	r25, 0
	CALL	litifut_span_put
2:
#ifdef SETS_PIN
	lds	r24, litifut_pin_left
	lds	r25, litifut_pin_left + 1
	sbiw	r24, 1
	brcs	4f			; as litifut_pin_tick begins, which few overflows need
	sts	litifut_pin_left, r24
	sts	litifut_pin_left + 1, r25
3:
#endif
	.irp	number, 31, 30, 25, 23, 22
	pop	r\number
	.endr
	pop	r24
	out	SREG, r24
	pop	r24
	reti
#ifdef SETS_PIN
4:	.irp	number, 0, 1, 18, 19, 20, 21, 26, 27
	push	r\number
	.endr
	clr	r1
	CALL	litifut_pin_tick
	.irp	number, 27, 26, 21, 20, 19, 18, 1, 0
	pop	r\number
	.endr
	rjmp	3b
#endif
	.size	litifut_timer_overflow, . - litifut_timer_overflow
#endif

	.data
	.global	litifut_ring
	.hidden	litifut_ring
	.type	litifut_ring, @object
litifut_ring:
	.word	litifut_table_end - LITIFUT_AVR_EVENT_BYTES	; RING_HEAD
	.word	litifut_table			; RING_TAIL
	.word	litifut_table			; RING_LIMIT
	.word	0				; RING_LOST
	.word	0				; RING_OVERFLOWS
	.word	RING_NEW			; RING_STATE
	.word	litifut_table			; RING_END
	.space	8
	.size	litifut_ring, . - litifut_ring
