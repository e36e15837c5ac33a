; Counts a call through Z, by callee, and makes it:
;
;	push	r26
;	push	r27
;	ldi	r26, lo8(entry)
;	ldi	r27, hi8(entry)
;	jmp	litifut_count_pointer
;
; The entry in the table is {record, callee, other}, and what other callees it has are in the
; overflow table, see <litifut/frames_format.h>. A callee is an address in words, as Z has it.
; Interrupts are off all the time, 90 cycles for the first callee of a site.
;
; time_pointer.S is the same for calls that are timed: the address of the entry follows from that of the stub, and
; what remains to be done with the record is in time.S.
#include <litifut/frames_format.h>

#include "tracer/avr/firmware/machine.inc"

#ifdef LITIFUT_TIMES
#include <litifut/firmware_pool.h>

#include "tracer/avr/firmware/pool.inc"

#define RECORD_BYTES (4 * LITIFUT_RECORD_TIMES_CARRIED)
#define SHIFTS 3 /* an entry has three times 2^SHIFTS bytes */
#ifdef LITIFUT_SWITCHED
#define NAME litifut_time_pointer_switched
#else
#define NAME litifut_time_pointer
#endif
/* The stub of such a call has 12 bytes, the call of this code and an ijmp at their end. */
#define STUB_CALL_END 10
#else
#define RECORD_BYTES (4 * LITIFUT_RECORD_COUNT)
#define SHIFTS 2
#ifdef LITIFUT_SWITCHED
#define NAME litifut_count_pointer_switched
#else
#define NAME litifut_count_pointer
#endif
#endif
#define OVERFLOW_BYTES (4 * LITIFUT_OVERFLOW_EXTRA + RECORD_BYTES)

	.macro	give_back_registers
	pop	r25
	pop	r23
	pop	r22
	pop	r19
	pop	r18
#ifdef LITIFUT_TIMES
	pop	r27
	pop	r26
#endif
	.endm

	.global	litifut_callee_bytes
	.set	litifut_callee_bytes, 2

	hidden_function NAME
#ifdef LITIFUT_TIMES
	save_flags
	clt
	save_pointers
#ifdef LITIFUT_SWITCHED
	unless_recording r24, 10f
#endif
	find_record STUB_CALL_END
	ldd	r24, Y + SAVED_Z
	ldd	r29, Y + SAVED_Z + 1
	ldd	r28, Z + RECORD_BYTES
	cp	r24, r28
	ldd	r28, Z + RECORD_BYTES + 1
	cpc	r29, r28
	mov	r28, r24
#ifdef __AVR_HAVE_EIJMP_EICALL__
	in	r24, EIND
	brne	1f
	push	r25
	ldd	r25, Z + RECORD_BYTES + 2
	cp	r24, r25
	pop	r25
#endif
	brne	1f
	JUMP	litifut_time_body
1:	push	r26
	push	r27
#else
	push	r24
	in	r24, SREG
	cli
	push	r24
#ifdef LITIFUT_SWITCHED
	unless_recording r24, 10f
#endif
#endif
	push	r18
	push	r19
	push	r22
	push	r23
	push	r25
#ifdef LITIFUT_TIMES
	movw	r22, r28
	movw	r26, r30
#else
	movw	r22, r30
#endif
#ifdef __AVR_HAVE_EIJMP_EICALL__
	in	r25, EIND
#else
	ldi	r25, 0
#endif
	adiw	r26, RECORD_BYTES
	ld	r18, X+
	ld	r19, X+
	ld	r24, X
	sbiw	r26, RECORD_BYTES + 2
	cp	r18, r22
	cpc	r19, r23
	cpc	r24, r25
	breq	3f
	or	r18, r19
	or	r18, r24
	brne	4f
	adiw	r26, RECORD_BYTES	; its first callee
	st	X+, r22
	st	X+, r23
	st	X, r25
	sbiw	r26, RECORD_BYTES + 2
3:
#ifdef LITIFUT_TIMES
	movw	r30, r26
	give_back_registers
	JUMP	litifut_time_body
2:
#endif
	ld	r24, X
	subi	r24, 0xff
	st	X+, r24
	brcs	9f
	ld	r24, X
	subi	r24, 0xff
	st	X+, r24
	brcs	9f
	ld	r24, X
	subi	r24, 0xff
	st	X+, r24
	brcs	9f
	ld	r24, X
	subi	r24, 0xff
	st	X, r24
9:	give_back_registers
10:
#ifdef LITIFUT_TIMES
	JUMP	litifut_time_end
#else
	pop	r24
	out	SREG, r24
	pop	r24
	pop	r27
	pop	r26
#ifdef __AVR_HAVE_EIJMP_EICALL__
	eijmp
#else
	ijmp
#endif
#endif

4:	push	r20
	push	r21
	push	r30
	push	r31
	movw	r20, r26		; the entry's name in the overflow table
	subi	r20, lo8(litifut_table)
	sbci	r21, hi8(litifut_table)
	lsr	r21
	ror	r20
	lsr	r21
	ror	r20
	subi	r20, 0xff
	sbci	r21, 0xff
	mov	r18, r20
	add	r18, r22
	andi	r18, lo8(litifut_overflow_mask)
	mov	r30, r18
	ldi	r31, 0
	mov	r19, r31
	add	r30, r30
	adc	r31, r31
	add	r30, r18
	adc	r31, r19
	.rept	SHIFTS
	add	r30, r30
	adc	r31, r31
	.endr
	subi	r30, lo8(-(litifut_overflow))
	sbci	r31, hi8(-(litifut_overflow))
	ldi	r18, LITIFUT_OVERFLOW_TRIED
5:	ld	r24, Z
	ldd	r19, Z + 1
	cp	r24, r20
	cpc	r19, r21
	brne	6f
	ldd	r24, Z + 4
	cp	r24, r22
	ldd	r24, Z + 5
	cpc	r24, r23
	ldd	r24, Z + 6
	cpc	r24, r25
	breq	8f
	rjmp	7f
6:	or	r24, r19
	brne	7f
	st	Z, r20			; a free entry
	std	Z + 1, r21
	std	Z + 4, r22
	std	Z + 5, r23
	std	Z + 6, r25
	rjmp	8f
7:	adiw	r30, OVERFLOW_BYTES
	dec	r18
	brne	5b
	adiw	r26, RECORD_BYTES + 4	; no place: other
	pop	r31
	pop	r30
	pop	r21
	pop	r20
#ifdef LITIFUT_TIMES
	rjmp	2b
#else
	rjmp	3b
#endif
8:	movw	r26, r30
	adiw	r26, 8
	pop	r31
	pop	r30
	pop	r21
	pop	r20
	rjmp	3b
	.size	NAME, . - NAME
