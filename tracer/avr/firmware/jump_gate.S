; Stands in for longjmp() at its call sites where calls are timed: what is open above the frame that
; it goes back to will not return. The jmp_buf of avr-libc has r2 to r17, r28, r29, then the stack
; pointer. The rewriter puts the way to the function to litifut_jump_target.
#include <litifut/firmware_pool.h>

#include "tracer/avr/firmware/machine.inc"
#include "tracer/avr/firmware/pool.inc"

#define JMP_BUF_SP 18

	hidden_function litifut_jump_gate
	push	r18
	in	r18, SREG
	cli
	push	r18
	.irp	number, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
	push	r\number
	.endr
	movw	r30, r24
	ldd	r20, Z + JMP_BUF_SP
	ldd	r21, Z + JMP_BUF_SP + 1
	in	r18, SPL
	in	r19, SPH
	lds	r24, litifut_pool + POOL_HEAD
	lds	r25, litifut_pool + POOL_HEAD + 1
	tst	r25			; no call has been made
	breq	5f
	ldi	r26, lo8(litifut_open_end)
	ldi	r27, hi8(litifut_open_end)
	movw	r28, r26
1:	cp	r28, r24		; from the oldest one to the newest, Y; X: what stays, moved together
	cpc	r29, r25
	breq	4f
	sbiw	r28, OPEN_BYTES
	ldd	r30, Y + OPEN_STACK
	ldd	r31, Y + OPEN_STACK + 1
	adiw	r30, OPEN_CALLER
	cp	r30, r18
	cpc	r31, r19
	brlo	2f
	cp	r20, r30
	cpc	r21, r31
	brsh	1b			; it will not return
2:	adiw	r28, OPEN_BYTES
	ldi	r22, OPEN_BYTES
3:	ld	r23, -Y
	st	-X, r23
	dec	r22
	brne	3b
	rjmp	1b
4:	sts	litifut_pool + POOL_HEAD, r26
	sts	litifut_pool + POOL_HEAD + 1, r27
5:	.irp	number, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19
	pop	r\number
	.endr
	pop	r18
	out	SREG, r18
	pop	r18
	.global	litifut_jump_target
	.hidden	litifut_jump_target
litifut_jump_target:
	nop				; a jmp, or an rjmp
	nop
	.size	litifut_jump_gate, . - litifut_jump_gate
