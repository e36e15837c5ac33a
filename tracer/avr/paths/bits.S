; LITIFUT_MODE=paths: what the code of a branch calls (rewriter/avr/edge.c). litifut_bit_zero and
; litifut_bit_one put one bit into litifut_paths_bits, a byte with a 1 above its bits; when that has
; eight of them it goes into the newest word of the ring. litifut_bits_enter puts down where it was
; called from. An entry of the vector table leads to code that calls litifut_paths_interrupt, then
; the handler, then litifut_paths_returned. <litifut/paths_format.h> has the words.
;
; Interrupts are off for 9 cycles when a bit is stored, for 50 more once in eight, for 120 or so when
; a record is made, and for some thousands once in many words, when tracer/sink/paths/paths.c makes
; room. All registers and SREG are kept.
;
; An interrupt may come before litifut_bit_zero and the like have switched them off, and before their
; return. The lowest four bits of the address, in words, say where that is: each of these three
; begins at a multiple of 16, and ends in the same way.
#include <litifut/paths_format.h>

#include "tracer/avr/firmware/machine.inc"

	.macro	byte name value
	.global	\name
	.hidden	\name
	.type	\name, @object
	.size	\name, 1
\name:	.byte	\value
	.endm

#define FULL_BITS 0x80 /* LITIFUT_PATHS_FULL_BITS */

	.data
	byte	litifut_paths_bits FULL_BITS	/* nothing is recorded yet: the next bit is not put in it */
	.section .bss
	byte	litifut_paths_depth 0	/* so many interrupt handlers are active */
	byte	litifut_paths_shut 0	/* 1: the ring is full, and nothing was sent since then; 2 more: off */

#define STATE litifut_paths
#define KIND_ENTER 2

/* Below the return address, by the start of each. */
#define PUSHED 2

	.macro	begin name
	.balign	32
	hidden_function \name
	push	r24
	in	r24, SREG
	cli
	push	r24
	.endm

	begin	litifut_bit_zero
	lds	r24, litifut_paths_bits
	lsl	r24
	brcs	litifut_bits_full
	nop				; so that it ends as the other one
litifut_bits_store:
	sts	litifut_paths_bits, r24
litifut_bits_end:
	pop	r24
	out	SREG, r24
	pop	r24
	ret
	.size	litifut_bit_zero, . - litifut_bit_zero

	begin	litifut_bit_one
	lds	r24, litifut_paths_bits
	sec
	rol	r24
	brcs	litifut_bits_full
	sts	litifut_paths_bits, r24
	pop	r24
	out	SREG, r24
	pop	r24
	ret
litifut_bits_full:
	rjmp	litifut_bits_eight
	.size	litifut_bit_one, . - litifut_bit_one

/* For litifut_paths_interrupt: */
#define AT_START 0  /* nothing is pushed, nothing stored */
#define AT_CLI 2    /* r24 is pushed up to here, */
#define AT_POP 13   /* and here, where the bit is stored */

	begin	litifut_bits_enter
	push	r25
	push	r28
	push	r29
	push	r30
	push	r31
#define ENTER_SAVED (PUSHED + 5)
	rcall	litifut_paths_room
	cpi	r24, 1 << PATHS_ROOM_SHIFT
	brlo	1f
	rcall	litifut_bits_flush
	in	r30, SPL
	in	r31, SPH
	ldd	r24, Z + ENTER_SAVED + RETURN_BYTES
	st	Y+, r24
	ldd	r24, Z + ENTER_SAVED + RETURN_BYTES - 1
	st	Y+, r24
#ifdef __AVR_3_BYTE_PC__
	ldd	r24, Z + ENTER_SAVED + 1
#else
	ldi	r24, 0
#endif
	st	Y+, r24
	ldi	r24, LITIFUT_PATHS_RECORD >> 24
	st	Y+, r24
	rcall	litifut_bits_begin
	ldi	r24, LITIFUT_PATHS_NONE
	pop	r31
	pop	r30
	pop	r29
	pop	r28
	pop	r25
	rjmp	litifut_bits_store
1:	pop	r31
	pop	r30
	pop	r29
	pop	r28
	pop	r25
	ldi	r24, KIND_ENTER
	rjmp	litifut_bits_slow
	.size	litifut_bits_enter, . - litifut_bits_enter

	.balign	32
litifut_bits_code_end:

; r24 has eight bits, the last of which is new.
litifut_bits_eight:
	push	r25
	push	r28
	push	r29
	lds	r28, STATE + PATHS_CURSOR
	lds	r29, STATE + PATHS_CURSOR + 1
	ldd	r25, Y + 3
	tst	r25
	brne	2f
	ldd	r25, Y + 2
	std	Y + 3, r25
	ldd	r25, Y + 1
	std	Y + 2, r25
	ld	r25, Y
