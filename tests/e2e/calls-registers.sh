#!/bin/sh
# Across a traced call or tail call every register is what it was, at the callee
# and after the return: general, flags, VFP and NEON or FPU, hi and lo; the stack
# above and the arguments on it too. Each call is made several times, so that both
# the recorder's first, slow event and its shortest path are met. On ARM also by way of
# islands, and for a CPU without VFP and Thumb-2, on MIPS also with 64-bit FPU registers.
. "$(dirname "$0")/../lib.sh"

arm_source()
{
	cat >calls.S <<-'END'
		.syntax unified
		#ifdef OLD
		.arch armv5te
		#define THUMB_2(code...)
		#define FLOATING(instruction)
		#else
		.arch armv7-a
		.fpu neon
		#define THUMB_2(code...) code
		#define FLOATING(instruction) instruction r12!, {d0-d15}; instruction r12!, {d16-d31}
		#endif
		.text
		@ want, inside and after hold d0-d31, flags, r0-r12, lr, sp
		.macro dump where
		push {r11, r12}
		ldr r12, =\where
		FLOATING(vstmia)
		mrs r11, cpsr
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
		FLOATING(vldmia)
		ldr r0, [r12], #4
		THUMB_2(msr apsr_nzcvqg, r0)
		msr cpsr_f, r0
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
		.macro do_arm_linked
		mov lr, pc; bx r12
		.endm
		.macro do_arm_linked_condition
		movmi lr, pc; movmi pc, r12
		.endm
		.macro do_arm_linked_load
		mov lr, pc; ldr pc, =callee_arm
		.endm
		.macro do_arm_linked_apart
		add lr, pc, #4; nop; bx r12
		.endm
		.macro do_lr
		mov lr, r4; blx lr
		.endm
		.macro do_arm_lr_condition
		mov lr, r12; blxmi lr
		.endm
		.macro do_thumb_lr_condition
		mov lr, r4; it mi; blxmi lr
		.endm
		.macro do_thumb_lr_after_branch
		mov lr, r4; bpl 1f; blx lr; 1:
		.endm
		.macro do_thumb_bl_condition
		it mi; blmi callee_thumb
		.endm
		.macro do_thumb_blx_condition
		it mi; blxmi r4
		.endm
		.macro do_thumb_blx_after_branch
		bpl 1f; blx r4; 1:
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
		THUMB_2(call arm_blx 0 blx callee_thumb)
		call arm_blx_register 0 blx r12
		call arm_blx_register_4 0 blx r4
		call arm_lr 0 do_lr
		call arm_lr_misaligned 4 do_lr
		call arm_lr_condition 0 do_arm_lr_condition
		call arm_linked 0 do_arm_linked
		call arm_linked_condition 0 do_arm_linked_condition
		call arm_linked_load 0 do_arm_linked_load
		call arm_linked_apart 0 do_arm_linked_apart
		.macro tail name instruction:vararg
		function \name
		\instruction
		.size \name, . - \name
		.endm
		tail arm_b b callee_arm
		tail arm_bmi bmi callee_arm
		tail arm_bx bx r4
		tail arm_mov_pc mov pc, r12
		call arm_tail 0 bl arm_b
		call arm_tail_condition 0 bl arm_bmi
		call arm_tail_register 0 bl arm_bx
		call arm_tail_mov 0 bl arm_mov_pc
		#ifndef OLD
		.thumb
		.thumb_func
		function callee_thumb
		dump inside
		bx lr
		.size callee_thumb, . - callee_thumb
		.ltorg
		.thumb_func
		tail thumb_b b.w callee_thumb
		.thumb_func
		tail thumb_bmi bmi.w callee_thumb
		.thumb_func
		tail thumb_bx bx r4
		.thumb_func
		call thumb_tail 0 bl thumb_b
		.thumb_func
		call thumb_tail_condition 0 bl thumb_bmi
		.thumb_func
		call thumb_tail_register 0 bl thumb_bx
		.thumb_func
		call thumb_bl_condition 0 do_thumb_bl_condition
		.thumb_func
		call thumb_blx_condition 0 do_thumb_blx_condition
		.thumb_func
		call thumb_blx_after_branch 0 do_thumb_blx_after_branch
		.thumb_func
		call thumb_lr 0 do_lr
		.thumb_func
		call thumb_lr_misaligned 4 do_lr
		.thumb_func
		call thumb_lr_condition 0 do_thumb_lr_condition
		.thumb_func
		call thumb_lr_after_branch 0 do_thumb_lr_after_branch
		.thumb_func
		call thumb_bl 0 bl callee_thumb
		.thumb_func
		call thumb_bl_misaligned 4 bl callee_thumb
		.thumb_func
		call thumb_blx 0 blx callee_arm
		.thumb_func
		call thumb_blx_register 0 blx r4
		#endif
		.section .note.GNU-stack, "", %progbits
	END
	cat >machine.h <<-'END'
		#ifdef OLD
		#define CORE 0
		#define FLAGS_MASK 0xf8000000u
		#define THUMB_2(X...)
		#else
		#define CORE 64 /* d0-d31 come first */
		#define FLAGS_MASK 0xf80f0000u
		#define THUMB_2(X...) X
		#endif
		#define WORDS (CORE + 1 + 13 + 2)
		#define FLAGS CORE
		#define NEGATIVE 0x80000000u
		#define COMPARED (CORE + 14) /* up to r12 */
		#define LINK (CORE + 14)
		#define STACK (CORE + 15)
		#define CALLS(X) X(arm_bl) X(arm_bl_misaligned) X(arm_bl_condition) \
			X(arm_blx_register) X(arm_blx_register_4) X(arm_lr) X(arm_lr_misaligned) \
			X(arm_lr_condition) X(arm_linked) X(arm_linked_condition) \
			X(arm_linked_load) X(arm_linked_apart) X(arm_tail) X(arm_tail_condition) \
			X(arm_tail_register) X(arm_tail_mov) \
			THUMB_2(X(arm_blx) X(thumb_bl) X(thumb_bl_misaligned) X(thumb_blx) X(thumb_blx_register) \
				X(thumb_bl_condition) X(thumb_blx_condition) X(thumb_blx_after_branch) \
				X(thumb_lr) X(thumb_lr_misaligned) X(thumb_lr_condition) X(thumb_lr_after_branch) \
				X(thumb_tail) X(thumb_tail_condition) X(thumb_tail_register))
		extern void callee_arm(void), callee_thumb(void);
		static void prepare(uint32_t *w)
		{
			w[FLAGS] = (w[FLAGS] & FLAGS_MASK) | NEGATIVE;
		#ifdef OLD
			w[CORE + 1 + 4] = (uint32_t)callee_arm;
		#else
			w[CORE + 1 + 4] = (uint32_t)callee_thumb;
		#endif
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
		/* want, inside and after hold f0-f31 (FR=0: even ones as pairs), hi, lo,
		 * $1-$31, 8 words of the stack */
		#if __mips_fpr == 64
		#define DOUBLE(n) 8 * n
		#define DOUBLES 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, \
			21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
		#define AFTER_DOUBLES 256
		#else
		#define DOUBLE(n) 4 * n
		#define DOUBLES 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
		#define AFTER_DOUBLES 128
		#endif
		#define HI AFTER_DOUBLES
		#define LO (HI + 4)
		#define REGISTERS (HI + 8)
		#define ARGUMENTS (REGISTERS + 128)
		.macro address register symbol
		lui \register, %hi(\symbol)
		addiu \register, \register, %lo(\symbol)
		.endm
		.macro each_double instruction
		.irp n, DOUBLES
		\instruction $f\n, (DOUBLE(\n))($1)
		.endr
		.endm
		.macro each_general instruction
		.irp n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 28, 30
		\instruction $\n, (REGISTERS + 4 * \n)($1)
		.endr
		.endm
		.macro dump where
		address $1 \where
		sw $2, (REGISTERS + 4 * 2)($1)
		each_double sdc1
		mfhi $2
		sw $2, HI($1)
		mflo $2
		sw $2, LO($1)
		lw $2, (REGISTERS + 4 * 2)($1)
		each_general sw
		sw $31, (REGISTERS + 4 * 31)($1)
		sw $29, (REGISTERS + 4 * 29)($1)
		.irp n, 0, 4, 8, 12, 16, 20, 24, 28
		lw $2, \n($29)
		sw $2, (ARGUMENTS + \n)($1)
		.endr
		lw $2, (REGISTERS + 4 * 2)($1)
		.endm
		/* \kept: the words that the caller keeps at sp; without the first four it has
		 * left them to its callees, as o32 says */
		.macro call_with kept name instruction:vararg
		.globl \name
		.ent \name
		\name:
		addiu $29, $29, -96
		.irp n, 16, 17, 18, 19, 20, 21, 22, 23, 28, 30, 31
		sw $\n, (32 + 4 * (\n - 16))($29)
		.endr
		address $1 want
		each_double ldc1
		lw $2, HI($1)
		mthi $2
		lw $2, LO($1)
		mtlo $2
		.irp n, \kept
		lw $2, (ARGUMENTS + \n)($1)
		sw $2, \n($29)
		.endr
		each_general lw
		\instruction
		lw $30, (REGISTERS + 4 * 30)($1)
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
		.macro call name instruction:vararg
		call_with "0, 4, 8, 12, 16, 20, 24, 28" \name, \instruction
		.endm
		.macro call_room name instruction:vararg
		call_with "16, 20, 24, 28" \name, \instruction
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
		call_room mips_room_jal jal callee
		call_room mips_room_bal bal callee
		call_room mips_room_jalr_t9 jalr $25
		call mips_jalr_v0 jalr $2
		call mips_jalr_hb jalr.hb $25
		call mips_jalr_hb_16 jalr.hb $16
		call mips_jalr_t0 jalr $8
		call mips_jalr_s0 jalr $16
		call mips_jalr_s7 jalr $23
		call mips_jalr_chain jalr $15
		call mips_bgezal bgezal $18, callee
		call mips_bltzal bltzal $17, callee
		call mips_bgezall bgezall $18, callee
		call mips_bltzall bltzall $17, callee
		.macro tail name instruction:vararg
		.globl \name
		.ent \name
		\name:
		\instruction
		nop
		.end \name
		.size \name, . - \name
		.endm
		tail mips_j j callee
		tail mips_b b callee
		tail mips_jr jr $25
		tail mips_jr_8 jr $8
		tail mips_jr_hb jr.hb $25
		tail mips_bgez bgez $18, callee
		tail mips_beqzl beqzl $0, callee
		tail mips_bnezl bnezl $17, callee
		tail mips_bltzl bltzl $17, callee
		tail mips_bgtzl bgtzl $18, callee
		call mips_tail_j jal mips_j
		call mips_tail_b jal mips_b
		call mips_tail_jr jal mips_jr
		call mips_tail_jr_8 jal mips_jr_8
		call mips_tail_jr_hb jal mips_jr_hb
		call mips_tail_bgez jal mips_bgez
		call mips_tail_beqzl jal mips_beqzl
		call mips_tail_bnezl jal mips_bnezl
		call mips_tail_bltzl jal mips_bltzl
		call mips_tail_bgtzl jal mips_bgtzl
		.section .note.GNU-stack, "", @progbits
	END
	cat >machine.h <<-'END'
		#if __mips_fpr == 64
		#define CORE 66 /* f0-f31, hi, lo; then registers by number; then 8 stack words */
		#else
		#define CORE 34
		#endif
		#define WORDS (CORE + 32 + 8)
		#define COMPARED WORDS
		#define LINK (CORE + 31)
		#define STACK (CORE + 29)
		#define CALLS(X) X(mips_jal) X(mips_bal) X(mips_jalr_t9) X(mips_jalr_v0) \
			X(mips_jalr_t0) X(mips_jalr_s0) X(mips_jalr_s7) X(mips_jalr_chain) X(mips_bgezal) \
			X(mips_bltzal) X(mips_tail_j) X(mips_tail_b) X(mips_tail_jr) X(mips_tail_jr_8) \
			X(mips_jalr_hb) X(mips_jalr_hb_16) X(mips_tail_jr_hb) \
			X(mips_bgezall) X(mips_bltzall) X(mips_tail_bgez) X(mips_tail_beqzl) \
			X(mips_tail_bnezl) X(mips_tail_bltzl) X(mips_tail_bgtzl) \
			X(mips_room_jal) X(mips_room_bal) X(mips_room_jalr_t9)
		extern void callee(void);
		static void prepare(uint32_t *w)
		{
			w[CORE + 2] = w[CORE + 8] = w[CORE + 15] = w[CORE + 23] = w[CORE + 25] =
				(uint32_t)callee;
			w[CORE + 16] = (uint32_t)callee;
			w[CORE + 17] |= 0x80000000u;
			w[CORE + 18] &= 0x7fffffffu;
		}
		/* $at is free at a call; $k0, $k1 are the kernel's; sp and ra are seen to apart */
		#define IGNORED(i) ((i) == CORE || (i) == CORE + 1 || (i) == CORE + 26 || \
			(i) == CORE + 27 || (i) == CORE + 29 || (i) == CORE + 31 || \
			(has_room && (i) >= CORE + 32 && (i) < CORE + 36))
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
		static unsigned bad, calls;
		static int has_room; /* of its own, for its callee's first four arguments */
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
			has_room = strncmp(name, "mips_room", 9) == 0;
			for (uint32_t round = 1; round < 5; round++) {
				for (int i = 0; i < WORDS; i++)
					want[i] = (0x9e3779b9u * (i + 1)) ^ round << 28 ^ 0x40000000;
				prepare(want);
				memset(inside, 0, sizeof(inside));
				memset(after, 0, sizeof(after));
				call();
				calls++;
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
			printf("%u calls, %u differences\n", calls, bad);
			return bad != 0;
		}
	END
	kept program ""
	counted
	spoiled "" ""
	if [ "$cpu" = arm ]; then
		# out of reach of the tracer: all of it again by way of islands
		printf '.text\n.balign 4\n.type filler, %%function\nfiller: .inst 0xe12fff1e\n%s\n' \
			'.fill 9437184, 4, 0; .size filler, . - filler; .section .note.GNU-stack, "", %progbits' >filler.S
		kept far "-marm ../filler.S"
		ok "far: it needs islands" sh -c "'$triplet-nm' traced/far | grep -q litifut_island_0"
	fi
	if [ "$target" = armel ]; then
		kept old "-march=armv5te -marm -mfloat-abi=soft -DOLD" QEMU_CPU=arm926
	elif [ "$cpu" != arm ]; then
		[ "${ENGINE:-}" = db ] || is "callers with and without room have thunks" \
			"$("$triplet-objdump" -d traced/program | awk '/>:$/ { name = $2 }
				name ~ /<mips_(room_)?(jal|bal|jalr_t9)>:/ && $NF ~ /<litifut_[a-z]*/ {
					sub(/litifut_trampolines.*/, "litifut_trampolines", $NF)
					print name, $NF }')" \
			"$(called_thunks)"
		is "jalr.hb and jr.hb: what goes on in their place clears hazards, too" \
			"$("$triplet-objdump" -d traced/program | awk '/>:$/ { name = $2 }
				$3 == "jr.hb" && $4 == "at" { print name }' | sort)" \
			"$(printf '<litifut_stub_jal>:\n<litifut_stub_tail>:')"
		kept wide "-mips32r2 -mfp64" QEMU_CPU=74Kf
		spoiled wide "-mips32r2 -mfp64" QEMU_CPU=74Kf
	fi
}

