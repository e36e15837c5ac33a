/* A recorder of the user's own may use floating-point registers, or call a
 * library that does: those that a callee may change are kept for it here. The
 * default recorder uses none and is called directly.
 *
 * o32: a callee keeps the even ones of $f20 to $f31. Each even register holds a
 * double, in both register modes; with FR=0 that is its odd neighbour as well, with
 * FR=1 the odd ones hold doubles of their own. */

	.set	noreorder
	.set	nomips16
	.set	nomicromips
	.set	hardfloat
	.set	mips2

#define FRAME 240
#define WORD(n) (32 + 4 * (n))
#define ODD_WORD(n) (108 + 4 * (n))

	.macro	each_odd instruction
	.set	push
	.set	mips32r2
	.set	fp=64
	.irp n, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
	\instruction	$f\n, ODD_WORD(\n)($sp)
	.endr
	.set	pop
	.endm

	.text
	.p2align 2

/* void litifut_record_guarded(void (*record)(const struct litifut_call *),
 *			       const struct litifut_call *call, uint32_t floating) */
	.globl litifut_record_guarded
	.hidden litifut_record_guarded
	.type litifut_record_guarded, @function
	.ent litifut_record_guarded
litifut_record_guarded:
	.cfi_startproc
	addiu	$sp, $sp, -FRAME
	.cfi_adjust_cfa_offset FRAME
	sw	$ra, 28($sp)
	.cfi_rel_offset 31, 28
	sw	$s0, 24($sp)
	.cfi_rel_offset 16, 24
	sw	$s1, 20($sp)
	.cfi_rel_offset 17, 20
	move	$s0, $a2
	slti	$t0, $s0, 2		/* LITIFUT_FLOATING_16 */
	bnez	$t0, 1f
	move	$t9, $a0
	cfc1	$s1, $31
	.irp n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18
	sdc1	$f\n, WORD(\n)($sp)
	.endr
	slti	$t0, $s0, 3		/* LITIFUT_FLOATING_32 */
	bnez	$t0, 1f
	nop
	each_odd sdc1
1:	jalr	$t9
	move	$a0, $a1
	slti	$t0, $s0, 3
	bnez	$t0, 3f
	nop
	each_odd ldc1
3:	slti	$t0, $s0, 2
	bnez	$t0, 2f
	nop
	.irp n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18
	ldc1	$f\n, WORD(\n)($sp)
	.endr
	ctc1	$s1, $31
2:	lw	$s1, 20($sp)
	lw	$s0, 24($sp)
	lw	$ra, 28($sp)
	jr	$ra
	addiu	$sp, $sp, FRAME
	.cfi_adjust_cfa_offset -FRAME
	.cfi_endproc
	.end litifut_record_guarded
	.size litifut_record_guarded, . - litifut_record_guarded

	.section .note.GNU-stack, "", @progbits