1:	std	Y + 1, r25
	st	Y, r24
	ldi	r24, LITIFUT_PATHS_NONE
	pop	r29
	pop	r28
	pop	r25
	rjmp	litifut_bits_store
; A word has 24 bits.
2:	push	r24
	rcall	litifut_paths_room
	cpi	r24, 1 << PATHS_ROOM_SHIFT
	pop	r24
	brlo	3f
	adiw	r28, 4
	sts	STATE + PATHS_CURSOR, r28
	sts	STATE + PATHS_CURSOR + 1, r29
	ldi	r25, 0
	std	Y + 3, r25
	std	Y + 2, r25
	ldi	r25, LITIFUT_PATHS_NONE
	rjmp	1b
3:	pop	r29
	pop	r28
	pop	r25
	andi	r24, 1
	rjmp	litifut_bits_slow

; The ring is full: what would be recorded is counted, unless recording is off. r25 is pushed.
litifut_bits_lost:
	cpi	r25, 2
	brsh	1f
	.irp	number, 0, 1, 2, 3
	lds	r25, STATE + PATHS_LOST + \number
	subi	r25, 0xff		; adds 1; no carry: it was 255
	sts	STATE + PATHS_LOST + \number, r25
	brcs	1f
	.endr
1:	pop	r25
	ldi	r24, FULL_BITS
	rjmp	litifut_bits_store

; r24: 0 or 1, the bit; KIND_ENTER.
litifut_bits_slow:
	push	r25
	lds	r25, litifut_paths_shut
	tst	r25
	brne	litifut_bits_lost
	.irp	number, 0, 1, 18, 19, 20, 21, 22, 23, 26, 27, 30, 31
	push	r\number
	.endr
#define SLOW_SAVED (PUSHED + 13)
	in	r30, SPL
	in	r31, SPH
	movw	r18, r30		; where the stack was before the call, and 1
	subi	r18, lo8(-(SLOW_SAVED + RETURN_BYTES + 1))
	sbci	r19, hi8(-(SLOW_SAVED + RETURN_BYTES + 1))
	ldd	r20, Z + SLOW_SAVED + RETURN_BYTES
	ldd	r21, Z + SLOW_SAVED + RETURN_BYTES - 1
	clr	r22
	clr	r23
#ifdef __AVR_3_BYTE_PC__
	ldd	r22, Z + SLOW_SAVED + 1
#endif
	lsl	r20
	rol	r21
	rol	r22
	clr	r1
	CALL	litifut_paths_slow
	.irp	number, 31, 30, 27, 26, 23, 22, 21, 20, 19, 18, 1, 0, 25
	pop	r\number
	.endr
	rjmp	litifut_bits_end

; Y = the cursor; r24 = how many bytes there are up to the stop, at most 255.
litifut_paths_room:
	lds	r28, STATE + PATHS_CURSOR
	lds	r29, STATE + PATHS_CURSOR + 1
	lds	r24, STATE + PATHS_STOP
	lds	r25, STATE + PATHS_STOP + 1
	sub	r24, r28
	sbc	r25, r29
	tst	r25
	breq	1f
	ldi	r24, 255
1:	ret

; Y = where a record goes: behind the newest word, and the bits that are not in it yet.
litifut_bits_flush:
	ldd	r25, Y + 1
	ldd	r24, Y + 2
	or	r25, r24
	ldd	r24, Y + 3
	or	r25, r24
	breq	1f
	adiw	r28, 4
1:	lds	r24, litifut_paths_bits
	cpi	r24, LITIFUT_PATHS_NONE
	breq	litifut_bits_flushed

; A word of 8 bits.
litifut_bits_put:
	st	Y+, r24
	ldi	r24, 0
	st	Y+, r24
	st	Y+, r24
	st	Y+, r24
litifut_bits_flushed:
	ret

; Y = the newest word, without bits.
litifut_bits_begin:
	ldi	r24, LITIFUT_PATHS_NONE
	rcall	litifut_bits_put
	sbiw	r28, 4
	sts	STATE + PATHS_CURSOR, r28
	sts	STATE + PATHS_CURSOR + 1, r29
	ret

; Called first, with interrupts off.
	hidden_function litifut_paths_interrupt
	push	r24
	in	r24, SREG
	push	r24
	.irp	number, 22, 23, 25, 26, 27, 28, 29, 30, 31
	push	r\number
	.endr
