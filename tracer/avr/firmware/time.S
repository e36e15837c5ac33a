; Times a call from where it is made to where it returns:
;
;	push	r30
;	push	r31
;	ldi	r30, lo8(record)
;	ldi	r31, hi8(record)
;	call	litifut_time_call
;	pop	r31
;	pop	r30
;	jmp	callee
;
; The return address is kept in an entry of a pool, and litifut_return stands in its place. The
; stack pointer is the same when a function has been called and when it has returned, and at no
; moment have two stacks the same, so that finds the entry: interrupts and their nesting need
; nothing of their own. A tail call has the same as the call before it; the one entered last
; returns first.
;
; The calls that are open are in one list (pool.inc), from the newest one, litifut_pool + POOL_HEAD, to
; the oldest. Entries whose calls have returned are in another one, litifut_pool + POOL_FREE.
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
#define RECORD_CALLEE (4 * LITIFUT_RECORD_TIMES_CARRIED)

	.macro	add_one at
	ldd	r24, Z + \at
	subi	r24, 0xff
	std	Z + \at, r24
	.endm

; Goes on adding 1 to a number of 4 bytes, whose first byte has become 0.
	.macro	carry_on at
	add_one	\at + 1
	brcs	99f
	add_one	\at + 2
	brcs	99f
	add_one	\at + 3
99:
	.endm

; What is seldom needed is out of the way: a branch that is not taken has 1 cycle, one that is taken 2.
; These are before the function because short branches reach them there.
litifut_time_carry:
	carry_on 0
	rjmp	litifut_time_counted
litifut_time_new_way:
	rjmp	litifut_time_new

	.macro	begin
	push	r24
	in	r24, SREG
	cli
	push	r24
	push	r28
	push	r29
	.endm

