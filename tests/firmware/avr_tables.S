/* Assembler code as people write it, whose functions have no type: a row of rjmp that a calculated pointer leads into, by
 * ijmp and by icall; a table for lpm among the code, whose numbers look like instructions, skip instructions, a call and a
 * write to the stack pointer among them; a function that pushes the stack pointer, which it sets back later. */
#include <avr/io.h>

	.text

/* r24: 0 to 3; returns another number for each */
	.global by_row
by_row:
	ldi r30, pm_lo8(row)
	ldi r31, pm_hi8(row)
	add r30, r24
	adc r31, r1
	ijmp
row:
	rjmp one
	rjmp two
	rjmp three
	rjmp four
one:
	ldi r24, 11
	ret
two:
	ldi r24, 22
	ret
three:
	sbrc r22, 0
	ldi r24, 33
	ret
four:
	ldi r24, 44
	ret

/* r24: 0 or 1 */
	.global by_called_row
by_called_row:
	ldi r30, pm_lo8(called_row)
	ldi r31, pm_hi8(called_row)
	add r30, r24
	adc r31, r1
	icall
	subi r24, 1
	ret
called_row:
	rjmp by_row
	rjmp from_table

/* r22: 0 to 15 */
	.global from_table
from_table:
	ldi r30, lo8(table)
	ldi r31, hi8(table)
	add r30, r22
	adc r31, r1
	lpm r24, Z
	ret
table:
	/* ldi r16, 255; icall; pop r24; cpse r16, r17; out SPL, r24; breq; sbrc r24, 0; cpse r2, r3 */
	.byte 0x0f, 0xef, 0x09, 0x95, 0x8f, 0x91, 0x01, 0x13, 0x8d, 0xbf, 0x09, 0xf0, 0x80, 0xfd, 0x23, 0x10

	.global behind_table
behind_table:
	cpi r24, 3
	brlo 1f
	ldi r24, 99
1:
	ret

/* Room for 8 bytes on the stack */
	.global with_room
with_room:
	in r20, _SFR_IO_ADDR(SPL)
	in r21, _SFR_IO_ADDR(SPH)
	movw r18, r20
	subi r20, 8
	sbci r21, 0
	in r0, _SFR_IO_ADDR(SREG)
	cli
	out _SFR_IO_ADDR(SPL), r20
	out _SFR_IO_ADDR(SREG), r0
	out _SFR_IO_ADDR(SPH), r21
	push r18
	push r19
	movw r26, r20
	adiw r26, 1
	ldi r25, 8
1:
	st X+, r24
	dec r25
	brne 1b
	ld r24, -X
	pop r21
	pop r20
	in r0, _SFR_IO_ADDR(SREG)
	cli
	out _SFR_IO_ADDR(SPL), r20
	out _SFR_IO_ADDR(SREG), r0
	out _SFR_IO_ADDR(SPH), r21
	ret
