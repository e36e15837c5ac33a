#!/bin/sh
# LITIFUT_MODE=coverage and paths: behind a conditional branch, whichever way it goes, all registers and
# condition flags are what they are without the code that records it, and so is the stack: for
# each condition and form of branch, with what moves along with it. Branches in exclusive sequences
# are left, and atomic operations of threads come to an end.
. "$(dirname "$0")/../lib.sh"

# case NUMBER BEFORE BRANCH BEHIND: runs BRANCH to 1f with BEFORE and BEHIND around it
arm_source()
{
	cat >cases.S <<-'END'
		.syntax unified
		#ifdef __thumb__
		.thumb
		#endif
		.text
		.macro begin number
		.globl case_\number
		.type case_\number, %function
		#ifdef __thumb__
		.thumb_func
		#endif
		case_\number:
		push {r4-r11, lr}
		mov r12, r0		@ flags in r0, registers from r1
		msr cpsr_f, r12
		ldr r0, [r1]
		ldr r2, [r1, #4]
		ldr r3, [r1, #8]
		ldr r4, [r1, #12]
		ldr r5, [r1, #16]
		ldr r6, [r1, #20]
		ldr r7, [r1, #24]
		ldr r8, [r1, #28]
		ldr r9, [r1, #32]
		.endm
		.macro end number
		mov r10, #1
		b 2f
		1:
		mov r10, #2
		2:
		push {r0, r2}
		mrs r11, cpsr
		and r11, r11, #0xf8000000
		ldr r0, =dump
		str r11, [r0], #4
		ldr r2, [sp]
		str r2, [r0], #4
		ldr r2, [sp, #4]
		str r2, [r0], #4
		stmia r0!, {r1, r3-r10}
		str r12, [r0], #4
		add sp, sp, #8
		pop {r4-r11, pc}
		.ltorg
		.size case_\number, . - case_\number
		.endm
	END
	number=0
	: >list
	for condition in eq ne cs cc mi pl vs vc hi ls ge lt gt le; do
		for before in "cmp r3, r4" "adds r5, r5, r6" "ldr r7, [r1, #12]" "mov r8, r9" nop; do
			[ "$condition" = eq ] || [ "$before" != nop ] || continue
			add_case "$before" "b$condition 1f" "add r6, r6, #1"
		done
	done
	# the switches of A32 code that GCC makes; r2 is 0 to 7, or large
	if [ "$target" != armhf ]; then
		for register in r0 r2 r9 lr; do
			add_case "mov lr, r3; cmp r9, r0; mov r9, r4; and $register, $register, #3; cmp $register, #2" \
				"addls pc, pc, $register, lsl #2; b 7f; b 8f; b 9f; b 1f; 7: add r6, r6, #1; 8: add r7, r7, #3" \
				"9: eor r6, r6, r7; mov lr, #0"
			# of code at fixed addresses
			add_case "mov lr, r3; cmp r9, r0; mov r9, r4; and $register, $register, #3; cmp $register, #2" \
				"ldrls pc, [pc, $register, lsl #2]; b 7f; .word 8f, 9f, 1f; 7: add r6, r6, #1; 8: add r7, r7, #3" \
				"9: eor r6, r6, r7; mov lr, #0"
		done
		plain_labels
	fi
	if [ "$target" = armhf ]; then
		for branch in cbz cbnz; do
			add_case "movs r3, #0" "$branch r3, 1f" "adds r6, r6, #1"
			add_case "it eq; moveq r3, #7" "$branch r2, 1f" "adds r6, r6, #1"
			add_case "cmp r3, r4; 3: nop; b 4f; 4:" "$branch r2, 1f" "mov r6, r5"
		done
		add_case "ldr r5, =0x12345678" "bne 1f" "adr r6, 2f; subs r6, r6, r6"
		add_case "it eq; addeq r5, r5, #1" "bne 1f" "ldr r6, =77"
		# an `it` for several instructions, of which the branch is the last
		for condition in eq cs mi vs hi lt le; do
			add_case "itt $condition; add$condition r5, r5, #1" "b$condition 1f" "adds r6, r6, #1"
			add_case "ittt $condition; add$condition.w r5, r5, #1; ldr$condition r7, [r1, #4]" "b$condition 1f" nop
		done
		add_case "ite eq; addeq r5, r5, #1" "bne 1f" "adds r6, r6, #1"
		add_case "itte ge; addge r5, r5, #1; cmpge r5, r6" "blt 1f" "adds r6, r6, #1"
		add_case "itett le; movle r5, r6; movgt r6, r5; addle r7, r6" "ble 1f" "adds r6, r6, #1"
		# loads relative to the pc move along
		for load in "ldrd r6, r7, 3f" "ldr.w lr, 3f; mov r6, lr; mov lr, #0" "add lr, pc; mov lr, #0" "vldr d0, 3f; vmov r6, r7, d0" \
			"vldr s3, 4f; vmov r6, s3"; do
			add_case "cmp r3, r4; b 6f; 6:" "bne 1f" "$load; b 5f; .balign 8; 3: .word 0x1234567; 4: .word 0x89abcdef; 5:"
		done
		add_case "it eq; addeq r5, r5, #1" "bne.w 1f" "it ne; movne r6, #9"
	fi
}

# A label of clang's switch of position-independent A32 code before each form that reads the pc, that is a call, or that
# has no condition.
plain_labels()
{
	set -- ".fpu neon; vld1.32 {d0}, [r1]; vmov r6, r7, d0" "pld [r1]; add r6, r6, r7"
	[ "$target" != armel ] || set -- # code for CPUs that have neither
	cat >>cases.S <<-'END'
		plain_helper: add r6, r6, #5
		bx lr
		.thumb
		.thumb_func
		.type thumb_helper, %function
		thumb_helper: eors r6, r7
		bx lr
		.arm
	END
	# an address near by would be taken for that of a label
	for form in "add r6, pc, #0xff000; sub r6, r6, pc" "sub r6, pc, #0xff0; sub r6, r6, pc" \
		"addne r6, pc, #0xff000; subne r6, r6, pc" \
		"add r6, pc, r6; sub r6, r6, pc" "add r6, pc, r7; sub r6, r6, pc" "addcs r7, pc, r7; subcs r7, r7, pc" \
		"add lr, pc, lr; sub r6, lr, pc" "add lr, pc, r6; sub r6, lr, pc" "add r6, pc, lr; sub r6, r6, pc" \
		"ldrne r6, 3f" "ldrge lr, 3f; mov r6, lr" "ldrdhi r6, r7, 3f" "mov r0, #0; ldr r0, [pc, r0]; mov r0, #0" \
		"blne plain_helper" "bl plain_helper" "blx thumb_helper" "blcs plain_helper; mov r7, #3" \
		"adr r8, 5f; mov r9, #4; add pc, r8, r9" "$@"; do
		add_case "mov lr, r3; and r9, r3, #1; add r10, pc, #4; ldr r9, [r10, r9, lsl #2]" \
			"add pc, r10, r9; 7: .word 8f - 7b, 9f - 7b; 8: $form; mov lr, r3" \
			"9: $form; 5: eor r6, r6, r7; eor r6, r6, r7; mov r9, #0; mov r8, #0; mov lr, #0; b 4f; .balign 8; 3: .word 0x1234567, 0x89abcdef; 4:"
	done
}

mips_source()
{
	cat >cases.S <<-'END'
		.set noreorder
		.set noat
		.text
		.macro begin number
		.globl case_\number
		.type case_\number, @function
		.ent case_\number
		case_\number:
		lui $28, %hi(_gp_disp)
		addiu $28, $28, %lo(_gp_disp)
		addu $28, $28, $25
		addiu $sp, $sp, -40
		sw $16, 16($sp)
		sw $17, 20($sp)
		sw $18, 24($sp)
		sw $31, 28($sp)
		mtc1 $4, $f4		# a0: the condition of bc1t
		mtc1 $0, $f6
		cvt.s.w $f4, $f4
		cvt.s.w $f6, $f6
		c.eq.s $f4, $f6
		lw $2, 0($5)
		lw $3, 4($5)
		lw $6, 8($5)
		lw $7, 12($5)
		lw $8, 16($5)
		lw $9, 20($5)
		lw $10, 24($5)
		lw $11, 28($5)
		lw $16, 32($5)
		mtlo $9
		mthi $10
		.endm
		.macro end number
		li $17, 1
		b 2f
		nop
		1:
		li $17, 2
		2:
		move $18, $6
		lw $6, %got(dump)($28)
		sw $2, 0($6)
		sw $3, 4($6)
		sw $18, 8($6)
		sw $7, 12($6)
		sw $8, 16($6)
		sw $9, 20($6)
		sw $10, 24($6)
		sw $11, 28($6)
		sw $16, 32($6)
		sw $17, 36($6)
		mflo $2
		sw $2, 40($6)
		mfhi $2
		sw $2, 44($6)
		lw $31, 28($sp)
		lw $18, 24($sp)
		lw $17, 20($sp)
		lw $16, 16($sp)
		jr $31
		addiu $sp, $sp, 40
		.end case_\number
		.size case_\number, . - case_\number
		.endm
	END
	number=0
	: >list
	for slot in nop 'addiu $9, $9, 1' 'addiu $2, $2, 1' 'move $3, $7' 'lw $10, 4($5)'; do
		for branch in 'beq $2, $3' 'bne $2, $3' 'bgez $2' 'bltz $2' 'blez $2' 'bgtz $2' \
			'beql $2, $3' 'bnel $2, $3' 'bgezl $2' 'bltzl $2' bc1t bc1f bc1tl; do
			case $branch in
			bc1*) add_case nop "$branch 1f; $slot" 'addiu $11, $11, 3' ;;
			*) add_case nop "$branch, 1f; $slot" 'addiu $11, $11, 3' ;;
			esac
		done
	done
}

# many_branches COUNT: functions of others, so that the code of a branch may not be long where it must be in reach
many_branches()
{
	for many in $(seq "$1"); do
		echo "int other_$many(int x) { if (x > $many) x ^= 5; if (x < -$many) x--; return x & 1 ? x : $many; }"
	done >many.c
}

# On MIPS: functions in each of which one register holds nothing behind the branch, and the return address
# neither, or does (live); they leave all other registers in dump[].
free_source()
{
	cat >free.S <<-'END'
		.set noreorder
		.set noat
		.text
		.macro each operation, except, base
		.irp r, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25
		.if \r - \except
		\operation $\r, 4 * \r($\base)
		.endif
		.endr
		.endm
		.macro function x, live, slot:vararg
		.globl free_\x\()_\live
		.type free_\x\()_\live, @function
		.ent free_\x\()_\live
		free_\x\()_\live:
		lui $28, %hi(_gp_disp)
		addiu $28, $28, %lo(_gp_disp)
		addu $28, $28, $25
		addiu $sp, $sp, -40
		sw $16, 16($sp)
		sw $17, 20($sp)
		sw $31, 28($sp)
		move $16, $4
		move $17, $5
		each lw, 0, 17
		.if \live
		li $31, 77
		.endif
		beq $16, $0, 1f
		\slot
		b 2f
		li $16, 7
		1:
		li $16, 8
		2:
		lw $\x, %got(dump)($28)
		each sw, \x, \x
		sw $16, 0($\x)
		.if \live
		sw $31, 4($\x)
		.endif
		lw $31, 28($sp)
		lw $17, 20($sp)
		lw $16, 16($sp)
		jr $31
		addiu $sp, $sp, 40
		.end free_\x\()_\live
		.size free_\x\()_\live, . - free_\x\()_\live
		.endm
		.irp x, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25
		function \x, 0, nop
		function \x, 1, move $16, $17
		.endr
	END
	cat >free.c <<-'END'
		#include <stdio.h>
		unsigned dump[32];
		#define FUNCTION(x) void free_##x##_0(int, unsigned *), free_##x##_1(int, unsigned *);
		#define EACH F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15) F(24) F(25)
		#define F FUNCTION
		EACH
		#undef F
		#define F(x) free_##x##_0, free_##x##_1,
		static void (*const functions[])(int, unsigned *) = {EACH};
		int main(void)
		{
			for (int i = 0; i < 32; i++)
				for (int j = 0; j < 200; j++) {
					unsigned values[32], sum = 0;

					for (int k = 0; k < 32; k++)
						values[k] = dump[k] = 0x10001u * (k + i) + j * 77;
					functions[i](j % 3, values);
					for (int k = 0; k < 32; k++)
						sum = sum * 33 + dump[k];
					printf("%d %d %x\n", i, j, sum);
				}
			return 0;
		}
	END
}

# In how many registers does code look for the cursor?
cursor_registers()
{
	"$triplet-objdump" -d traced/free | awk '$3 == "rdhwr" { sub(/,.*/, "", $4); print $4 }' | sort -u | wc -l
}

free_registers()
{
	free_source
	many_branches 1500
	for form in -pie -no-pie "-pie ../many.c"; do
		# shellcheck disable=SC2086
		link free ../free.c ../free.S $form || continue
		same_run free
		is "$form: it comes to its end" "$(cat plain.status)" 0
		is "$form: each register that holds nothing is used" "$(cursor_registers)" \
			"$(case $form in *many*) echo 8 ;; *) echo 16 ;; esac)"
		rm -rf data
		guest_environment="LITIFUT_DIR=$(pwd)/data"
		run traced free
		guest_environment=
		"$BUILD/bin/litifut-post" -q -f blocks data traced/free >executed
		is "$form: all functions are followed, 200 times" \
			"$(awk -F '\t' '$6 ~ /^free_/ { n[$6]++ } END { for (f in n) if (n[f] == 600) k++; print k }' executed)" 32
	done
}

add_case()
{
	number=$((number + 1))
	printf '\tbegin %s\n\t%s\n\t%s\n\t%s\n\tend %s\n' "$number" "$1" "$2" "$3" "$number" >>cases.S
	echo "CASE($number)" >>list
}

calls_source()
{
	cat >main.c <<-'END'
		#include <stdint.h>
		#include <stdio.h>
		#include <string.h>
		uint32_t dump[32];
		#define CASE(number) void case_##number(uint32_t flags, const uint32_t *registers);
		#include "list"
		#undef CASE
		#define CASE(number) case_##number,
		static void (*const cases[])(uint32_t, const uint32_t *) = {
		#include "list"
		};
		int main(void)
		{
			static const uint32_t values[][9] = {
				{0, 0, 0, 0, 5, 6, 7, 8, 9},
				{1, 1, 2, 2, 0xfffffff0, 0x20, 7, 8, 9},
				{0x80000000, 1, 0x7fffffff, 0x80000000, 5, 6, 7, 8, 9},
				{0xffffffff, 0, 3, 2, 0x7fffffff, 1, 7, 8, 9},
				{7, 0x80000001, 0, 1, 5, 6, 7, 8, 9},
			};
			for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
				for (unsigned j = 0; j < sizeof(values) / sizeof(*values); j++)
					for (uint32_t flags = 0; flags < 16; flags++) {
						uint32_t sum = 0;

						memset(dump, 0, sizeof(dump));
						cases[i](FLAGS, values[j]);
						for (unsigned k = 0; k < 32; k++)
							if (k != POINTER)
								sum = sum * 33 + dump[k];
						printf("%u %u %u %x\n", i, j, flags, sum);
					}
			return 0;
		}
	END
}

exclusive_source()
{
	cat >atomic.c <<-'END'
		#include <pthread.h>
		#include <stdatomic.h>
		#include <stdio.h>
		static atomic_int number, highest;
		static int add_below(atomic_int *to, int limit)
		{
			int old = atomic_load(to);

			do {
				if (old >= limit)
					return 0;
			} while (!atomic_compare_exchange_weak(to, &old, old + 1));
			return 1;
		}
		static void *work(void *argument)
		{
			int old;

			for (int i = 0; i < 5000; i++) {
				atomic_fetch_add(&number, 1);
				add_below(&highest, 7000);
				old = 5;
				atomic_compare_exchange_strong(&highest, &old, 6);
			}
			return argument;
		}
		int main(void)
		{
			pthread_t threads[3];

			for (int i = 0; i < 3; i++)
				pthread_create(&threads[i], NULL, work, NULL);
			for (int i = 0; i < 3; i++)
				pthread_join(threads[i], NULL);
			printf("%d %d\n", number, highest);
			return 0;
		}
	END
}

behaviour()
{
	export LITIFUT_MODE=coverage
	calls_source
	case $cpu in
	# dump[3] of ARM is r1, an address
	arm) arm_source && flags='-DFLAGS=flags<<28 -DPOINTER=3' ;;
	*) mips_source && flags='-DFLAGS=flags%2 -DPOINTER=99' ;;
	esac
	for options in "" -no-pie; do
		# shellcheck disable=SC2086
		link program $options ../main.c ../cases.S || continue
		same_run program
		is "it comes to its end" "$(cat plain.status)" 0
		ok "all cases are patched" all_patched
		flags_equal_edges program
	done
	case $target in
	armhf* | mips*) # armel has no LITIFUT_MODE=paths
		LITIFUT_MODE=paths
		link ordered ../main.c ../cases.S || return
		same_run ordered
		is "in order: all cases are followed" "$(followed)" "$(sed -n '$=' list)"
		[ "$cpu" = arm ] || free_registers
		LITIFUT_MODE=coverage
		;;
	esac
	exclusive_source
	flags=
	link atomic ../atomic.c -pthread || return
	same_run atomic
	if [ "$target" != armel ]; then # its atomic operations are calls of the kernel
		ok "branches in exclusive sequences are left" exclusive_left
	fi
}

# But for those that the code around them does not let move.
all_patched()
{
	"$BUILD/bin/litifut" info --sites traced/program | awk '
		$2 == "branch" && $NF ~ /^case_/ { all++; if (/ patched /) patched++ }
		END { print patched, "of", all; exit patched < all * 0.95 || all < 40 }'
}

# How many cases have blocks in the path of the run.
followed()
{
	rm -rf data
	guest_environment="LITIFUT_DIR=$(pwd)/data"
	run traced ordered
	guest_environment=
	"$BUILD/bin/litifut-post" -q -f blocks data traced/ordered |
		grep -o 'case_[0-9]*' | sort -u | wc -l
}

exclusive_left()
{
	"$BUILD/bin/litifut" info --skipped traced/atomic | grep ' exclusive in '
}

for_targets behaviour