#define CAME (PUSHED + 9 + RETURN_BYTES)
	in	r30, SPL
	in	r31, SPH
	adiw	r30, CAME		; below the address of what is interrupted
	movw	r26, r30
	adiw	r26, 1
	lsl	r26			; r27:r26 = twice its address, which may have bit 0 set
	rol	r27
	lds	r24, litifut_paths_depth
	tst	r24
	brne	1f
	inc	r26			; it has interrupted no handler
1:	inc	r24
	sts	litifut_paths_depth, r24
	rcall	litifut_paths_address
	rcall	litifut_paths_room
	cpi	r24, (1 << PATHS_ROOM_SHIFT) + 8
	brlo	3f
	rcall	litifut_bits_flush
	ldi	r24, LITIFUT_PATHS_INTERRUPT
	rcall	litifut_bits_put
	ldi	r24, LITIFUT_PATHS_RECORD >> 24
	st	-Y, r24
	adiw	r28, 1
	rcall	litifut_paths_put_address
	st	Y+, r26
	st	Y+, r27
	ldi	r24, 0
	st	Y+, r24
	st	Y+, r24
	rcall	litifut_bits_begin
	ldi	r24, LITIFUT_PATHS_NONE
	sts	litifut_paths_bits, r24
2:
	.irp	number, 31, 30, 29, 28, 27, 26, 25, 23, 22
	pop	r\number
	.endr
	rjmp	litifut_bits_end

; The slow way has the address in r23 to r20 and the frame in r19:r18.
3:	.irp	number, 0, 1, 18, 19, 20, 21
	push	r\number
	.endr
	movw	r18, r26
	movw	r20, r30
	clr	r23
	clr	r1
	ldi	r24, LITIFUT_PATHS_INTERRUPT
	CALL	litifut_paths_slow
	.irp	number, 21, 20, 19, 18, 1, 0
	pop	r\number
	.endr
	rjmp	2b
	.size	litifut_paths_interrupt, . - litifut_paths_interrupt

; Z = below an address on the stack. Gives r22:r31:r30 = that, in bytes; of the code above the one in
; the code of a branch that it returns to, or, if the bit is not stored yet, that of its call and 1.
litifut_paths_address:
	ldd	r23, Z + RETURN_BYTES
	ldd	r25, Z + RETURN_BYTES - 1
#ifdef __AVR_3_BYTE_PC__
	ldd	r22, Z + 1
#else
	ldi	r22, 0
#endif
	mov	r28, r23
	mov	r29, r25
	subi	r28, lo8(pm(litifut_bit_zero))
	sbci	r29, hi8(pm(litifut_bit_zero))
#ifdef __AVR_3_BYTE_PC__
	mov	r24, r22
	sbci	r24, hh8(pm(litifut_bit_zero))
	tst	r24
	brne	4f
#endif
	tst	r29
	brne	4f
	cpi	r28, (litifut_bits_code_end - litifut_bit_zero) / 2
	brsh	4f
	mov	r24, r28
	andi	r24, 15
	andi	r28, 15
	breq	2f			; AT_START
	cpi	r24, AT_CLI + 1
	brlo	1f
	cpi	r24, AT_POP
	brne	2f
1:	adiw	r30, 1			; r24 is pushed
2:	ldd	r23, Z + 2 * RETURN_BYTES
	ldd	r25, Z + 2 * RETURN_BYTES - 1
#ifdef __AVR_3_BYTE_PC__
	ldd	r22, Z + RETURN_BYTES + 1
#endif
	cpi	r28, AT_CLI + 1
	brsh	4f
	subi	r23, CALL_BYTES / 2
	sbci	r25, 0
	sbci	r22, 0
	rcall	4f
	ori	r30, 1
	ret
4:	mov	r30, r23
	mov	r31, r25
	lsl	r30
	rol	r31
	rol	r22
	ret

litifut_paths_put_address:
	st	Y+, r30
	st	Y+, r31
	st	Y+, r22
	ldi	r24, 0
	st	Y+, r24
	ret

; Called when a handler has returned, with interrupts off.
	hidden_function litifut_paths_returned
	push	r24
	in	r24, SREG
	push	r24
	lds	r24, litifut_paths_depth
	dec	r24
	sts	litifut_paths_depth, r24
	rjmp	litifut_bits_end
	.size	litifut_paths_returned, . - litifut_paths_returned

; The rewriter fills in where the code ends.
	.balign	4
	.global	litifut_paths_code_high
	.hidden	litifut_paths_code_high
	.type	litifut_paths_code_high, @object
	.size	litifut_paths_code_high, 4
litifut_paths_code_high:
	.long	0
