; LITIFUT_MODE=balllarus: what the code of a branch calls (rewriter/avr/edge.c). The words behind the
; call are in the flash; <litifut/numbers_format.h> says what is done with them.
; tracer/sink/paths/numbers.c does what is rare. Interrupts are off meanwhile. All registers and SREG
; are kept.
#include <litifut/numbers_format.h>
#include <litifut/paths_format.h>

#include "tracer/avr/firmware/machine.inc"

; No bits wait for a place in a word here: see paths_machine.h.
	.data
	.global	litifut_paths_bits
	.hidden	litifut_paths_bits
	.type	litifut_paths_bits, @object
	.size	litifut_paths_bits, 1
litifut_paths_bits:
	.byte	0x80

	.section .bss
	.global	litifut_paths_shut
	.hidden	litifut_paths_shut
	.type	litifut_paths_shut, @object
	.size	litifut_paths_shut, 1
litifut_paths_shut:
	.byte	0

#define STATE litifut_paths

	.macro	entry name code
	hidden_function \name
	push	r24
	ldi	r24, \code
	rjmp	litifut_path_any
	.size	\name, . - \name
	.endm

#define ADD 0
#define NEXT 2
#define BEGIN 3
#define WHOLE 4
	entry	litifut_path_add ADD
	entry	litifut_path_end 1
	entry	litifut_path_next NEXT
	entry	litifut_path_begin BEGIN
	entry	litifut_path_whole WHOLE

#define SAVED 13 /* bytes, below the return address */

; Z = the address behind the call, in bytes of the flash; above 64 KB RAMPZ has the rest, and r25 what
; it was. Y is below what was saved.
	.macro	place
	ldd	r30, Y + SAVED + RETURN_BYTES
	ldd	r31, Y + SAVED + RETURN_BYTES - 1
#ifdef __AVR_HAVE_ELPMX__
#ifdef __AVR_3_BYTE_PC__
	ldd	r26, Y + SAVED + 1
#else
	ldi	r26, 0
#endif
	lsl	r30
	rol	r31
	rol	r26
	in	r25, RAMPZ
	out	RAMPZ, r26
#else
	lsl	r30
	rol	r31
#endif
	.endm

	.macro	flash register
#ifdef __AVR_HAVE_ELPMX__
	elpm	\register, Z+
#else
	lpm	\register, Z+
#endif
	.endm

	.macro	placed
#ifdef __AVR_HAVE_ELPMX__
	out	RAMPZ, r25
#endif
	.endm

litifut_path_any:
	push	r25
	in	r25, SREG
	cli
	push	r25
	.irp	number, 20, 21, 22, 23, 26, 27, 28, 29, 30, 31
	push	r\number
	.endr
	in	r28, SPL
	in	r29, SPH
	place
	flash	r20
	flash	r21
	flash	r22
	flash	r23
	placed
	movw	r26, r28
	lds	r28, litifut_path_top
	lds	r29, litifut_path_top + 1
	cpi	r24, WHOLE
	breq	litifut_path_full
; Has the activation on top ended?
	ldd	r25, Y + NUMBERS_LIMIT
	cp	r26, r25
	ldd	r25, Y + NUMBERS_LIMIT + 1
	cpc	r27, r25
	brsh	litifut_path_rare
	cpi	r24, BEGIN
	brne	1f
	rjmp	litifut_path_push
1:	ldd	r25, Y + NUMBERS_WORD + 2
	cp	r25, r22
	ldd	r25, Y + NUMBERS_WORD + 3
	cpc	r25, r23
	brne	litifut_path_rare
	ldd	r25, Y + NUMBERS_WORD
	add	r20, r25
	ldd	r25, Y + NUMBERS_WORD + 1
	adc	r21, r25
	cpi	r24, ADD
	brne	litifut_path_full
	std	Y + NUMBERS_WORD, r20
	std	Y + NUMBERS_WORD + 1, r21
litifut_path_two:
	ldi	r24, 2
