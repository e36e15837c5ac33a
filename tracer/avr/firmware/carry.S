; Counts that a number has been carried (<litifut/frames_format.h>): Z is its name. With interrupts off.
; r20 to r22, r24, r28 to r31 and SREG are lost. Some 40 cycles, and at most 350, when the table is full.
#include <litifut/frames_format.h>

#include "tracer/avr/firmware/machine.inc"

	hidden_function litifut_carry
	movw	r28, r30
	mov	r20, r30		; the entry that is tried, as an offset
	lsl	r20
	lsl	r20
	ldi	r21, LITIFUT_CARRIES_TRIED
1:	andi	r20, lo8(litifut_carries_mask)
	mov	r30, r20
	ldi	r31, 0
	subi	r30, lo8(-(litifut_carries))
	sbci	r31, hi8(-(litifut_carries))
	ld	r24, Z
	ldd	r22, Z + 1
	cp	r24, r28
	cpc	r22, r29
	breq	3f
	or	r24, r22
	breq	2f
4:	subi	r20, -4
	dec	r21
	brne	1b
	ldi	r30, lo8(litifut_table_end - 4)	; no place
	ldi	r31, hi8(litifut_table_end - 4)

; Adds 1 to the number at Z, which ends at a multiple of 4. Z is moved; r24 is lost.
	.global	litifut_add_one
	.hidden	litifut_add_one
litifut_add_one:
	ld	r24, Z
	subi	r24, 0xff
	st	Z+, r24
	brcs	5f
	mov	r24, r30
	andi	r24, 3
	brne	litifut_add_one
5:	ret

2:	st	Z, r28
	std	Z + 1, r29
3:	ldd	r24, Z + 2
	ldd	r22, Z + 3
	subi	r24, 0xff
	sbci	r22, 0xff
	breq	4b			; it is full
	std	Z + 2, r24
	std	Z + 3, r22
	ret
	.size	litifut_carry, . - litifut_carry
