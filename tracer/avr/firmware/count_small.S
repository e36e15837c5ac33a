; Counts a call whose stub is made for size:
;
;	call	litifut_count_small
;	jmp	callee
;
; A stub has 8 bytes and its counter 4, so that the address of the counter follows from the
; return address, which counts words. 40 cycles and those of the stub. Interrupts are off from the saving of
; SREG on.
#include "tracer/avr/firmware/machine.inc"

#ifdef LITIFUT_SWITCHED
#define NAME litifut_count_small_switched
#else
#define NAME litifut_count_small
#endif

	hidden_function NAME
	push	r30
	push	r31
	push	r24
	in	r24, SREG
	cli
	push	r24
#ifdef LITIFUT_SWITCHED
	unless_recording r24, 2f
#endif
	in	r30, SPL
	in	r31, SPH
	ldd	r24, Z + 3 + RETURN_BYTES
	ldd	r30, Z + 4 + RETURN_BYTES
	mov	r31, r24
	subi	r30, lo8(pm(litifut_stubs + CALL_BYTES))
	sbci	r31, hi8(pm(litifut_stubs + CALL_BYTES))
	subi	r30, lo8(-(litifut_table))
	sbci	r31, hi8(-(litifut_table))
1:	ld	r24, Z
	subi	r24, 0xff
	st	Z+, r24
	brcc	3f
2:	pop	r24
	out	SREG, r24
	pop	r24
	pop	r31
	pop	r30
	ret
3:	mov	r24, r30
	andi	r24, 3			; a counter ends at a multiple of 4
	brne	1b
	rjmp	2b
	.size	NAME, . - NAME
