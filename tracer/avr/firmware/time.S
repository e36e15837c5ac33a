; Times a call from where it is made to where it returns. Its stub has 8 bytes:
;
;	call	litifut_time_call
;	jmp	callee
;
; and its record 16, so that the address of the record follows from the return address, which counts
; words. A device without call has rcall and rjmp, and room behind them.
;
; The return address is kept in an entry of a pool, and litifut_return stands in its place. The
; stack pointer is the same when a function has been called and when it has returned, and at no
; moment have two stacks the same, so that finds the entry: interrupts and their nesting need
; nothing of their own. A tail call has the same as the call before it; the one entered last
; returns first.
;
; Open calls stand one after the other at the end of the pool, the newest one first (pool.inc). Where one
; returns that is not the newest, as where tasks have stacks of their own, the newer ones move.
;
; All registers and SREG are kept, on return as well. Interrupts are off in both parts. The clock
; is timer 1, which counts cycles; its overflows are counted by an interrupt.
#include <litifut/firmware_pool.h>
#include <litifut/frames_format.h>

#include "tracer/avr/firmware/machine.inc"
#include "tracer/avr/firmware/pool.inc"
#include "tracer/avr/firmware/timer.inc"

#define RECORD_MINIMUM 4
#define RECORD_MAXIMUM 8
#define RECORD_SUM 12

; Where the number in r20 to r23 is greater than that of the record, it takes its place.
	.macro	keep_greater field
	ldd	r24, Z + \field
	cp	r24, r20
	ldd	r24, Z + \field + 1
	cpc	r24, r21
	ldd	r24, Z + \field + 2
	cpc	r24, r22
	ldd	r24, Z + \field + 3
	cpc	r24, r23
	brcc	1f
	std	Z + \field, r20
	std	Z + \field + 1, r21
	std	Z + \field + 2, r22
	std	Z + \field + 3, r23
1:
	.endm

#ifdef LITIFUT_SWITCHED
#define TIME_CALL litifut_time_call_switched
#define SWITCH_CYCLES 4
#else
#define TIME_CALL litifut_time_call
#define SWITCH_CYCLES 0
#endif

; A call that is counted, but not timed (setjmp).
	hidden_function litifut_count_record
	push	r24
	in	r24, SREG
	set
	rjmp	1f

	hidden_function TIME_CALL
	push	r24
	in	r24, SREG
	clt
1:	cli				; the program's interrupts keep T
	push	r24
	save_pointers
#ifdef LITIFUT_SWITCHED
	unless_recording r24, litifut_time_end
#endif
	find_record CALL_BYTES
; Z: the record; T: the call is not timed. litifut_time_pointer goes on here as well.
	.global	litifut_time_body, litifut_time_end
	.hidden	litifut_time_body, litifut_time_end
litifut_time_body:
	ld	r24, Z
	subi	r24, 0xff
	st	Z, r24
	brcc	litifut_time_carry
litifut_time_counted:
	brts	litifut_time_end
	lds	r28, litifut_pool + POOL_HEAD
	lds	r29, litifut_pool + POOL_HEAD + 1
	ldi	r24, hi8(litifut_open + 1)
	cpi	r28, lo8(litifut_open + 1)
	cpc	r29, r24
	brlo	litifut_time_none
litifut_time_enter:
	sbiw	r28, OPEN_BYTES
	sts	litifut_pool + POOL_HEAD, r28
	sts	litifut_pool + POOL_HEAD + 1, r29
	std	Y + OPEN_RECORD, r30
	std	Y + OPEN_RECORD + 1, r31
	in	r30, SPL
	in	r31, SPH
	std	Y + OPEN_STACK, r30
	std	Y + OPEN_STACK + 1, r31
	ldd	r24, Z + OPEN_CALLER
	std	Y + OPEN_RETURN, r24
	ldd	r24, Z + OPEN_CALLER + 1
	std	Y + OPEN_RETURN + 1, r24
#if RETURN_BYTES == 3
	ldd	r24, Z + OPEN_CALLER + 2
	std	Y + OPEN_RETURN + 2, r24
	ldi	r24, hh8(pm(litifut_return))
	std	Z + OPEN_CALLER, r24
