; Records calls and returns as events in a ring (<litifut/spans_format.h>, ring.h). The site jumps to
; its stub, which makes the call itself, so that the callee returns to the stub:
;
;	call	litifut_span_call
;	call	callee
;	call	litifut_span_call
;	jmp	return_address
;
; The return address of litifut_span_call says which stub it is, and whether that has come from the
; site or from the callee. All registers and SREG are kept. The clock is timer 1, which counts
; cycles; its interrupt puts an event with the number of its overflows into the ring.
;
; With LITIFUT_STREAM (LITIFUT_MODE=stream) stubs record the call and go on to the callee, which returns
; to the site; there is no clock, and the timer is the program's.
#include <litifut/spans_format.h>

#include "tracer/avr/firmware/machine.inc"
#include "tracer/avr/spans/ring.h"
#include "tracer/avr/firmware/timer.inc"

/* What a call costs, in hundredths of a cycle, for litifut-post energy: between the two readings of the
 * clock, and the rest; with the average of the chunks' ends (0.15), and 0.21 % for the interrupts of the
 * clock that come in between (140 cycles of 65,536). litifut_hook_before: of each of the two, what comes
 * before the reading. */
	.global	litifut_stub_words
	.hidden	litifut_stub_words
#ifdef LITIFUT_STREAM
	.set	litifut_stub_words, LITIFUT_AVR_STREAM_STUB_WORDS
#else
	.set	litifut_stub_words, LITIFUT_AVR_STUB_WORDS
	.global	litifut_hook_inside, litifut_hook_outside, litifut_hook_before
	.set	litifut_hook_inside, 7230 + 301 * (RETURN_BYTES - 2)
	.set	litifut_hook_outside, 7030 + 100 * (RETURN_BYTES - 2)
	.set	litifut_hook_before, 2400 + 100 * (RETURN_BYTES - 2)
#endif

/* On the stack of litifut_span_call below its return address. */
#define SAVED 6

; Puts the time into the event at Y.
	.macro	put_time
#ifdef LITIFUT_STREAM
	clr	r24
	st	Y+, r24
	st	Y+, r24
#else
	lds	r24, TCNT1L
	st	Y+, r24
	lds	r24, TCNT1H
	st	Y+, r24
#endif
	.endm

	.macro	load_head
	lds	r28, litifut_ring + RING_HEAD
	lds	r29, litifut_ring + RING_HEAD + 1
	.endm

	.macro	store_head
	sts	litifut_ring + RING_HEAD, r28
	sts	litifut_ring + RING_HEAD + 1, r29
	.endm

	.global	litifut_span_note
	.hidden	litifut_span_note
	.set	litifut_span_note, litifut_span_call
	hidden_function litifut_span_call
	push	r24
	in	r24, SREG
	cli
	push	r24
	push	r28
	push	r29
	push	r30
	push	r31
	load_head
litifut_span_event:
	in	r30, SPL
	in	r31, SPH
	put_time
	ldd	r24, Z + SAVED + RETURN_BYTES
	st	Y+, r24
	ldd	r24, Z + SAVED + RETURN_BYTES - 1
	st	Y+, r24
	st	Y+, r30
	st	Y+, r31
	tst	r28
	brne	1f
	rcall	litifut_span_chunk
1:	store_head
	pop	r31
	pop	r30
	pop	r29
	pop	r28
	pop	r24
	out	SREG, r24
	pop	r24
	ret
	.size	litifut_span_call, . - litifut_span_call

; The same for a call through Z: first an event that says where it leads to. It has no time.
	hidden_function litifut_span_pointer
	push	r24
	in	r24, SREG
	cli
	push	r24
	push	r28
	push	r29
	push	r30
	push	r31
	load_head
	adiw	r28, 2
	ldi	r24, LITIFUT_SPAN_CALLEE
	st	Y+, r24
	ldi	r24, 0
	st	Y+, r24
	st	Y+, r30
	st	Y+, r31
	tst	r28
	brne	litifut_span_event
	rcall	litifut_span_chunk
	rjmp	litifut_span_event
	.size	litifut_span_pointer, . - litifut_span_pointer

; void litifut_span_put(uint16_t number, uint16_t value), with interrupts off.
	hidden_function litifut_span_put
	push	r28
	push	r29
	load_head
	movw	r30, r24
	put_time
	st	Y+, r30
	st	Y+, r31
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
; lost, and the next ones have the same place, until the sender has made room. Changes r24, r30, r31.
	hidden_function litifut_span_chunk
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
	sts	litifut_ring + RING_LOST, r30
	sts	litifut_ring + RING_LOST + 1, r31
	ret
4:	movw	r28, r30
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
	ldi	r24, 0
	st	Z+, r24
	st	Z+, r24
	sbiw	r28, LITIFUT_AVR_EVENT_BYTES - 2
	.rept	LITIFUT_AVR_EVENT_BYTES - 2
	ld	r24, Y+
	st	Z+, r24
	.endr
	movw	r28, r30
	ret
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
	ldi	r24, 0			; as in timer1.S
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
	ldd	r24, Z + 2
	ldd	r25, Z + 3
	sbiw	r24, LITIFUT_SPAN_CLOCK
	brne	1f
	lds	r24, TCNT1L
	st	Z, r24
	lds	r24, TCNT1H
	std	Z + 1, r24
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
