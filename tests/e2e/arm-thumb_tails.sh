#!/bin/sh
# T32 tail calls that load the pc or move a register into it, as only hand-written
# code has them: each is recorded, or listed with the reason. Switches, computed
# gotos and returns of the same form are neither.
. "$(dirname "$0")/../lib.sh"
[ "$TARGETS" = "$all_targets" ] && TARGETS="armhf"

sources()
{
	cat >forms.S <<-'END'
		.syntax unified
		.arch armv7-a
		.thumb
		.text
		.macro function name
		.balign 4
		.globl \name
		.type \name, %function
		.thumb_func
		\name:
		.endm
		@ int tail(int x): ends in a call of `callee`, or of the A32 `plain`
		.macro tail name instructions:req
		function \name
		ldr r3, =callee
		ldr r2, =pointers
		mov r1, #1
		cmp r0, #2
		\instructions
		.size \name, . - \name
		.ltorg
		.endm
		tail t_mov "mov pc, r3"
		tail t_mov_condition "it eq; moveq pc, r3; mov r0, #66; bx lr"
		tail t_mov_bit_0 "bic r3, r3, #1; mov pc, r3" @ no change of state
		tail t_offset "ldr.w pc, [r2, #4]"
		tail t_negative "add r2, r2, #12; ldr.w pc, [r2, #-12]"
		tail t_register "ldr.w pc, [r2, r1, lsl #2]"
		tail t_condition "it eq; ldreq.w pc, [r2]; mov r0, #77; bx lr"
		function t_restored
		push {r4, lr}
		ldr r2, =pointers
		pop.w {r4, lr}
		ldr.w pc, [r2, #4]
		.size t_restored, . - t_restored
		.ltorg
		@ what would have to change r2 as well
		function t_writes_back
		push {r4, lr}
		ldr r2, =pointers
		pop.w {r4, lr}
		ldr.w pc, [r2], #4
		.size t_writes_back, . - t_writes_back
		.ltorg
		function t_multiple
		push {r4, lr}
		ldr r2, =pair
		pop.w {r4, lr}
		ldm.w r2, {r0, pc}
		.size t_multiple, . - t_multiple
		.ltorg
		function t_literal
		nop
		ldr.w pc, 1f
		nop
		.balign 4
		1: .word callee
		.size t_literal, . - t_literal
		function t_literal_before
		b 2f
		.balign 4
		1: .word plain
		2: ldr.w pc, 1b
		.size t_literal_before, . - t_literal_before
		@ a switch by a table of addresses, a computed goto, two kinds of returns
		function no_calls
		push {lr}
		cmp r0, #3
		bhi 9f
		adr r1, 1f
		ldr.w pc, [r1, r0, lsl #2]
		.balign 4
		1: .word 2f + 1, 3f + 1, 4f + 1, 5f + 1
		2: mov r0, #10
		pop {pc}
		3: adr r1, 6f
		mov pc, r1
		.balign 4
		6: mov r0, #20
		ldr.w pc, [sp], #4
		4: mov r0, #30
		ldm sp!, {pc}
		5: mov r0, #40
		9: pop {pc}
		.size no_calls, . - no_calls
		.arm
		.type plain, %function
		plain: add r0, r0, #5
		bx lr
		.size plain, . - plain
		.data
		pointers: .word callee, plain, callee
		pair: .word 9, callee
		.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		#define FORMS(X) X(t_mov) X(t_mov_condition) X(t_mov_bit_0) X(t_offset) X(t_negative) \
			X(t_register) X(t_condition) X(t_restored) X(t_writes_back) X(t_multiple) \
			X(t_literal) X(t_literal_before) X(no_calls)
		#define DECLARE(name) int name(int);
		FORMS(DECLARE)
		__attribute__((noipa)) int callee(int x) { return x * 3; }
		int main(void)
		{
		#define RUN(name) for (int i = 0; i < 4; i++) printf(#name " %d\n", name(i));
			FORMS(RUN)
			return 0;
		}
	END
}

# What was left, as instruction and reason.
left()
{
	"$BUILD/bin/litifut" info --sites "$1" |
		awk '$1 ~ /^0x/ && $5 != "patched" { print $4, $5 }' | sort | tr '\n' ' '
}

behaviour()
{
	sources
	# Far from 0, where no size or distance in some data of libc looks like the
	# address of an instruction.
	far=-Wl,-Ttext-segment=0x4000000
	for kind in "-no-pie -fno-pic $far" "-static -fno-pic $far" "-pie -fPIE -Wl,-z,notext"; do
		for engine in db thunk; do
			name=forms${kind%% *}-$engine
			flags=$kind
			export LITIFUT_ENGINE=$engine
			link "$name" ../main.c ../forms.S || continue
			same_run "$name"
			events_equal_calls "$name"
			case $kind in
			# a literal may be changed by a relocation
			-pie*) literals="f85ff008 special-form f8dff004 special-form " callees=14 plains=12 ;;
			*) literals="" callees=18 plains=16 ;;
			esac
			is "$name: what can't be done is listed, and nothing else" "$(left "traced/$name")" \
				"e8928001 special-form f852fb04 special-form $literals"
			is "$name: tail calls of each form" "$(recorded callee) $(recorded plain)" \
				"$callees $plains"
			is "$name: what is not a call is not an event" \
				"$(awk -F '\t' '$6 == "no_calls"' events.tsv | wc -l)" 0
		done
	done
	unset LITIFUT_ENGINE
}

for_targets behaviour
