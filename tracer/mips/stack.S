/* void litifut_call_on_stack(void (*run)(void *), void *argument, uint32_t top): calls
 * `run` with the stack pointer below `top`, a multiple of 8, and the 16 bytes there that
 * o32 gives to every callee. */

	.set	noreorder
	.set	nomips16
	.set	nomicromips
	.text
	.p2align 2
	.globl litifut_call_on_stack
	.hidden litifut_call_on_stack
	.type litifut_call_on_stack, @function
	.ent litifut_call_on_stack
litifut_call_on_stack:
	.cfi_startproc
	addiu	$sp, $sp, -24
	.cfi_adjust_cfa_offset 24
	sw	$ra, 20($sp)
	.cfi_rel_offset 31, 20
	sw	$s0, 16($sp)
	.cfi_rel_offset 16, 16
	move	$s0, $sp
	.cfi_def_cfa_register 16
	move	$t9, $a0
	move	$a0, $a1
	jalr	$t9
	addiu	$sp, $a2, -16
	move	$sp, $s0
	.cfi_def_cfa_register 29
	lw	$ra, 20($sp)
	lw	$s0, 16($sp)
	jr	$ra
	addiu	$sp, $sp, 24
	.cfi_adjust_cfa_offset -24
	.cfi_endproc
	.end litifut_call_on_stack
	.size litifut_call_on_stack, . - litifut_call_on_stack

	.section .note.GNU-stack, "", @progbits
