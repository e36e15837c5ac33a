#!/bin/sh
# Code around calls that is easily taken for something else: cases of a switch that
# begin with a call, by every kind of jump table; calls that end their function because
# the callee never returns, so that the return address lies in the next one; and
# hand-written code that branches into the midst of another function, which is not a call.
. "$(dirname "$0")/../lib.sh"
few_targets armhf armhf-arm mips

arm_source()
{
	cat >shapes.S <<-'END'
		.syntax unified
		.text
		.macro function name
		.globl \name
		.type \name, %function
		\name:
		.endm
		.macro ends name
		.ltorg
		.size \name, . - \name
		.endm
		@ each case begins with the call, which is what the table leads to
		.macro cases
		1: blx r4
		b 9f
		2: blx r5
		adds r0, #1
		b 9f
		3: blx r4
		adds r0, #2
		9: pop {r4, r5, r6, pc}
		.endm
		.macro begins
		push {r4, r5, r6, lr}
		mov r4, r1
		mov r5, r2
		mov r6, r0
		mov r0, #10
		cmp r6, #2
		bhi 9f
		.endm
		#ifdef __thumb2__
		.thumb
		.thumb_func
		function switch_bytes
		begins
		tbb [pc, r6]
		7: .byte (1f - 7b) / 2, (2f - 7b) / 2, (3f - 7b) / 2, 0
		cases
		ends switch_bytes
		.thumb_func
		function switch_words
		begins
		tbh [pc, r6, lsl #1]
		7: .short (1f - 7b) / 2, (2f - 7b) / 2, (3f - 7b) / 2
		cases
		ends switch_words
		.thumb_func
		function switch_distances
		begins
		adr r3, 7f
		ldr.w r6, [r3, r6, lsl #2]
		add r3, r6
		bx r3
		.balign 4
		7: .word 1f - 7b + 1, 2f - 7b + 1, 3f - 7b + 1
		cases
		ends switch_distances
		.thumb_func
		#else
		.arm
		function switch_bytes
		begins
		adr r3, 7f
		ldrb r6, [r3, r6]
		add pc, r3, r6
		7: .byte 1f - 7b, 2f - 7b, 3f - 7b, 0
		cases
		ends switch_bytes
		function switch_words
		begins
		ldr pc, [pc, r6, lsl #2]
		nop
		.word 1f, 2f, 3f
		cases
		ends switch_words
		function switch_distances
		begins
		add pc, pc, r6, lsl #2
		nop
		b 1f
		b 2f
		b 3f
		cases
		ends switch_distances
		#endif
		@ there must be some other code to make room for 16-bit calls
		function plenty
		.rept 200
		adds r0, #1
		.endr
		bx lr
		ends plenty
		#ifdef __thumb2__
		.thumb_func
		#endif
		function whole
		push {r4, lr}
		.Lpart:
		adds r0, #7
		bl leaf
		pop {r4, pc}
		ends whole
		#ifdef __thumb2__
		.thumb_func
		#endif
		function joins
		push {r4, lr}
		adds r0, #100
		b .Lpart
		ends joins
		.section .note.GNU-stack, "", %progbits
	END
}

mips_source()
{
	cat >shapes.S <<-'END'
		.set noreorder
		.option pic0
		.text
		.macro function name
		.globl \name
		.ent \name
		\name:
		.endm
		.macro ends name
		.end \name
		.size \name, . - \name
		.endm
		.macro begins
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		move $8, $4
		move $9, $5
		move $25, $6
		li $4, 10
		sltiu $2, $8, 3
		beqz $2, 9f
		li $2, 10
		sll $8, $8, 2
		lui $3, %hi(7f)
		addu $3, $3, $8
		lw $3, %lo(7f)($3)
		.endm
		.macro cases
		1: jalr $9
		nop
		b 9f
		nop
		2: jalr $25
		nop
		b 9f
		addiu $2, $2, 1
		3: jalr $9
		nop
		addiu $2, $2, 2
		9: lw $ra, 28($sp)
		jr $ra
		addiu $sp, $sp, 32
		.endm
		function switch_bytes
		begins
		jr $3
		nop
		cases
		ends switch_bytes
		.rdata
		7: .word 1b, 2b, 3b
		.text
		function switch_words
		begins
		jr $3
		nop
		7: .word 1f, 2f, 3f
		cases
		ends switch_words
		function switch_distances
		begins
		lui $8, %hi(8f)
		addiu $8, $8, %lo(8f)
		8: addu $3, $3, $8
		jr $3
		nop
		cases
		ends switch_distances
		.rdata
		7: .word 1b - 8b, 2b - 8b, 3b - 8b
		.text
		function whole
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		.Lpart:
		jal leaf
		addiu $4, $4, 7
		lw $ra, 28($sp)
		jr $ra
		addiu $sp, $sp, 32
		ends whole
		function joins
		addiu $sp, $sp, -32
		sw $ra, 28($sp)
		b .Lpart
		addiu $4, $4, 100
		ends joins
		.section .note.GNU-stack, "", @progbits
	END
}

behaviour()
{
	if [ "$cpu" = arm ]; then arm_source; else mips_source; fi
	cat >main.c <<-'END'
		#include <setjmp.h>
		#include <stdio.h>
		#define KEEP __attribute__((noipa))
		int switch_bytes(int, int (*)(int), int (*)(int));
		int switch_words(int, int (*)(int), int (*)(int));
		int switch_distances(int, int (*)(int), int (*)(int));
		int whole(int), joins(int);
		static jmp_buf place;
		KEEP int leaf(int x) { return x * 3; }
		KEEP int other(int x) { return x * 5; }
		KEEP __attribute__((noreturn)) void leaves(int x) { longjmp(place, x); }
		KEEP void ends_in_call(int x) { leaf(x); leaves(x + 1); }
		KEEP int follows(int x) { return leaf(x) + 1; }
		KEEP int compiled(int x, int (*a)(int), int (*b)(int))
		{
			switch (x) {
			case 0: return a(x) + 1;
			case 1: return b(x) + 2;
			case 2: return a(x + 3) * 3;
			case 3: return b(x + 4) - a(x);
			case 4: return a(b(x)) + 5;
			case 5: return 17 + b(x);
			case 6: return a(x) + b(x);
			default: return x;
			}
		}
		int main(void)
		{
			for (volatile int i = 0; i < 5; i++) {
				int value = setjmp(place);
				if (!value)
					ends_in_call(i);
				printf("%d %d\n", value, follows(i));
			}
			for (int i = 0; i < 8; i++)
				printf("%d %d %d %d\n", switch_bytes(i, leaf, other), switch_words(i, leaf, other),
				       switch_distances(i, leaf, other), compiled(i, leaf, other));
			printf("%d %d\n", whole(1), joins(2));
			return 0;
		}
	END
	for optimisation in -O0 -O2 -Os; do
		flags="$optimisation -fno-pic -no-pie"
		link "program$optimisation" ../main.c ../shapes.S || return
		same_run "program$optimisation"
		events_equal_calls "program$optimisation"
		is "program$optimisation: no call is left" \
			"$("$BUILD/bin/litifut" info --skipped "traced/program$optimisation" |
				awk '/^0x/ && $5 != "not-a-call"' | wc -l)" 0
		is "program$optimisation: each case makes its call, and the jump to it is none" \
			"$(awk -F '\t' '$6 ~ /^switch_/ { print $6, $10, $11 }' events.tsv | sort | uniq -c |
				awk '{ print $1, $2, $3, $4 }')" "$(cases)"
		is "program$optimisation: what joins another function makes no call" \
			"$(awk -F '\t' '$6 == "joins"' events.tsv | wc -l)" 0
	done
}

cases()
{
	for table in bytes distances words; do
		echo "2 switch_$table leaf call"
		echo "1 switch_$table other call"
	done
}

for_targets behaviour