# Where calls from functions with and without room for arguments go to.
called_thunks()
{
	for each_call in jal:trampolines bal:trampolines jalr_t9:thunk_jalr_own room_jal:trampolines \
		room_bal:trampolines room_jalr_t9:thunk_jalr; do
		echo "<mips_${each_call%:*}>: <litifut_${each_call#*:}>"
	done | sed 's/_trampolines>/_trampolines/'
}

# The same with counters, which are not events.
counted()
{
	export LITIFUT_MODE=counts
	link counted -no-pie -fno-pic ../main.c ../calls.S
	unset LITIFUT_MODE
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced counted
	is "counts: every register is kept" "$(cut -d , -f 2 traced.out)" " 0 differences"
	# each name of CALLS is called in four rounds, and makes its call in each
	is "each of them was counted" "$("$BUILD/bin/litifut-post" -q -f csv data traced/counted |
		awk -F , -v calls="$(cut -d ' ' -f 1 traced.out)" '
			/^"(arm|thumb|mips)_/ { wrong += $7 != 4; names[$1] }
			END { for (name in names) count++; print wrong + 0, (count * 4 >= calls) }')" "0 1"
	guest_environment=
}

# spoiled NAME FLAGS [VARIABLE=VALUE]: the same with a recorder of the user's own that
# changes every register of the FPU that a function may change.
spoiled()
{
	cat >spoil.c <<-'END'
		#include <litifut/litifut.h>
		void litifut_record_trace(const struct litifut_call *call)
		{
			(void)call;
		#if defined(__mips_fpr) && __mips_fpr == 64
			__asm__ volatile(".irp n,1,3,5,7,9,11,13,15,17,19,21,23,25,27,29,31\n\t"
					 "mtc1 $0,$f\\n\n\tmthc1 $0,$f\\n\n\t.endr");
		#endif
		#ifdef __mips__
			__asm__ volatile(".irp n,0,2,4,6,8,10,12,14,16,18\n\tmtc1 $0,$f\\n\n\t.endr");
		#else
			__asm__ volatile(".arch armv7-a\n\t.fpu neon\n\t"
					 ".irp n,0,1,2,3,4,5,6,7,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n\t"
					 "vmov.i32 d\\n, #0\n\t.endr");
		#endif
		}
	END
	flags="-I$root/include -fPIC -c $2"
	[ "$cpu" != arm ] || flags="$flags -marm"
	ok "compile a recorder that spoils FPU registers" compiler -o spoil.o spoil.c
	flags="-no-pie -fno-pic $2"
	export LITIFUT_RECORDER=../spoil.o
	link "spoiled$1" ../main.c ../calls.S
	unset LITIFUT_RECORDER
	guest_environment=${3:-}
	run traced "spoiled$1"
	is "spoiled$1: every register is kept when traced" \
		"$(cut -d , -f 2 traced.out)" " 0 differences"
}

# kept PROGRAM FLAGS [VARIABLE=VALUE]: links and runs it; the variable is for qemu
kept()
{
	flags="-no-pie -fno-pic $2"
	link "$1" ../main.c ../calls.S || return
	guest_environment=${3:-}
	run plain "$1"
	is "$1: the test itself finds nothing in the plain program" \
		"$(cut -d , -f 2 plain.out)" " 0 differences"
	rm -rf data
	guest_environment="${3:-} LITIFUT_DIR=$(pwd)/data"
	run traced "$1"
	is "$1: every register is kept when traced" \
		"$(cut -d , -f 2 traced.out)" " 0 differences"
	"$BUILD/bin/litifut-post" -f tsv -o events.tsv data/trace data/maps "traced/$1" 2>post.err
	is "$1: each of them was recorded" "$(awk -F '\t' 'NR > 1 && $10 ~ /^callee/' events.tsv | wc -l) calls" \
		"$(cut -d , -f 1 traced.out)"
}

for_targets behaviour
