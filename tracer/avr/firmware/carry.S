; Counts that a number has been carried (<litifut/frames_format.h>): Z is its name. With interrupts off.
; All registers but Z, r24 and SREG are kept. Some 60 cycles, and at most 400, when the table is full.
#include <litifut/frames_format.h>

#include "tracer/avr/firmware/machine.inc"

	hidden_function litifut_carry
	.irp	number, 25, 26, 27, 28, 29
	push	r\number
	.endr
	movw	r26, r30
	mov	r25, r26		; the entry that is tried
	ldi	r28, LITIFUT_CARRIES_TRIED
1:	andi	r25, lo8(litifut_carries_count - 1)
	mov	r30, r25
	ldi	r31, 0
	lsl	r30
	rol	r31
	lsl	r30
	rol	r31
	subi	r30, lo8(-(litifut_carries))
	sbci	r31, hi8(-(litifut_carries))
	ld	r24, Z
	ldd	r29, Z + 1
	cp	r24, r26
	cpc	r29, r27
	breq	3f
	or	r24, r29
	breq	2f
4:	inc	r25
	dec	r28
	brne	1b
	ldi	r30, lo8(litifut_table_end - 4)	; no place
	ldi	r31, hi8(litifut_table_end - 4)
	ldi	r28, 4
5:	ld	r24, Z
	subi	r24, 0xff
	st	Z+, r24
	brcs	6f
	dec	r28
	brne	5b
	rjmp	6f
2:	st	Z, r26
	std	Z + 1, r27
3:	ldd	r24, Z + 2
	ldd	r29, Z + 3
	subi	r24, 0xff
	sbci	r29, 0xff
	breq	4b			; it is full
	std	Z + 2, r24
	std	Z + 3, r29
6:	.irp	number, 29, 28, 27, 26, 25
	pop	r\number
	.endr
	ret
	.size	litifut_carry, . - litifut_carry
