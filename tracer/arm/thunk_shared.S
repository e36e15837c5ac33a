/* What the thunks of an image for CPUs before ARMv7 have in common. Such a thunk
 * (rewriter/arm/thunk_shared.c shows it) has no more room than for its registers and a call
 * of one of the entries below, which stores the event and returns. It is shared because
 * these CPUs have neither LDREX nor a register for the thread pointer, so that it takes
 * the kernel's helpers, which lie at fixed addresses
 * (Documentation/arm/kernel_user_helpers.rst):
 *
 *	0xffff0fe0 __kuser_get_tls	r0 = the thread pointer; nothing else is lost
 *	0xffff0fc0 __kuser_cmpxchg	if [r2] == r0, [r2] = r1 and C = 1, else C = 0; r0, r3,
 *					r12 and the flags are lost
 *
 * A word in struct litifut_module says whether they are there (<litifut/thunk_abi.h>). Where
 * the CPU turns out to be an ARMv6K or later, the register and LDREX take their place.
 *
 * The kernel restarts __kuser_cmpxchg when an interrupt comes before its store, and a signal
 * handler runs before or after it as a whole. If the handler has recorded anything, the
 * cursor is another one, and this event goes the long way. Should the cursor be the same
 * again, after a handler has filled a whole ring of chunks, then that is where the next
 * event belongs.
 *
 * On entry the thunk has pushed r0 to r5, r12 and lr, those for pointers r0 to r6, r12 and lr
 * with the callee in r6; lr leads back into the thunk, whose exit is the instruction
 * behind the one there. */
#include <litifut/thunk_abi.h>

#define FAST_OK 756		/* in struct litifut_module */

	.syntax unified
	.arch armv5te
	.arm

	.section .text, "ax", %progbits
	.p2align 2

	/* r0 to r3 were pushed below \saved. \key is 4 for a tail call, whose key stands above
	 * that, and above the key its caller's lr. */
	.macro	entry name, key, saved:vararg
	.fnstart			/* see stub.S */
	.if	\key
	.save	{lr}
	.pad	#4
	.endif
	.save	{\saved}
	.pad	#16
	.inst	0xe7f000f0
	.globl \name
	.hidden \name
	.type \name, %function
\name:
	.endm

	/* The flags go to r4, the way back to r5. */
	.macro	begin slow, fast_ok, register
	mrs	r4, cpsr
	mov	r5, lr
	ldr	r0, \fast_ok
