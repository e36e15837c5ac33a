/* Where every patched call of a MIPS o32 module arrives.
 *
 * A patched call has set ra as the original one would have, and its delay slot
 * has run. GCC's -fipa-ra lets a caller keep values in any of the
 * registers v0, v1, a0-a3, t0-t9, hi and lo across a call, and $15 may carry a
 * static chain, so all of them go back as they were. Only $at is free at a
 * call: compilers leave it to the assembler, and calls have no use for it.
 * litifut_stub_jal jumps through it, because $t9 may hold anything at a `jal` of
 * non-PIC code and holds the callee at a relaxed `bal` already. FPU registers
 * are not saved, because no code of the tracer touches them.
 *
 * The code runs at any address before anything is relocated: it finds its own
 * data and C code through words that hold distances, read relative to ra after
 * a `bal`. The caller's 16 bytes of argument home lie at the old sp and are not
 * touched; the C code gets 16 of its own below.
 *
 * Only MIPS I to MIPS32 release 1 instructions are used, and jr.hb. */

#include "save.inc"

	.set	noreorder
	.set	noat
	.set	nomips16
	.set	nomicromips

	/* The call may have been a jalr.hb or jr.hb. To CPUs older than that it is jr. */
	.macro	leave
	.set	push
	.set	mips32r2
	jr.hb	$at
	.set	pop
	.endm

	/* The callee is in a register that C code keeps, so it was not saved: these
	 * go below the frame. */
	.macro	again
	addiu	$sp, $sp, -40
	.cfi_adjust_cfa_offset 40
	sw	$s0, 16($sp)
	sw	$s1, 20($sp)
	sw	$s2, 24($sp)
	sw	$s3, 28($sp)
	sw	$s4, 32($sp)
	sw	$s5, 36($sp)
	sw	$s6, 40($sp)
	sw	$s7, 44($sp)
	addiu	$t0, $sp, FRAME + 40
	sw	$t0, 48($sp)		/* sp */
	sw	$fp, 52($sp)
	addiu	$t0, $sp, 16
	sw	$t0, KEPT + 40($sp)
	bal	1f
	nop
2:	.word	litifut_module - 2b	/* in this order: see save.inc */
	.word	litifut_module_state - 2b
	.word	litifut_enter - 2b
1:	lw	$a1, 0($ra)
	lw	$a2, 4($ra)
	lw	$t9, 8($ra)
	addu	$a1, $a1, $ra
	addu	$a2, $a2, $ra
	addu	$t9, $t9, $ra
	jalr	$t9
	addiu	$a0, $sp, 16 + 40
	addiu	$sp, $sp, 40
	.cfi_adjust_cfa_offset -40
	.endm

	.text
	.p2align 2

/* jal, bal, and jalr through other registers than $t9: the callee is found in
 * the instruction DB. */
	.globl litifut_stub_jal
	.hidden litifut_stub_jal
	.type litifut_stub_jal, @function
	.ent litifut_stub_jal
litifut_stub_jal:
	.cfi_startproc
	save	litifut_enter
	jalr	$t9
	addiu	$a0, $sp, 16
	beqz	$v0, .Lcomplete
	move	$at, $v0
.Lgo:	.cfi_remember_state
	restore
	leave
	addiu	$sp, $sp, FRAME
	.cfi_adjust_cfa_offset -FRAME

	.cfi_restore_state
.Lcomplete:
	again
	bnez	$v0, .Lgo
	move	$at, $v0

	/* The return address is in no table: the image is damaged. Going on
	 * would skip a call or jump to a guess; stop where a debugger shows the
	 * caller's registers and this symbol. */
	restore
	addiu	$sp, $sp, FRAME
	.cfi_adjust_cfa_offset -FRAME
	.globl litifut_unknown_call_site
	.hidden litifut_unknown_call_site
litifut_unknown_call_site:
	break
	nop
	.cfi_endproc
	.end litifut_stub_jal
	.size litifut_stub_jal, . - litifut_stub_jal

/* A tail call, from its trampoline: ra is its key in the instruction DB, at is
 * what the callee gets in ra. */
	.globl litifut_stub_tail
	.hidden litifut_stub_tail
	.type litifut_stub_tail, @function
	.ent litifut_stub_tail
litifut_stub_tail:
	.cfi_startproc
	.cfi_register 31, 1
	save	litifut_enter, 1
	jalr	$t9
	addiu	$a0, $sp, 16
	beqz	$v0, .Ltail_complete
	move	$at, $v0
.Ltail_go:
	.cfi_remember_state
	restore	1
	leave
	addiu	$sp, $sp, FRAME
	.cfi_adjust_cfa_offset -FRAME
	.cfi_restore_state
.Ltail_complete:
	again
	bnez	$v0, .Ltail_go
	move	$at, $v0
	restore	1
	b	litifut_unknown_call_site /* see there */
	addiu	$sp, $sp, FRAME
	.cfi_endproc
	.end litifut_stub_tail
	.size litifut_stub_tail, . - litifut_stub_tail

/* The callee is in $t9, and there is no entry in the DB. */
	.macro	through_t9 name enter
	.globl \name
	.hidden \name
	.type \name, @function
	.ent \name
\name:
	.cfi_startproc
	save	\enter
	jalr	$t9
	addiu	$a0, $sp, 16
	restore
	jr	$t9
	addiu	$sp, $sp, FRAME
	.cfi_adjust_cfa_offset -FRAME
	.cfi_endproc
	.end \name
	.size \name, . - \name
	.endm

	/* jalr $t9 */
	through_t9 litifut_stub_jalr, litifut_enter_register
	/* bal, from its thunk */
	through_t9 litifut_stub_near, litifut_enter_near

/* From the thunk of one callee, which has t0, v1 and the call's ra at sp, with
 * `room` bytes that it made there. Its exit, the instruction that goes on to the
 * callee, stands at a fixed distance before the address in ra
 * (LITIFUT_EXIT_DISTANCE). */
	.macro	from_thunk name room
	.globl \name
	.hidden \name
	.type \name, @function
	.ent \name
\name:
	.cfi_startproc
	.cfi_adjust_cfa_offset \room
	.cfi_offset 31, 8 - \room
	move	$at, $ra
	lw	$t0, 0($sp)
	lw	$v1, 4($sp)
	lw	$ra, 8($sp)
	.cfi_restore 31
	.if	\room
	addiu	$sp, $sp, \room
	.cfi_adjust_cfa_offset -\room
	.endif
	save	litifut_enter_thunk
	addiu	$a3, $sp, FRAME
	jalr	$t9
	addiu	$a0, $sp, 16
	move	$at, $v0
	restore
	jr	$at
	addiu	$sp, $sp, FRAME
	.cfi_adjust_cfa_offset -FRAME
	.cfi_endproc
	.end \name
	.size \name, . - \name
	.endm

	from_thunk litifut_thunk_call, 0
	from_thunk litifut_thunk_call_own, 16

	.section .note.GNU-stack, "", @progbits
