/* Where a static program with thunks begins.
 *
 * Thunks ask the thread pointer for their cursor, and until libc has set it up it
 * is 0. So it gets a value that leads to a vector of thread-local blocks without a
 * cursor: the calls that libc makes until then go the long way (tracer/recorder/armed.c).
 * The registers that the kernel gives a meaning, and the stack, are as it has left
 * them when the program goes on where it would have begun. It may be before its
 * relocation. */

#include <litifut/thunk_abi.h>

#define LINK_ADDRESS 16		/* in struct litifut_module */
#define ENTRY 644
#define SET_THREAD_AREA 4283
#define VECTOR (-LITIFUT_THUNK_VECTOR_MIPS)

	.set	noreorder
	.set	noat
	.set	nomips16
	.set	nomicromips

	.text
	.p2align 2
	.globl litifut_entry
	.hidden litifut_entry
	.type litifut_entry, @function
	.ent litifut_entry
litifut_entry:
	.cfi_startproc
	.cfi_undefined 31
	addiu	$sp, $sp, -32
	.cfi_adjust_cfa_offset 32
	sw	$ra, 28($sp)
	bal	1f			/* the delay slot runs first */
	sw	$v0, 16($sp)		/* a function to call at exit, or 0 */
	/* at $ra from here on: */
2:	.word	litifut_early_thread - 2b
	.word	litifut_module - 2b
1:	sw	$a0, 20($sp)
	sw	$a3, 24($sp)
	lw	$t0, 0($ra)
	ori	$a0, $zero, VECTOR
	addu	$t0, $t0, $ra
	addu	$a0, $a0, $t0
	addiu	$t1, $t0, 8
	sw	$t1, 0($t0)
	ori	$v0, $zero, SET_THREAD_AREA
	syscall
	lw	$t0, 4($ra)
	addu	$t0, $t0, $ra
	lw	$t1, LINK_ADDRESS($t0)
	lw	$t9, ENTRY($t0)
	subu	$t1, $t0, $t1		/* the load bias */
	addu	$t9, $t9, $t1
	lw	$v0, 16($sp)
	lw	$a0, 20($sp)
	lw	$a3, 24($sp)
	lw	$ra, 28($sp)
	jr	$t9
	addiu	$sp, $sp, 32
	.cfi_endproc
	.end litifut_entry
	.size litifut_entry, . - litifut_entry

	.section .bss, "aw", @nobits
	.p2align 3
	.globl litifut_early_thread
	.hidden litifut_early_thread
	.type litifut_early_thread, @object
litifut_early_thread:
	.space	16
	.size litifut_early_thread, . - litifut_early_thread

	.section .note.GNU-stack, "", @progbits
