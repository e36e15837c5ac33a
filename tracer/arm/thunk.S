/* Where the thunks of an ARM module go when they cannot store an event
 * themselves (rewriter/arm/thunk.c shows them): there is no cursor yet, or it
 * has come to a multiple of 16 KB.
 *
 * A thunk has pushed r0 to r2 and lr, and calls; 8 bytes before the address in
 * lr stands its exit, the instruction that goes on to the callee. It is there
 * that the program continues, with all registers, the flags and the stack as
 * they were when the thunk was entered. */

	.syntax unified
	.arch armv5te
	.arm
	.cfi_sections .debug_frame

	.section .text, "ax", %progbits
	.p2align 2

	.macro	save pushed
	add	r0, sp, #12
	stmia	r0, {r3-r12}
	add	r3, sp, #\pushed
	.endm

	.fnstart			/* see stub.S */
	.save	{lr}
	.pad	#12
	.inst	0xe7f000f0
	.fnend

	.globl litifut_thunk_call
	.hidden litifut_thunk_call
	.type litifut_thunk_call, %function
litifut_thunk_call:
	.cfi_startproc
	.fnstart
	.save	{lr}
	.pad	#76
	.cfi_def_cfa_offset 16
	.cfi_offset lr, -4
	sub	sp, sp, #64
	.cfi_adjust_cfa_offset 64
	save	64
	ldmia	r3, {r0-r2, r12}
	sub	lr, lr, #8
	str	lr, [sp, #56]		/* next_pc: the exit */
	str	r12, [sp, #52]		/* return_address */
	str	r12, [sp, #60]		/* link_register */
	.cfi_rel_offset lr, 60
.Lrecord:
	stmia	sp, {r0-r2}
	.fnend
	.fnstart
	.pad	#16
	.save	{lr}
	.pad	#4
	.save	{r0-r12, lr}
	mrs	r5, cpsr		/* r4 and r5 are kept by the C code */
	mov	r4, sp
	.cfi_def_cfa r4, 80
	.fnend
	.fnstart
	.pad	#16
	.save	{lr}
	.pad	#4
	.save	{r0-r12, lr}
	.setfp	r4, sp
	bic	sp, sp, #7
	mov	r0, r4
	ldr	r1, .Lmodule
1:	add	r1, pc, r1
	ldr	r2, .Lstate
2:	add	r2, pc, r2
	add	r3, r4, #80		/* the caller's sp */
	bl	litifut_enter_thunk
	ldr	r0, [r4, #56]
	str	r0, [r4, #76]
	ldr	lr, [r4, #60]
	msr	cpsr_fs, r5
	mov	sp, r4
	.cfi_def_cfa sp, 80
	.fnend
	.fnstart
	.pad	#80
	ldmia	sp, {r0-r12}
	.fnend
	.fnstart
	.pad	#4
	add	sp, sp, #76
	.cfi_adjust_cfa_offset -76
	ldr	pc, [sp], #4
	.cfi_endproc
	.fnend
	.size litifut_thunk_call, . - litifut_thunk_call

/* A tail call. Its trampoline has pushed the lr that the callee must get; what
 * was pushed as lr is the call's key, and the address of the exit. */
	.fnstart
	.save	{lr}
	.pad	#16
	.inst	0xe7f000f0
	.fnend

	.globl litifut_thunk_tail
	.hidden litifut_thunk_tail
	.type litifut_thunk_tail, %function
litifut_thunk_tail:
	.cfi_startproc
	.fnstart
	.save	{lr}
	.pad	#76
	.cfi_def_cfa_offset 20
	.cfi_offset lr, -4
	/* The frame takes the place of the r0 on the stack as well, so that it
	 * lies as far below the caller's sp as above. */
	sub	sp, sp, #60
	.cfi_adjust_cfa_offset 60
	save	60
	ldmia	r3, {r0-r2, r12, lr}
	str	r12, [sp, #52]
	str	r12, [sp, #56]
	str	lr, [sp, #60]
	.cfi_rel_offset lr, 60
	b	.Lrecord
	.cfi_endproc
	.fnend
	.size litifut_thunk_tail, . - litifut_thunk_tail

	.p2align 2

/* What an entry of .ARM.exidx leads to for all thunks (rewriter/arm/unwind.c): a personality routine,
 * and for unwinders that call none what is right in the middle of thunks: vsp += 16, the pc is in
 * lr. There are no exceptions: no byte behind it may look like the start of a table of them. */
	.globl litifut_unwind_thunks
	.hidden litifut_unwind_thunks
	.type litifut_unwind_thunks, %object
litifut_unwind_thunks:
	.reloc	., R_ARM_PREL31, litifut_backtrace
	.word	0
	.word	0x0003b0b0
	.word	0
	.size litifut_unwind_thunks, . - litifut_unwind_thunks

.Lmodule:
	.word	litifut_module - (1b + 8)
.Lstate:
	.word	litifut_module_state - (2b + 8)

	.section .note.GNU-stack, "", %progbits
