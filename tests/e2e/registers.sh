#!/bin/sh
# Across a traced call every register is what it was, at the callee and after
# the return: general, flags, VFP and NEON or FPU, hi and lo; the stack above
# and the arguments on it too. Each call is made several times, so that both
# the recorder's first, slow event and its shortest path are met.
. "$(dirname "$0")/../lib.sh"

arm_source()
{
	cat >calls.S <<-'END'
		.syntax unified
		.arch armv7-a
		.fpu neon
		.text
		@ want, inside and after hold d0-d31, flags, r0-r12, lr, sp
		.macro dump where
		push {r11, r12}
		ldr r12, =\where
		vstmia r12!, {d0-d15}
		vstmia r12!, {d16-d31}
		mrs r11, apsr
		str r11, [r12], #4
		stmia r12!, {r0-r10}
		ldr r11, [sp], #4
		str r11, [r12], #4
		ldr r11, [sp], #4
		str r11, [r12], #4
		str lr, [r12], #4
		mov r11, sp
		str r11, [r12], #4
		ldr r11, [r12, #-16]
		ldr r12, [r12, #-12]
		.endm
		.macro function name
		.globl \name
		.type \name, %function
		\name:
		.endm
		.macro call name misalign instruction:vararg
		function \name
		push {r4-r11, lr}
		sub sp, sp, #(12 + \misalign)
		ldr r12, =want
		vldmia r12!, {d0-d15}
		vldmia r12!, {d16-d31}
		ldr r0, [r12], #4
		msr apsr_nzcvqg, r0
		ldmia r12, {r0-r12}
		\instruction
		.globl return_\name
		return_\name:
		dump after
		add sp, sp, #(12 + \misalign)
		pop {r4-r11, pc}
		.size \name, . - \name
		.ltorg
		.endm
		.arm
		function callee_arm
		dump inside
		bx lr
		.size callee_arm, . - callee_arm
		.ltorg
		call arm_bl 0 bl callee_arm
		call arm_bl_misaligned 4 bl callee_arm
		call arm_bl_condition 0 blmi callee_arm
		call arm_blx 0 blx callee_thumb
		call arm_blx_register 0 blx r12
		call arm_blx_register_4 0 blx r4
		.thumb
		.thumb_func
		function callee_thumb
		dump inside
		bx lr
		.size callee_thumb, . - callee_thumb
		.ltorg
		.thumb_func
		call thumb_bl 0 bl callee_thumb
		.thumb_func
		call thumb_bl_misaligned 4 bl callee_thumb
		.thumb_func
		call thumb_blx 0 blx callee_arm
		.thumb_func
		call thumb_blx_register 0 blx r4
		.section .note.GNU-stack, "", %progbits
	END
	cat >machine.h <<-'END'
		#define CORE 64 /* d0-d31 come first */
		#define WORDS (CORE + 1 + 13 + 2)
		#define FLAGS CORE
		#define FLAGS_MASK 0xf80f0000u
		#define NEGATIVE 0x80000000u
		#define COMPARED (CORE + 14) /* up to r12 */
		#define LINK (CORE + 14)
		#define STACK (CORE + 15)
		#define CALLS(X) X(arm_bl) X(arm_bl_misaligned) X(arm_bl_condition) X(arm_blx) \
			X(arm_blx_register) X(arm_blx_register_4) X(thumb_bl) X(thumb_bl_misaligned) \
			X(thumb_blx) X(thumb_blx_register)
		extern void callee_arm(void), callee_thumb(void);
		static void prepare(uint32_t *w)
		{
			w[FLAGS] = (w[FLAGS] & FLAGS_MASK) | NEGATIVE;
			w[CORE + 1 + 4] = (uint32_t)callee_thumb;
			w[CORE + 1 + 12] = (uint32_t)callee_arm;
		}
		#define IGNORED(i) 0
	END
}

mips_source()
{
	cat >calls.S <<-'END'
		.set noreorder
		.set noat
		.set nomacro
		.option pic0
		.text
		/* want, inside and after hold f0-f31 (even ones as pairs), hi, lo, $1-$31 */
		.macro address register symbol
		lui \register, %hi(\symbol)
		addiu \register, \register, %lo(\symbol)
		.endm
		.macro each_double instruction
		.irp n, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
		\instruction $f\n, (4 * \n)($1)
		.endr
		.endm
		.macro each_general instruction
		.irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 28, 30
		\instruction $\n, (136 + 4 * \n)($1)
		.endr
		.endm
		.macro dump where
		address $1 \where
		sw $2, (136 + 4 * 2)($1)
		each_double sdc1
		mfhi $2
		sw $2, 128($1)
		mflo $2
		sw $2, 132($1)
		lw $2, (136 + 4 * 2)($1)
		each_general sw
		sw $31, (136 + 4 * 31)($1)
		sw $29, (136 + 4 * 29)($1)
		.irp n, 0, 4, 8, 12, 16, 20, 24, 28
		lw $2, \n($29)
		sw $2, (264 + \n)($1)
		.endr
		lw $2, (136 + 4 * 2)($1)
		.endm
		.macro call name instruction:vararg
		.globl \name
		.ent \name
		\name:
		addiu $29, $29, -96
		.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 28, 30, 31
		sw $\n, (32 + 4 * (\n - 16))($29)
		.endr
		address $1 want
		each_double ldc1
		lw $2, 128($1)
		mthi $2
		lw $2, 132($1)
		mtlo $2
		.irp n, 0, 4, 8, 12, 16, 20, 24, 28
		lw $2, (264 + \n)($1)
		sw $2, \n($29)
		.endr
		each_general lw
		\instruction
		lw $30, (136 + 4 * 30)($1)
		.globl return_\name
		return_\name:
		dump after
		.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 28, 30, 31
		lw $\n, (32 + 4 * (\n - 16))($29)
		.endr
		jr $31
		addiu $29, $29, 96
		.end \name
		.size \name, . - \name
		.endm
		.globl callee
		.ent callee
		callee:
		dump inside
		jr $31
		nop
		.end callee
		.size callee, . - callee
		call mips_jal jal callee
		call mips_bal bal callee
		call mips_jalr_t9 jalr $25
		call mips_jalr_v0 jalr $2
		call mips_jalr_t0 jalr $8
		call mips_jalr_s0 jalr $16
		call mips_jalr_s7 jalr $23
		.section .note.GNU-stack, "", @progbits
	END
	cat >machine.h <<-'END'
		#define CORE 34 /* f0-f31, hi, lo; then registers by number; then 8 stack words */
		#define WORDS (CORE + 32 + 8)
		#define COMPARED WORDS
		#define LINK (CORE + 31)
		#define STACK (CORE + 29)
		#define CALLS(X) X(mips_jal) X(mips_bal) X(mips_jalr_t9) X(mips_jalr_v0) \
			X(mips_jalr_t0) X(mips_jalr_s0) X(mips_jalr_s7)
		extern void callee(void);
		static void prepare(uint32_t *w)
		{
			w[CORE + 2] = w[CORE + 8] = w[CORE + 16] = w[CORE + 23] = w[CORE + 25] =
				(uint32_t)callee;
		}
		/* $at is free at a call; $k0, $k1 are the kernel's; sp and ra are seen to apart */
		#define IGNORED(i) ((i) == CORE || (i) == CORE + 1 || (i) == CORE + 26 || \
			(i) == CORE + 27 || (i) == CORE + 29 || (i) == CORE + 31)
	END
}

behaviour()
{
	if [ "$cpu" = arm ]; then arm_source; else mips_source; fi
	cat >main.c <<-'END'
		#include <stdint.h>
		#include <stdio.h>
		#include <string.h>
		#include "machine.h"
		uint32_t want[WORDS] __attribute__((aligned(8)));
		uint32_t inside[WORDS] __attribute__((aligned(8)));
		uint32_t after[WORDS] __attribute__((aligned(8)));
		static unsigned bad;
		static void compare(const char *name, const char *where, const uint32_t *got)
		{
			for (int i = 0; i < COMPARED; i++) {
				uint32_t mask = 0xffffffff;
		#ifdef FLAGS
				if (i == FLAGS)
					mask = FLAGS_MASK;
		#endif
				if (!IGNORED(i) && ((got[i] ^ want[i]) & mask)) {
					printf("%s: %s: word %d is %08x, not %08x\n", name, where, i,
					       got[i], want[i]);
					bad++;
				}
			}
		}
		static void test(const char *name, void (*call)(void), void *back)
		{
			for (uint32_t round = 1; round < 5; round++) {
				for (int i = 0; i < WORDS; i++)
					want[i] = (0x9e3779b9u * (i + 1)) ^ round << 28 ^ 0x40000000;
				prepare(want);
				memset(inside, 0, sizeof(inside));
				memset(after, 0, sizeof(after));
				call();
				compare(name, "inside", inside);
				compare(name, "after", after);
				if ((inside[LINK] & ~1u) != ((uint32_t)back & ~1u)) {
					printf("%s: returns to %08x\n", name, inside[LINK]);
					bad++;
				}
				if (inside[STACK] != after[STACK]) {
					printf("%s: stack pointer\n", name);
					bad++;
				}
			}
		}
		#define DECLARE(name) extern void name(void); extern char return_##name[];
		CALLS(DECLARE)
		#define RUN(name) test(#name, name, return_##name);
		int main(void)
		{
			CALLS(RUN)
			printf("%u differences\n", bad);
			return bad != 0;
		}
	END
	flags="-no-pie -fno-pic"
	link program ../main.c ../calls.S || return
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run plain program
	is "the test itself finds nothing in the plain program" "$(cat plain.out)" "0 differences"
	run traced program
	is "traced: every register is kept" "$(cat traced.out)" "0 differences"
	litifut_post_count=$("$BUILD/bin/litifut-post" -f tsv data/trace data/maps traced/program |
		awk -F '\t' '$9 ~ /^callee/ || $10 ~ /^callee/' | wc -l)
	ok "traced: the calls were traced ($litifut_post_count events)" test "$litifut_post_count" -ge 24
}

for_targets behaviour