; The same for a call through Z, whose stub pops the callee and goes there. A record that is not that of
; this callee is looked for by count_pointer.S. BEGIN_CALLEE is where the callee is after `begin'.
#define BEGIN_CALLEE (4 + RETURN_BYTES)

	.weak	litifut_time_pointer
	hidden_function litifut_time_first
	begin
	in	r28, SPL
	in	r29, SPH
	ldd	r24, Y + BEGIN_CALLEE + 2
	ldd	r29, Y + BEGIN_CALLEE + 1
	ldd	r28, Z + RECORD_CALLEE
	cp	r24, r28
	ldd	r28, Z + RECORD_CALLEE + 1
	cpc	r29, r28
#ifdef __AVR_HAVE_EIJMP_EICALL__
	in	r24, EIND
	ldd	r28, Z + RECORD_CALLEE + 2
	cpc	r24, r28
#endif
	breq	litifut_time_body
	pop	r29
	pop	r28
	pop	r24
	out	SREG, r24
	pop	r24
	JUMP	litifut_time_pointer
	.size	litifut_time_first, . - litifut_time_first

	hidden_function litifut_time_call
	begin
litifut_time_body:
	add_one	0
	brcc	litifut_time_carry
litifut_time_counted:
	lds	r28, litifut_pool + POOL_FREE
	lds	r29, litifut_pool + POOL_FREE + 1
	tst	r29			; no memory of the program is below 0x100
	breq	litifut_time_new_way
	ld	r24, Y
	sts	litifut_pool + POOL_FREE, r24
	ldd	r24, Y + 1
	sts	litifut_pool + POOL_FREE + 1, r24
2:	lds	r24, litifut_pool + POOL_HEAD
	st	Y, r24
	lds	r24, litifut_pool + POOL_HEAD + 1
	std	Y + 1, r24
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
	rjmp	litifut_time_overflow
6:	lds	r24, litifut_ticks
	std	Y + OPEN_START + 2, r24
	lds	r24, litifut_ticks + 1
	std	Y + OPEN_START + 3, r24
3:	pop	r29
	pop	r28
	pop	r24
	out	SREG, r24
	pop	r24
	ret

litifut_time_overflow:
	sbrc	r24, 7			; it has overflowed after it was read
	rjmp	6b
	lds	r30, litifut_ticks
	lds	r31, litifut_ticks + 1
	adiw	r30, 1
	sts	litifut_ticks, r30
	sts	litifut_ticks + 1, r31
	sbi	TIFR1, TOV1
	rjmp	6b

; No entry is free: takes one that was never in use. Back at 2, Y is the entry.
litifut_time_new:
	push	r25
	push	r26
	push	r27
	lds	r28, litifut_pool + POOL_USED
	lds	r29, litifut_pool + POOL_USED + 1
	movw	r26, r28
	subi	r28, lo8(-(litifut_open))
	sbci	r29, hi8(-(litifut_open))
	movw	r24, r28
	adiw	r24, OPEN_BYTES
	subi	r24, lo8(litifut_open_end + 1)
	sbci	r25, hi8(litifut_open_end + 1)
	brcc	4f
	movw	r24, r26
	adiw	r24, OPEN_BYTES
	sts	litifut_pool + POOL_USED, r24
	sts	litifut_pool + POOL_USED + 1, r25
	mov	r24, r26
	or	r24, r27
	tst	r24
	brne	7f
	push	r0			; the first of all calls; calibration makes others
	push	r1
	clr	r1
	.irp	number, 18, 19, 20, 21, 22, 23, 30, 31
	push	r\number
	.endr
	CALL	litifut_clock_start
	.irp	number, 31, 30, 23, 22, 21, 20, 19, 18
	pop	r\number
	.endr
	pop	r1
	pop	r0
7:	pop	r27
	pop	r26
	pop	r25
	rjmp	2b
; The pool is full.
4:	pop	r27
	pop	r26
	pop	r25
	ldi	r30, lo8(litifut_pool)
	ldi	r31, hi8(litifut_pool)
	add_one	POOL_UNTIMED
	brcs	5f
	carry_on POOL_UNTIMED
5:	rjmp	3b

litifut_return_later_way:
	rjmp	litifut_return_later
	.size	litifut_time_call, . - litifut_time_call

; Leaves room on the stack for the return address, and reads the stack pointer when it is where
; litifut_time_call has read it.
	hidden_function litifut_return
	.rept	RETURN_BYTES
	push	r24
	.endr
	push	r24
	in	r24, SREG
	cli
	push	r24
	.irp	number, 20, 21, 22, 23, 30, 31
	push	r\number
	.endr
#if RETURN_BYTES == 3
	push	r28
#endif
	in	r30, SPL
	in	r31, SPH
#if RETURN_BYTES == 2
	push	r28
#endif
	push	r29
	load_clock r20, r21, r22, r23
	sbic	TIFR1, TOV1
	rjmp	litifut_return_overflow
4:	lds	r28, litifut_pool + POOL_HEAD
	lds	r29, litifut_pool + POOL_HEAD + 1
	ldd	r24, Y + OPEN_STACK
	cp	r24, r30
	ldd	r24, Y + OPEN_STACK + 1
	cpc	r24, r31
	brne	litifut_return_later_way
	ld	r24, Y
	sts	litifut_pool + POOL_HEAD, r24
	ldd	r24, Y + 1
	sts	litifut_pool + POOL_HEAD + 1, r24
1:	lds	r24, litifut_pool + POOL_FREE
	st	Y, r24
	lds	r24, litifut_pool + POOL_FREE + 1
	std	Y + 1, r24
	sts	litifut_pool + POOL_FREE, r28
	sts	litifut_pool + POOL_FREE + 1, r29
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
	ldi	r24, 0
	std	Y + OPEN_RECORD + 1, r24
	ldd	r24, Y + OPEN_START
	sub	r20, r24
	ldd	r24, Y + OPEN_START + 1
	sbc	r21, r24
	ldd	r24, Y + OPEN_START + 2
	sbc	r22, r24
	ldd	r24, Y + OPEN_START + 3
	sbc	r23, r24
	ldd	r24, Z + RECORD_SUM
	add	r24, r20
	std	Z + RECORD_SUM, r24
	ldd	r24, Z + RECORD_SUM + 1
	adc	r24, r21
	std	Z + RECORD_SUM + 1, r24
	ldd	r24, Z + RECORD_SUM + 2
	adc	r24, r22
	std	Z + RECORD_SUM + 2, r24
	ldd	r24, Z + RECORD_SUM + 3
	adc	r24, r23
	std	Z + RECORD_SUM + 3, r24
	brcs	litifut_return_carry
2:	ldd	r24, Z + RECORD_MAXIMUM
	cp	r24, r20
	ldd	r24, Z + RECORD_MAXIMUM + 1
	cpc	r24, r21
	ldd	r24, Z + RECORD_MAXIMUM + 2
	cpc	r24, r22
	ldd	r24, Z + RECORD_MAXIMUM + 3
	cpc	r24, r23
	brcs	litifut_return_longest
; The record has the complement of the minimum: the time is not below the minimum if the sum of the two,
; and 1, has a carry.
5:	sec
	ldd	r24, Z + RECORD_MINIMUM
	adc	r24, r20
	ldd	r24, Z + RECORD_MINIMUM + 1
	adc	r24, r21
	ldd	r24, Z + RECORD_MINIMUM + 2
	adc	r24, r22
	ldd	r24, Z + RECORD_MINIMUM + 3
	adc	r24, r23
	brcc	litifut_return_shortest
6:	.irp	number, 29, 28, 31, 30, 23, 22, 21, 20
	pop	r\number
	.endr
	pop	r24
	out	SREG, r24
	pop	r24
	ret

litifut_return_carry:
	push	r30
	push	r31
	subi	r30, lo8(litifut_table - RECORD_SUM - 4) ; the sum's number, and 1
	sbci	r31, hi8(litifut_table - RECORD_SUM - 4)
	lsr	r31
	ror	r30
	lsr	r31
	ror	r30
	CALL	litifut_carry
	pop	r31
	pop	r30
	rjmp	2b

litifut_return_longest:
	std	Z + RECORD_MAXIMUM, r20
	std	Z + RECORD_MAXIMUM + 1, r21
	std	Z + RECORD_MAXIMUM + 2, r22
	std	Z + RECORD_MAXIMUM + 3, r23
	rjmp	5b

litifut_return_shortest:
	com	r20
	com	r21
	com	r22
	com	r23
	std	Z + RECORD_MINIMUM, r20
	std	Z + RECORD_MINIMUM + 1, r21
	std	Z + RECORD_MINIMUM + 2, r22
	std	Z + RECORD_MINIMUM + 3, r23
	rjmp	6b

litifut_return_overflow:
	count_overflow r21, r22, r23, 4b

; Calls of other stacks, or that have ended without a return (longjmp), are newer.
litifut_return_later:
	push	r25
	push	r26
	push	r27
8:	movw	r26, r28		; the entry that leads to it
	ld	r24, Y
	ldd	r29, Y + 1
	mov	r28, r24
	ldi	r25, hi8(litifut_pool)
	cpi	r28, lo8(litifut_pool)
	cpc	r29, r25
5:	breq	5b			; a function that has returned with another stack: lost
	ldd	r24, Y + OPEN_STACK
	ldd	r25, Y + OPEN_STACK + 1
	cp	r24, r30
	cpc	r25, r31
	brne	8b
	ld	r24, Y
	st	X+, r24
	ldd	r24, Y + 1
	st	X, r24
	pop	r27
	pop	r26
	pop	r25
	rjmp	1b
	.size	litifut_return, . - litifut_return

	.data
	.global	litifut_pool
	.hidden	litifut_pool
	.type	litifut_pool, @object
litifut_pool:
	.word	litifut_pool		; POOL_HEAD: no call is open
	.space	POOL_BYTES - 2
	.size	litifut_pool, . - litifut_pool
	.global	litifut_open_bytes, litifut_open_record, litifut_open_record_bytes
	.set	litifut_open_bytes, OPEN_BYTES
	.set	litifut_open_record, OPEN_RECORD
	.set	litifut_open_record_bytes, 2