1:	ldr	r0, [pc, r0]
	cmp	r0, #LITIFUT_THUNKS_BY_REGISTER
	blo	\slow
	beq	\register
	.endm

	/* r1 = the cursor behind an event of so many bytes, r0 = the cursor. */
	.macro	advance bytes, slow
	.if	\bytes == 4
	movs	r1, r0, lsl #32 - LITIFUT_THUNK_STOP_BITS
	beq	\slow
	add	r1, r0, #\bytes
	.else
	add	r1, r0, #\bytes
	mov	r3, r1, lsl #32 - LITIFUT_THUNK_STOP_BITS
	movs	r3, r3, lsr #32 - LITIFUT_THUNK_STOP_BITS + 4
	beq	\slow
	.endif
	.endm

	.macro	reserve_by_helpers bytes, slow
	mvn	r12, #0xf000		/* 0xffff0fff */
	mov	lr, pc
	sub	pc, r12, #0xfff - 0xfe0
	ldr	r2, [r0, #LITIFUT_THUNK_VECTOR_ARM]
	ldr	r0, [r2, #LITIFUT_THUNK_CURSOR]!
	advance	\bytes, \slow
	mov	lr, pc
	sub	pc, r12, #0xfff - 0xfc0
	bcc	\slow
	.endm

	.macro	reserve_by_register bytes, slow
	mrc	p15, 0, r2, c13, c0, 3
	ldr	r2, [r2, #LITIFUT_THUNK_VECTOR_ARM]
	add	r2, r2, #LITIFUT_THUNK_CURSOR
	.inst	0xe1920f9f		/* ldrex r0, [r2] */
	advance	\bytes, \slow
	.inst	0xe1823f91		/* strex r3, r1, [r2] */
	cmp	r3, #0
	bne	\slow
	.endm

	/* Stores the return address, or a tail call's key. */
	.macro	finish_direct
	ldr	lr, [sp, #28]
	str	lr, [r1, #-4]
	msr	cpsr_f, r4
	bx	r5
	.endm

	.macro	finish_pointer kind
	mov	r0, #2 << 8		/* LITIFUT_CONTROL_WORD(kind, 2) */
	orr	r0, r0, #\kind
	ldr	r2, [sp, #32]
	stmdb	r1, {r0, r2, r6}
	msr	cpsr_f, r4
	bx	r5
	.endm

	/* Makes of this what a thunk does that calls `litifut_thunk_call` or `_tail` (thunk.S): all
	 * registers as they were, r0 to r2 and what was in lr on the stack, and lr as far behind
	 * the exit. r0 to r2 are stored by `back`. */
	.macro	turn_back name, pushed, key, restored:vararg
	msr	cpsr_f, r4
	add	lr, r5, #4 + 8
	add	r0, sp, #12
	ldmia	r0, {\restored}
	ldmia	sp, {r0-r2}
	.fnend
	.fnstart
	.save	{lr}
	.pad	#12 + \key
	add	sp, sp, #\pushed - 16
	.size	\name, . - \name
	.endm

	.macro	back name, target
	.type \name, %function
\name:
	stmia	sp, {r0-r2}
	b	\target
	.fnend
	.size	\name, . - \name
	.endm

	.macro	direct name, key, saved:vararg
	entry	\name, \key, \saved
	begin	4f, 3f, 2f
	reserve_by_helpers 4, 4f
	finish_direct
2:	reserve_by_register 4, 4f
	finish_direct
	.p2align 2
3:	.word	litifut_module + FAST_OK - (1b + 8)
4:	turn_back \name, 32, \key, r3, r4, r5, r12
	.endm

	.macro	pointer name, kind, key, saved:vararg
	entry	\name, \key, \saved
	begin	4f, 3f, 2f
	reserve_by_helpers 12, 4f
	finish_pointer \kind
2:	reserve_by_register 12, 4f
	finish_pointer \kind
	.p2align 2
3:	.word	litifut_module + FAST_OK - (1b + 8)
4:	turn_back \name, 36, \key, r3, r4, r5, r6, r12
	.endm

	/* What debuggers read about these functions is written by the rewriter, as that of thunks
	 * is, so that they are passed through in the same way: rewriter/arm/arch.c. */
	direct	litifut_thunk_shared, 0, r4, r5, r12, lr
	back	litifut_thunk_shared_back, litifut_thunk_call
	direct	litifut_thunk_shared_tail, 4, r4, r5, r12
	back	litifut_thunk_shared_back_tail, litifut_thunk_tail
	/* The numbers are LITIFUT_WORD_INDIRECT and LITIFUT_WORD_TAIL (<litifut/trace_format.h>). */
	pointer	litifut_thunk_pointer, 2, 0, r4, r5, r6, r12, lr
	back	litifut_thunk_pointer_back, litifut_thunk_call
	pointer	litifut_thunk_pointer_tail, 3, 4, r4, r5, r6, r12
	back	litifut_thunk_pointer_back_tail, litifut_thunk_tail

	/* As litifut_unwind_thunks in thunk.S: vsp += 32 in the middle of these thunks. */
	.p2align 2
	.globl litifut_unwind_shared
	.hidden litifut_unwind_shared
	.type litifut_unwind_shared, %object
litifut_unwind_shared:
	.reloc	., R_ARM_PREL31, litifut_backtrace
	.word	0
	.word	0x0007b0b0
	.word	1
	.size litifut_unwind_shared, . - litifut_unwind_shared

	.section .note.GNU-stack, "", %progbits
