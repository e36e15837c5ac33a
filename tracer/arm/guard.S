/* A recorder of the user's own may use VFP registers, or call a library that
 * does (memcpy with NEON): those that a callee may change are kept for it here.
 * The default recorder uses none and is called directly.
 *
 * AAPCS 5.1.2.1: a callee keeps d8 to d15. */

	.syntax unified
	.arch armv7-a
	.fpu neon
	.arm
	.cfi_sections .debug_frame
	.text
	.p2align 2

/* void litifut_record_guarded(void (*record)(const struct litifut_call *),
 *			       const struct litifut_call *call, uint32_t floating)
 * `floating` is enum litifut_floating. */
	.fnstart			/* see stub.S */
	.inst	0xe7f000f0
	.fnend

	.globl litifut_record_guarded
	.hidden litifut_record_guarded
	.type litifut_record_guarded, %function
litifut_record_guarded:
	.cfi_startproc
	.fnstart
	.save	{r4-r7, fp, lr}
	push	{r4-r7, fp, lr}
	.cfi_adjust_cfa_offset 24
	.cfi_rel_offset r4, 0
	.cfi_rel_offset r5, 4
	.cfi_rel_offset r6, 8
	.cfi_rel_offset r7, 12
	.cfi_rel_offset fp, 16
	.cfi_rel_offset lr, 20
	mov	fp, sp
	.cfi_def_cfa_register fp
	.fnend
	.fnstart
	.save	{r4-r7, fp, lr}
	.setfp	fp, sp
	mov	r4, r2
	mov	r6, r0
	cmp	r4, #2			/* LITIFUT_FLOATING_16 */
	blt	1f
	vmrs	r5, fpscr
	vpush	{d0-d7}
	cmp	r4, #3			/* LITIFUT_FLOATING_32 */
	blt	1f
	vpush	{d16-d31}
1:	mov	r0, r1
	blx	r6			/* ARMv5T and later */
	cmp	r4, #3
	blt	2f
	vpop	{d16-d31}
2:	cmp	r4, #2
	blt	3f
	vpop	{d0-d7}
	vmsr	fpscr, r5
3:	mov	sp, fp
	.cfi_def_cfa_register sp
	.fnend
	.fnstart
	.cantunwind
	pop	{r4-r7, fp, pc}
	.cfi_endproc
	.fnend
	.size litifut_record_guarded, . - litifut_record_guarded

	.section .note.GNU-stack, "", %progbits
