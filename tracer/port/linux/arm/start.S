/* Where a static program with thunks begins.
 *
 * Thunks ask the thread pointer for their cursor, and until libc has set it up it
 * is 0. So it gets a value that leads to a vector of thread-local blocks without a
 * cursor: the calls that libc makes until then go the long way (tracer/recorder/armed.c).
 * All registers and the stack are as the kernel has left them when the program
 * goes on where it would have begun. It may be before its relocation. */

#define LINK_ADDRESS 16		/* in struct litifut_module */
#define ENTRY 644
#define SET_TLS 0xf0005		/* __ARM_NR_set_tls */

	.syntax unified
	.arch armv5te
	.arm
	.cfi_sections .debug_frame

	.section .text, "ax", %progbits
	.p2align 2
	.globl litifut_entry
	.hidden litifut_entry
	.type litifut_entry, %function
litifut_entry:
	.cfi_startproc
	.cfi_undefined lr
	.fnstart
	.cantunwind
	sub	sp, sp, #4		/* the next pc */
	push	{r0-r3, r7, lr}
	.cfi_adjust_cfa_offset 28
	ldr	r0, .Learly
1:	add	r0, pc, r0
	add	r1, r0, #8
	str	r1, [r0]
	mov	r7, #SET_TLS & 0xff0000
	orr	r7, r7, #SET_TLS & 0xff
	svc	#0
	ldr	r1, .Lmodule
2:	add	r1, pc, r1
	ldr	r2, [r1, #LINK_ADDRESS]
	ldr	r3, [r1, #ENTRY]
	sub	r2, r1, r2		/* the load bias */
	add	r3, r3, r2
	str	r3, [sp, #24]
	pop	{r0-r3, r7, lr}
	.cfi_adjust_cfa_offset -24
	ldr	pc, [sp], #4

	.p2align 2
.Learly:
	.word	litifut_early_thread - (1b + 8)
.Lmodule:
	.word	litifut_module - (2b + 8)
	.cfi_endproc
	.fnend
	.size litifut_entry, . - litifut_entry

	.section .bss, "aw", %nobits
	.p2align 3
	.globl litifut_early_thread
	.hidden litifut_early_thread
	.type litifut_early_thread, %object
litifut_early_thread:
	.space	16
	.size litifut_early_thread, . - litifut_early_thread

	.section .note.GNU-stack, "", %progbits
