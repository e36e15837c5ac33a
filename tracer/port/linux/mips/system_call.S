/* The recorder's system calls: number in v0, arguments in a0-a3, t0 and t1, the
 * last two of which the kernel expects on the stack. Comes back with the result or
 * a negated error number in v0. */

	.set	noreorder
	.text
	.globl	litifut_system_call_go
	.hidden	litifut_system_call_go
	.type	litifut_system_call_go, @function
	.ent	litifut_system_call_go
litifut_system_call_go:
	.cfi_startproc
	addiu	$sp, $sp, -24
	.cfi_adjust_cfa_offset 24
	sw	$t0, 16($sp)
	sw	$t1, 20($sp)
	syscall
	beqz	$a3, 1f
	addiu	$sp, $sp, 24
	.cfi_adjust_cfa_offset -24
	negu	$v0, $v0
1:
	jr	$ra
	nop
	.cfi_endproc
	.end	litifut_system_call_go
	.size	litifut_system_call_go, . - litifut_system_call_go
	.section .note.GNU-stack, "", @progbits