#endif
	ldi	r24, hi8(pm(litifut_return))
	std	Z + OPEN_CALLER + RETURN_BYTES - 2, r24
	ldi	r24, lo8(pm(litifut_return))
	std	Z + OPEN_CALLER + RETURN_BYTES - 1, r24
	lds	r24, TCNT1L
	std	Y + OPEN_START, r24
	lds	r24, TCNT1H
	std	Y + OPEN_START + 1, r24
	sbic	TIFR1, TOV1
	rcall	litifut_time_overflow
	lds	r24, litifut_ticks
	std	Y + OPEN_START + 2, r24
	lds	r24, litifut_ticks + 1
	std	Y + OPEN_START + 3, r24
litifut_time_end:
	pop	r28
	pop	r29
	pop	r30
	pop	r31
	pop	r24
	out	SREG, r24
	pop	r24
	ret

; What is seldom needed is out of the way: a branch that is not taken has 1 cycle, one that is taken 2.
; The lowest byte of the count has become 0.
litifut_time_carry:
	inc	r30
	CALL	litifut_add_one
	sbiw	r30, 1
	andi	r30, 0xfc
	rjmp	litifut_time_counted

; The pool is full, or this is the first of all calls: no memory of the program is below 0x100.
litifut_time_none:
	tst	r29
	brne	1f
	rcall	litifut_time_tick
	sts	TIMSK1, r24
	ldi	r28, lo8(litifut_open_end)
	ldi	r29, hi8(litifut_open_end)
	rjmp	litifut_time_enter
1:	ldi	r30, lo8(litifut_pool + POOL_UNTIMED)
	ldi	r31, hi8(litifut_pool + POOL_UNTIMED)
	set
	rjmp	litifut_time_body
	.size	TIME_CALL, . - TIME_CALL

; Calls of other stacks, or that have ended without a return, are newer.
litifut_return_older:
	set
	adiw	r28, OPEN_BYTES
	rjmp	litifut_return_search

; Leaves room on the stack for the return address, and reads the stack pointer when it is where
; litifut_time_call has read it.
	hidden_function litifut_return
	.rept	RETURN_BYTES
	push	r24
	.endr
	save_flags
	save_pointers
	push	r20
	push	r21
#if RETURN_BYTES == 3
	push	r22
#endif
	in	r30, SPL
	in	r31, SPH
#if RETURN_BYTES == 2
	push	r22
#endif
	push	r23
	lds	r20, TCNT1L
	lds	r21, TCNT1H
	sbic	TIFR1, TOV1
	rcall	litifut_return_overflow
	lds	r22, litifut_ticks
	lds	r23, litifut_ticks + 1
	lds	r28, litifut_pool + POOL_HEAD
	lds	r29, litifut_pool + POOL_HEAD + 1
	clt
litifut_return_search:
	ldd	r24, Y + OPEN_STACK
	cp	r24, r30
	ldd	r24, Y + OPEN_STACK + 1
	cpc	r24, r31
	brne	litifut_return_older
	ldd	r24, Y + OPEN_RETURN
	std	Z + OPEN_CALLER, r24
	ldd	r24, Y + OPEN_RETURN + 1
	std	Z + OPEN_CALLER + 1, r24
#if RETURN_BYTES == 3
	ldd	r24, Y + OPEN_RETURN + 2
	std	Z + OPEN_CALLER + 2, r24
#endif
	ldd	r30, Y + OPEN_RECORD
	ldd	r31, Y + OPEN_RECORD + 1
	ldd	r24, Y + OPEN_START
	sub	r20, r24
	ldd	r24, Y + OPEN_START + 1
	sbc	r21, r24
	ldd	r24, Y + OPEN_START + 2
	sbc	r22, r24
	ldd	r24, Y + OPEN_START + 3
	sbc	r23, r24
	brts	litifut_return_move
litifut_return_found:
	adiw	r28, OPEN_BYTES
	sts	litifut_pool + POOL_HEAD, r28
	sts	litifut_pool + POOL_HEAD + 1, r29
	keep_greater RECORD_MAXIMUM
