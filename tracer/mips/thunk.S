/* The thunk engine on MIPS: the code that all calls of a kind share, and where
 * the thunks of single callees (rewriter/mips/thunk.c) go when they cannot store
 * an event themselves: there is no cursor yet, or it has come to a multiple
 * of 16 KB. Then the way is that of the other engine, but for the instruction DB.
 *
 * $at is not enough, so two more registers are kept in the 16 bytes at the caller's
 * sp, which o32 gives to every callee for its arguments; nothing can be in them at a
 * call. Where the rewriter can't be sure that the caller has such bytes, it takes
 * the thunks that make room for themselves (`_own`). They give it back before the
 * callee is entered, whose own arguments may lie there.
 *
 * tracer/recorder/armed.c says where the cursor is. `ll` and `sc` reserve the place: a
 * signal handler that comes between makes `sc` fail, and the call goes the long
 * way. rdhwr is of release 2; older CPUs trap, and the kernel has a short way for
 * just this form, with $3. */

#include <litifut/thunk_abi.h>

#define VECTOR LITIFUT_THUNK_VECTOR_MIPS
#define CURSOR LITIFUT_THUNK_CURSOR
/* ll $at, CURSOR($v1), as a number: an assembler that is made for Loongson 3 (Debian's for mipsel)
 * puts a sync before each `ll`, against a fault of these CPUs between processors. In thunks that
 * the rewriter writes there is none either: only the same thread changes the cursor, but where
 * recording is switched off. */
#define LL_AT_CURSOR .word 0xc0610000 + CURSOR
#define INDIRECT 1		/* LITIFUT_MARK_INDIRECT */
#define TAIL 2			/* LITIFUT_MARK_TAIL */

	.set	noreorder
	.set	noat
	.set	nomips16
	.set	nomicromips

	/* Reserves `bytes` at $at, or goes to .Lslow of this function. cursor_code.h has the same
	 * three instructions, from rdhwr on. */
	.macro	reserve bytes
	sw	$t0, 0($sp)
	sw	$v1, 4($sp)
	.set	push
	.set	mips32r2
	rdhwr	$v1, $29
	.set	pop
	lw	$v1, VECTOR($v1)
	LL_AT_CURSOR
	.if	\bytes == 4
	sll	$t0, $at, 32 - LITIFUT_THUNK_STOP_BITS
	.else
	/* 0 for no cursor, and where `bytes` (8) would take it to or beyond the multiple */
	addiu	$t0, $at, \bytes
	andi	$t0, $t0, LITIFUT_THUNK_STOP_BYTES - 16
	.endif
	beqz	$t0, 8f
	addiu	$t0, $at, \bytes
	sc	$t0, CURSOR($v1)
	beqz	$t0, 8f
	.endm

	.text
	.p2align 2

	/* What a thunk stores at $at: the callee in $t9 as well, */
	.macro	stores_call
	addiu	$t0, $ra, INDIRECT
	sw	$t0, 0($at)
	sw	$t9, 4($at)
	lw	$t0, 0($sp)
	.endm

	/* or, because it is known, not. */
	.macro	stores_return
	lw	$t0, 0($sp)
	sw	$ra, 0($at)
	.endm

	/* A call whose callee is in $t9. `stub`: where it goes if nothing can be stored. */
	.macro	through name bytes stores stub
	.globl \name
	.hidden \name
	.type \name, @function
	.ent \name
\name:
	.cfi_startproc
	reserve	\bytes
	\stores
	jr	$t9
	lw	$v1, 4($sp)
8:	lw	$t0, 0($sp)
	b	\stub
	lw	$v1, 4($sp)
	.cfi_endproc
	.end \name
	.size \name, . - \name
	.endm

	/* The same where the thunk has not moved the stack pointer yet. */
	.macro	through_own name bytes stores stub
	.globl \name
	.hidden \name
	.type \name, @function
	.ent \name
\name:
	.cfi_startproc
	addiu	$sp, $sp, -16
	.cfi_adjust_cfa_offset 16
	reserve	\bytes
	\stores
	lw	$v1, 4($sp)
	jr	$t9
	addiu	$sp, $sp, 16
8:	lw	$t0, 0($sp)
	lw	$v1, 4($sp)
	b	\stub
	addiu	$sp, $sp, 16
	.cfi_endproc
	.end \name
	.size \name, . - \name
	.endm

/* jalr $t9 */
	through	litifut_thunk_jalr, 8, stores_call, litifut_stub_jalr
	through_own litifut_thunk_jalr_own, 8, stores_call, litifut_stub_jalr
/* A bal that the linker made of a jalr $t9, or a jalr $t9 whose callee is known. */
	through	litifut_thunk_near, 4, stores_return, litifut_stub_near
	through_own litifut_thunk_near_own, 4, stores_return, litifut_stub_near

/* A tail call, from its trampoline: ra is its key, at what the callee gets in ra.
 * The thunks take room of their own: what the function that the call ends has in its
 * caller's does not matter here. `stores` puts the event at $at, `leaves` goes on,
 * with that room still to be freed. */
	.macro	tail name bytes stores leaves
	.globl \name
	.hidden \name
	.type \name, @function
	.ent \name
\name:
	.cfi_startproc
	.cfi_register 31, 1
	addiu	$sp, $sp, -16
	.cfi_adjust_cfa_offset 16
	sw	$at, 8($sp)
	.cfi_rel_offset 31, 8
	reserve	\bytes
	\stores
	lw	$ra, 8($sp)
	lw	$v1, 4($sp)
	\leaves
	addiu	$sp, $sp, 16
8:	lw	$t0, 0($sp)
	lw	$at, 8($sp)
	lw	$v1, 4($sp)
	b	litifut_stub_tail
	addiu	$sp, $sp, 16
	.cfi_endproc
	.end \name
	.size \name, . - \name
	.endm

	/* through $t9: its callee is part of the event */
	.macro	stores_callee
	addiu	$t0, $ra, TAIL
	sw	$t0, 0($at)
	sw	$t9, 4($at)
	lw	$t0, 0($sp)
	.endm

	/* the callee is known, but not in $t9, and its trampoline goes on to it */
	.macro	stores_key_for_return
	stores_return
	move	$at, $ra
	.endm

	tail	litifut_thunk_tail, 8, stores_callee, "jr $t9"
	tail	litifut_thunk_tail_near, 4, stores_return, "jr $t9"
	tail	litifut_thunk_tail_back, 4, stores_key_for_return, "jr $at"

	.section .note.GNU-stack, "", @progbits
