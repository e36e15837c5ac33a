/* Where every patched call of an ARM module arrives.
 *
 * A patched `bl` or `blx` has set lr as the original call would have, and
 * nothing else is known: GCC's -fipa-ra lets a caller keep values in r0-r3 and
 * in VFP registers across a call, r12 may carry a static chain, and the flags
 * may be live in hand-written code. So everything goes back as it was and only
 * the program counter changes, through a word on the stack.
 *
 * VFP and NEON registers are not saved here because no code of the tracer or of
 * the default recorder touches them (it is built with -mfloat-abi=soft).
 *
 * ARM Architecture Reference Manual: an LDR to the pc switches to Thumb when
 * bit 0 is set from ARMv5T on (A2.3.1 "Interworking"). MRS and MSR of the
 * status register are legal in user mode; the `s` field holds the GE bits from
 * ARMv6 on and is written back as it was read. */

	.syntax unified
	.arch armv5te
	.arm
	.cfi_sections .debug_frame

	.section .text, "ax", %progbits
	.p2align 2

	/* A signal handler that makes a backtrace may come at any instruction, and the
	 * exception tables know one state of the stack for a function. So each piece
	 * of code in which it stays the same is a function to them. Unwinders take a
	 * return address for what comes after a call and look for the code before it:
	 * each instruction stands in the piece whose state it leaves behind, and the
	 * one before the first stands for that. */
	.fnstart
	.inst	0xe7f000f0
	.fnend

	.globl litifut_stub
	.hidden litifut_stub
	.type litifut_stub, %function
litifut_stub:
	.cfi_startproc
	.fnstart
	.save	{lr}
	str	lr, [sp, #-4]!		/* what the callee will see in lr */
	.fnend
	.cfi_adjust_cfa_offset 4
	.cfi_rel_offset lr, 0

	/* The same for a tail call, whose trampoline has done the first step
	 * before it set lr to a key of its own. */
	.globl litifut_stub_tail
	.hidden litifut_stub_tail
	.type litifut_stub_tail, %function
litifut_stub_tail:
	.fnstart
	.save	{lr}
	.pad	#4
	sub	sp, sp, #4		/* the next pc */
	.fnend
	.cfi_adjust_cfa_offset 4

	/* The same for `blx lr`, whose trampoline has done both steps, with the
	 * callee as the next pc, which stands where the DB has r14. */
	.globl litifut_stub_lr
	.hidden litifut_stub_lr
	.type litifut_stub_lr, %function
litifut_stub_lr:
	.fnstart
	.save	{lr}
	.pad	#4
	.save	{r0-r12, lr}
	push	{r0-r12, lr}		/* struct litifut_frame */
	.cfi_adjust_cfa_offset 56
	.cfi_rel_offset r0, 0
	.cfi_rel_offset r1, 4
	.cfi_rel_offset r2, 8
	.cfi_rel_offset r3, 12
	.cfi_rel_offset r4, 16
	.cfi_rel_offset r5, 20
	.cfi_rel_offset r6, 24
	.cfi_rel_offset r7, 28
	.cfi_rel_offset r8, 32
	.cfi_rel_offset r9, 36
	.cfi_rel_offset r10, 40
	.cfi_rel_offset r11, 44
	.cfi_rel_offset r12, 48
	mrs	r5, cpsr		/* r4 and r5 are kept by the C code */
	mov	r4, sp
	.cfi_def_cfa r4, 64
	.fnend

	.fnstart
	.save	{lr}
	.pad	#4
	.save	{r0-r12, lr}
	.setfp	r4, sp
	bic	sp, sp, #7		/* the caller may have it at any word */
	mov	r0, r4
	ldr	r1, .Lmodule
1:	add	r1, pc, r1
	ldr	r2, .Lstate
2:	add	r2, pc, r2
	bl	litifut_enter
	cmp	r0, #0
	beq	.Lunknown
	str	r0, [r4, #56]
	msr	cpsr_fs, r5
	mov	sp, r4
	.cfi_def_cfa sp, 64
	.fnend
	.fnstart
	.save	{lr}
	.pad	#4
	.cfi_remember_state
	pop	{r0-r12, lr}
	.cfi_adjust_cfa_offset -56
	.cfi_restore r0
	.cfi_restore r1
	.cfi_restore r2
	.cfi_restore r3
	.cfi_restore r4
	.cfi_restore r5
	.cfi_restore r6
	.cfi_restore r7
	.cfi_restore r8
	.cfi_restore r9
	.cfi_restore r10
	.cfi_restore r11
	.cfi_restore r12
	ldr	lr, [sp, #4]
	ldr	pc, [sp], #8
	.fnend
	.fnstart
	.cantunwind
	.cfi_restore_state

	/* The return address is in no table: the image is damaged. Going on
	 * would skip a call or jump to a guess; stop where a debugger shows the
	 * caller's registers and this symbol. */
	.globl litifut_unknown_call_site
	.hidden litifut_unknown_call_site
.Lunknown:
	msr	cpsr_fs, r5
	mov	sp, r4
	pop	{r0-r12, lr}
	.cfi_adjust_cfa_offset -56
	add	sp, sp, #8
	.cfi_adjust_cfa_offset -8
	.cfi_restore lr
litifut_unknown_call_site:
	.inst	0xe7f000f0		/* udf #0 */

	.p2align 2
.Lmodule:
	.word	litifut_module - (1b + 8)
.Lstate:
	.word	litifut_module_state - (2b + 8)
	.cfi_endproc
	.fnend
	.size litifut_stub, . - litifut_stub
	.size litifut_stub_tail, . - litifut_stub_tail
	.size litifut_stub_lr, . - litifut_stub_lr

	.section .note.GNU-stack, "", %progbits
