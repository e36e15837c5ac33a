/* void litifut_call_on_stack(void (*run)(void *), void *argument, uint32_t top): calls
 * `run` with the stack pointer at `top`, a multiple of 8. In the instruction set of the
 * C code around it. */

	.syntax unified
	.cfi_sections .debug_frame
	.text
	.p2align 2
#ifdef __thumb__
	.thumb
	.thumb_func
#else
	.arm
#endif
	.globl litifut_call_on_stack
	.hidden litifut_call_on_stack
	.type litifut_call_on_stack, %function
litifut_call_on_stack:
	.cfi_startproc
	.fnstart
	.save	{r4, lr}
	push	{r4, lr}
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset r4, 0
	.cfi_rel_offset lr, 4
	.setfp	r4, sp
	mov	r4, sp
	.cfi_def_cfa_register r4
	mov	r3, r0
	mov	r0, r1
	mov	sp, r2
	blx	r3
	mov	sp, r4
	.cfi_def_cfa_register sp
	pop	{r4, pc}
	.cfi_endproc
	.fnend
	.size litifut_call_on_stack, . - litifut_call_on_stack

	/* The room for trampolines comes next. A signal at its first instruction must not be taken
	 * for one in the function above: rewriter/arm/unwind.c. */
	.fnstart
	.cantunwind
	.short	0xde00			/* udf */
	.fnend

	.section .note.GNU-stack, "", %progbits
