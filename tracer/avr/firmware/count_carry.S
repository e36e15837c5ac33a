; The lowest byte of a counter has become 0: adds 1 to the others, or where it has one byte only, to
; its carries. Called by the stub that is made for speed, with interrupts off and r24 and SREG saved,
; 1 time in 256. The address of the counter is in the `lds` of the stub, 24 bytes before the return
; address, on devices without call 20.
#include "tracer/avr/firmware/machine.inc"

#ifdef __AVR_HAVE_JMP_CALL__
#define BACK 24
#else
#define BACK 20
#endif

#ifdef LITIFUT_BYTES
#define NAME litifut_byte_carry
#else
#define NAME litifut_count_carry
#endif

	hidden_function NAME
	push	r30
	push	r31
	in	r30, SPL
	in	r31, SPH
#ifdef __AVR_HAVE_RAMPZ__
	push	r25
	in	r24, RAMPZ
	push	r24
	clr	r25
#if RETURN_BYTES == 3
	ldd	r25, Z + 3
#endif
#endif
	ldd	r24, Z + 1 + RETURN_BYTES
	ldd	r30, Z + 2 + RETURN_BYTES
	mov	r31, r24
	lsl	r30
	rol	r31
#ifdef __AVR_HAVE_RAMPZ__
	rol	r25
	subi	r30, BACK
	sbci	r31, 0
	sbci	r25, 0
	out	RAMPZ, r25
	elpm	r24, Z+
	elpm	r31, Z
	mov	r30, r24
	pop	r24
	out	RAMPZ, r24
	pop	r25
#else
	sbiw	r30, BACK
	lpm	r24, Z+
	lpm	r31, Z
	mov	r30, r24
#endif
#ifdef LITIFUT_BYTES
	subi	r30, lo8(litifut_table - 1)	; its number, and 1
	sbci	r31, hi8(litifut_table - 1)
	.irp	number, 20, 21, 22, 28, 29
	push	r\number
	.endr
	CALL	litifut_carry
	.irp	number, 29, 28, 22, 21, 20
	pop	r\number
	.endr
#else
	ldd	r24, Z + 1
	subi	r24, 0xff
	std	Z + 1, r24
	brcs	1f
	ldd	r24, Z + 2
	subi	r24, 0xff
	std	Z + 2, r24
	brcs	1f
	ldd	r24, Z + 3
	subi	r24, 0xff
	std	Z + 3, r24
#endif
1:	pop	r31
	pop	r30
	ret
	.size	NAME, . - NAME