; It returns behind r24 words of the flash.
litifut_path_back:
	in	r28, SPL
	in	r29, SPH
	ldd	r25, Y + SAVED + RETURN_BYTES
	add	r25, r24
	std	Y + SAVED + RETURN_BYTES, r25
	brcc	1f
	ldd	r25, Y + SAVED + RETURN_BYTES - 1
	subi	r25, -1
	std	Y + SAVED + RETURN_BYTES - 1, r25
#ifdef __AVR_3_BYTE_PC__
	brcs	1f
	ldd	r25, Y + SAVED + 1
	inc	r25
	std	Y + SAVED + 1, r25
#endif
1:	.irp	number, 31, 30, 29, 28, 27, 26, 23, 22, 21, 20
	pop	r\number
	.endr
	pop	r25
	out	SREG, r25
	pop	r25
	pop	r24
	ret

litifut_path_full:
	rjmp	litifut_path_put
litifut_path_rare:
	rjmp	litifut_path_slow

litifut_path_push:
	lds	r30, litifut_path_last
	lds	r31, litifut_path_last + 1
	cp	r30, r28
	cpc	r31, r29
	breq	litifut_path_rare
	adiw	r28, NUMBERS_ENTRY_BYTES
	std	Y + NUMBERS_WORD, r20
	std	Y + NUMBERS_WORD + 1, r21
	std	Y + NUMBERS_WORD + 2, r22
	std	Y + NUMBERS_WORD + 3, r23
	adiw	r26, 1
	std	Y + NUMBERS_LIMIT, r26	; of an address the others are 0
	std	Y + NUMBERS_LIMIT + 1, r27
	sts	litifut_path_top, r28
	sts	litifut_path_top + 1, r29
	rjmp	litifut_path_two

; The number goes into the ring.
litifut_path_put:
	lds	r26, STATE + PATHS_CURSOR
	lds	r27, STATE + PATHS_CURSOR + 1
	lds	r30, STATE + PATHS_STOP
	lds	r31, STATE + PATHS_STOP + 1
	sub	r30, r26
	sbc	r31, r27
	brne	1f
	cpi	r30, 1 << PATHS_ROOM_SHIFT
	brlo	litifut_path_rare
1:	st	X+, r20
	st	X+, r21
	st	X+, r22
	st	X+, r23
	ldi	r25, LITIFUT_PATHS_NONE
	st	X, r25
	sts	STATE + PATHS_CURSOR, r26
	sts	STATE + PATHS_CURSOR + 1, r27
	ldi	r25, 0
	adiw	r26, 1
	st	X+, r25
	st	X+, r25
	st	X, r25
	cpi	r24, WHOLE
	breq	1f
	cpi	r24, NEXT
	breq	2f
	sbiw	r28, NUMBERS_ENTRY_BYTES
	sts	litifut_path_top, r28
	sts	litifut_path_top + 1, r29
1:	rjmp	litifut_path_two
2:	movw	r22, r28
	in	r28, SPL
	in	r29, SPH
	place
	adiw	r30, 4
#ifdef __AVR_HAVE_ELPMX__
	brcc	3f
	inc	r26
	out	RAMPZ, r26
3:
#endif
	flash	r20
	flash	r21
	placed
	movw	r28, r22
	std	Y + NUMBERS_WORD, r20
	std	Y + NUMBERS_WORD + 1, r21
	ldi	r24, 4
	rjmp	litifut_path_back

litifut_path_slow:
	in	r22, SPL
	in	r23, SPH
	movw	r28, r22
	.irp	number, 0, 1, 18, 19
	push	r\number
	.endr
	ldd	r18, Y + SAVED + RETURN_BYTES
	ldd	r19, Y + SAVED + RETURN_BYTES - 1
	clr	r20
	clr	r21
#ifdef __AVR_3_BYTE_PC__
	ldd	r20, Y + SAVED + 1
#endif
	clr	r1
	CALL	litifut_numbers_call
	.irp	number, 19, 18, 1, 0
	pop	r\number
	.endr
	rjmp	litifut_path_back