; The record has the complement of the minimum: that of the shortest time is the greatest one.
	com	r20
	com	r21
	com	r22
	com	r23
	keep_greater RECORD_MINIMUM
	sec				; the complement of a number is its negative less 1
	ldd	r24, Z + RECORD_SUM
	sbc	r24, r20
	std	Z + RECORD_SUM, r24
	ldd	r24, Z + RECORD_SUM + 1
	sbc	r24, r21
	std	Z + RECORD_SUM + 1, r24
	ldd	r24, Z + RECORD_SUM + 2
	sbc	r24, r22
	std	Z + RECORD_SUM + 2, r24
	ldd	r24, Z + RECORD_SUM + 3
	sbc	r24, r23
	std	Z + RECORD_SUM + 3, r24
	brcc	litifut_return_carry
3:	pop	r23
	pop	r22
	pop	r21
	pop	r20
	rjmp	litifut_time_end

; The newer ones, before Y, take its place.
litifut_return_move:
	.rept	2
	ld	r24, -Y
	std	Y + OPEN_BYTES, r24
	.endr
	lds	r24, litifut_pool + POOL_HEAD
	cp	r28, r24
	lds	r24, litifut_pool + POOL_HEAD + 1
	cpc	r29, r24
	brne	litifut_return_move
	rjmp	litifut_return_found

litifut_return_carry:
	subi	r30, lo8(litifut_table - RECORD_SUM - 4) ; the sum's number, and 1
	sbci	r31, hi8(litifut_table - RECORD_SUM - 4)
	lsr	r31
	ror	r30
	lsr	r31
	ror	r30
	CALL	litifut_carry
	rjmp	3b
	.size	litifut_return, . - litifut_return

; In the place of the vector's handler.
	hidden_function litifut_timer_overflow
	push	r24
	in	r24, SREG
	push	r24
	rcall	litifut_time_tick
	pop	r24
	out	SREG, r24
	pop	r24
	reti

; The interrupt has not counted an overflow yet. So a program that has interrupts off has times as well, of
; calls that are shorter than 65,536 cycles. r24, which is lost: the upper byte of the timer.
litifut_return_overflow:
	mov	r24, r21
	.global	litifut_time_overflow
	.hidden	litifut_time_overflow
litifut_time_overflow:
	sbrc	r24, 7			; it has overflowed after it was read
	ret
	sbi	TIFR1, TOV1

; Counts an overflow and sets the timer up. A program that sets it up at its start, as init() of the Arduino
; core does for the PWM, has it back as a clock at its next overflow. r24 is 1 behind it.
litifut_time_tick:
	lds	r24, litifut_ticks
	subi	r24, 0xff
	sts	litifut_ticks, r24
	brcs	1f
	lds	r24, litifut_ticks + 1
	inc	r24
	sts	litifut_ticks + 1, r24
1:	ldi	r24, 0
	sts	TCCR1A, r24
	ldi	r24, 1
	sts	TCCR1B, r24
	ret
	.size	litifut_timer_overflow, . - litifut_timer_overflow

	.section .bss
	.balign	4			; litifut_add_one stops behind POOL_UNTIMED
	.global	litifut_pool, litifut_ticks, litifut_open_newest, litifut_open_untimed
	.hidden	litifut_pool, litifut_ticks, litifut_open_newest, litifut_open_untimed
	.type	litifut_pool, @object
litifut_pool:
	.space	POOL_BYTES
	.size	litifut_pool, . - litifut_pool
	.set	litifut_ticks, litifut_pool + POOL_TICKS
	.set	litifut_open_newest, litifut_pool + POOL_HEAD
	.set	litifut_open_untimed, litifut_pool + POOL_UNTIMED

	.global	litifut_open_bytes, litifut_open_record, litifut_open_record_bytes
	.set	litifut_open_bytes, OPEN_BYTES
	.set	litifut_open_record, OPEN_RECORD
	.set	litifut_open_record_bytes, 2
; What the tracer adds to a call, in cycles, and how many of them are in its time.
	.global	litifut_call_whole, litifut_call_inside, litifut_pointer_inside
	.set	litifut_call_whole, OPEN_WHOLE_CYCLES + SWITCH_CYCLES
	.set	litifut_call_inside, OPEN_INSIDE_CYCLES
	.set	litifut_pointer_inside, OPEN_POINTER_CYCLES
; What one through a pointer takes more.
	.global	litifut_pointer_first, litifut_pointer_overflow, litifut_pointer_try
	.set	litifut_pointer_first, OPEN_FIRST_CYCLES
	.set	litifut_pointer_overflow, OPEN_OVERFLOW_CYCLES
	.set	litifut_pointer_try, OPEN_TRY_CYCLES
