; A recorder of tokens (rewriter/tokens.h), as that of LIS is: each is put behind the bits of the one
; before. LIS_BYTES of memory hold them until lis_send() gives them to the port, litifut_putc(),
; but for those of the last byte while it is not full. Bytes that find no room are lost, and counted.
; All registers and SREG are kept; interrupts are off meanwhile. With LIS_GLOBAL all tokens have
; numbers among all.
#include "tracer/avr/firmware/machine.inc"

#ifndef LIS_BYTES
#define LIS_BYTES 512
#endif

	.data
	.global	lis_bits, lis_lost, lis_state
lis_state:
lis_at:		.word	lis_buffer	; of the next byte
lis_byte:	.byte	1	; the bits of it, below a 1
lis_bits:	.long	0	; that were recorded,
lis_lost:	.word	0	; and bytes that found no room
lis_state_end:
	.size	lis_state, lis_state_end - lis_state
	.type	lis_state, @object
	.section .bss
	.type	lis_buffer, @object
	.size	lis_buffer, LIS_BYTES
lis_buffer:	.skip	LIS_BYTES
lis_buffer_end:

	.section .text.lis, "ax", @progbits
#ifdef LIS_GLOBAL
	.global	litifut_tokens_global
	.type	litifut_tokens_global, @function
litifut_tokens_global:
#endif
	.global	litifut_token
	.type	litifut_token, @function
litifut_token:
	push	r24
	in	r24, SREG
	cli
	push	r24
	.irp	number, 20, 21, 22, 23, 25, 26, 27, 28, 29, 30, 31
	push	r\number
	.endr
#define SAVED 13 /* bytes, below the return address */
	in	r28, SPL
	in	r29, SPH
	ldd	r30, Y + SAVED + RETURN_BYTES
	ldd	r31, Y + SAVED + RETURN_BYTES - 1
	movw	r24, r30
	adiw	r24, 2			; it returns behind the words
	std	Y + SAVED + RETURN_BYTES, r24
	std	Y + SAVED + RETURN_BYTES - 1, r25
#ifdef __AVR_3_BYTE_PC__
	ldd	r22, Y + SAVED + 1
	mov	r26, r22
	cp	r24, r30
	cpc	r25, r31
	brsh	1f
	inc	r26
	std	Y + SAVED + 1, r26
1:
#else
	ldi	r22, 0
#endif
	lsl	r30
	rol	r31
	rol	r22
#ifdef __AVR_HAVE_ELPMX__
	in	r23, RAMPZ
	out	RAMPZ, r22
	elpm	r24, Z+
	elpm	r25, Z+			; the token, at the upper end
	elpm	r22, Z			; its bits
	out	RAMPZ, r23
#else
	lpm	r24, Z+
	lpm	r25, Z+
	lpm	r22, Z
#endif
	lds	r20, lis_bits
	lds	r21, lis_bits + 1
	lds	r26, lis_bits + 2
	lds	r27, lis_bits + 3
	ldi	r23, 0
	add	r20, r22
	adc	r21, r23
	adc	r26, r23
	adc	r27, r23
	sts	lis_bits, r20
	sts	lis_bits + 1, r21
	sts	lis_bits + 2, r26
	sts	lis_bits + 3, r27
	lds	r20, lis_byte
1:	lsl	r24
	rol	r25
	rol	r20
	brcs	3f			; it is full
2:	dec	r22
	brne	1b
	sts	lis_byte, r20
	.irp	number, 31, 30, 29, 28, 27, 26, 25, 23, 22, 21, 20
	pop	r\number
	.endr
	pop	r24
	out	SREG, r24
	pop	r24
	ret
3:	lds	r30, lis_at
	lds	r31, lis_at + 1
	cpi	r30, lo8(lis_buffer_end)
	ldi	r23, hi8(lis_buffer_end)
	cpc	r31, r23
	breq	4f
	st	Z+, r20
	sts	lis_at, r30
	sts	lis_at + 1, r31
	ldi	r20, 1
	rjmp	2b
4:	lds	r30, lis_lost
	lds	r31, lis_lost + 1
	adiw	r30, 1
	sts	lis_lost, r30
	sts	lis_lost + 1, r31
	ldi	r20, 1
	rjmp	2b
	.size	litifut_token, . - litifut_token

; For C, with interrupts on: what there is goes to the port, also what is recorded meanwhile.
	.global	lis_send
	.type	lis_send, @function
lis_send:
	push	r28
	push	r29
	ldi	r28, lo8(lis_buffer)
	ldi	r29, hi8(lis_buffer)
1:	cli
	lds	r24, lis_at
	lds	r25, lis_at + 1
	cp	r28, r24
	cpc	r29, r25
	breq	2f
	sei
	ld	r24, Y+
	CALL	litifut_putc
	rjmp	1b
2:	ldi	r28, lo8(lis_buffer)
	ldi	r29, hi8(lis_buffer)
	sts	lis_at, r28
	sts	lis_at + 1, r29
	sei
	pop	r29
	pop	r28
	ret
	.size	lis_send, . - lis_send
