#!/bin/sh
# Code for ARMv4 to ARMv5. Calls spelled as `mov lr, pc` and a jump of any kind,
# helpers of the kernel with their result in the flags, and tail calls that load or
# calculate the pc: what can't be done is listed. Thumb-1 code: 16-bit calls, calls
# to a `bx rN`, and jumps spelled as calls.
. "$(dirname "$0")/../lib.sh"
[ "$TARGETS" = "$all_targets" ] && TARGETS="armhf armel"

sources()
{
	cat >forms.S <<-'END'
		.syntax unified
		.arch armv5te
		.arm
		.text
		.macro function name
		.globl \name
		.type \name, %function
		\name:
		.endm
		@ int form(int x): calls `callee` in its own way
		.macro form name instructions:req
		function \name
		push {r4, lr}
		ldr r3, =callee
		ldr r2, =pointer
		mov r1, #1
		cmp r0, #2
		\instructions
		pop {r4, pc}
		.ltorg
		.size \name, . - \name
		.endm
		.macro tail name instructions:req
		function \name
		ldr r3, =callee
		ldr r2, =pointer
		mov r1, #1
		cmp r0, #2
		\instructions
		.size \name, . - \name
		.ltorg
		.endm
		form f_bx "mov lr, pc; bx r3"
		form f_mov_pc "mov lr, pc; mov pc, r3"
		form f_bx_condition "mov lr, pc; bxeq r3"
		form f_both_conditions "moveq lr, pc; bxeq r3"
		form f_branch "mov lr, pc; b callee"
		form f_ldr "mov lr, pc; ldr pc, [r2]"
		form f_ldr_condition "mov lr, pc; ldrne pc, [r2]"
		form f_ldr_offset "add r2, r2, #0x80; mov lr, pc; ldr pc, [r2, #-0x80]"
		form f_ldr_register "mov lr, pc; ldr pc, [r2, r1, lsl #2]"
		form f_ldr_literal "mov lr, pc; ldr pc, 1f; b 2f; 1: .word callee; 2:"
		form f_ldr_writes_back "mov lr, pc; ldr pc, [r2], #4"
		form f_ldm "mov lr, pc; ldm r2, {r2, pc}"
		form f_add "sub r3, r3, #0x3fc; mov lr, pc; add pc, r3, #0x3fc"
		form f_sub "add r3, r3, #0xff0; mov lr, pc; sub pc, r3, #0xff0"
		form f_sub_register "mov r1, #8; add r3, r3, #16; mov lr, pc; sub pc, r3, r1, lsl #1"
		form f_not_adjacent "add lr, pc, #4; mov r1, #9; bx r3; nop"
		tail t_mov_pc "mov pc, r3"
		tail t_ldr "ldr pc, [r2]"
		tail t_ldr_register "ldr pc, [r2, r1, lsl #2]"
		tail t_ldr_condition "ldreq pc, [r2]; mov r0, #77; bx lr"
		tail t_ldr_writes_back "ldr pc, [r2], #4"
		tail t_ldm "ldm r2, {r2, pc}"
		tail t_sub "ldr r3, =callee + 0xff0; sub pc, r3, #0xff0"
		tail t_literal "ldr pc, 1f; 1: .word callee"
		function t_restored
		push {r4, lr}
		ldr r2, =pointer
		pop {r4, lr}
		ldr pc, [r2]
		.size t_restored, . - t_restored
		@ is copied elsewhere, with another constant, and executed there
		function template
		ldr pc, [pc, #-4]
		.word 0
		.size template, . - template
		@ what is not a call: two switches, a threaded jump, a read of the pc
		function no_calls
		cmp r0, #3
		ldrls pc, [pc, r0, lsl #2]
		b 5f
		.word 1f, 2f, 3f, 4f
		1: adr r1, 3f
		mov pc, r1
		2: mov r0, #20
		bx lr
		3: mov r0, #30
		bx lr
		4: adr r1, 6f
		ldr pc, [r1], #4
		6: .word 7f
		7: mov r1, #0
		addls pc, pc, r1, lsl #2
		nop
		5: mov lr, lr
		mov r0, #40
		bx lr
		.size no_calls, . - no_calls
		@ int compare_and_swap(int old, int new, int *word): the kernel's helper
		function compare_and_swap
		push {r4, lr}
		mvn r3, #0xf000
		mov lr, pc
		sub pc, r3, #63
		mov r0, #0
		movcs r0, #1
		pop {r4, pc}
		.size compare_and_swap, . - compare_and_swap
		function thread_pointer
		mvn r0, #0xf000
		sub pc, r0, #31
		.size thread_pointer, . - thread_pointer
		@ someone jumps to the second half of a call, with a lr of his own
		function shared_half
		push {r4, lr}
		ldr r3, =callee
		cmp r0, #1
		adr lr, 2f
		beq 1f
		mov lr, pc
		1: bx r3
		add r0, r0, #100
		2: pop {r4, pc}
		.ltorg
		.size shared_half, . - shared_half
		.data
		.globl pointer
		pointer: .word callee, callee
		.section .note.GNU-stack, "", %progbits
	END
	cat >main.c <<-'END'
		#include <stdio.h>
		#include <string.h>
		#include <sys/mman.h>
		#define FORMS(X) X(f_bx) X(f_mov_pc) X(f_bx_condition) X(f_both_conditions) X(f_branch) \
			X(f_ldr) X(f_ldr_condition) X(f_ldr_offset) X(f_ldr_register) X(f_ldr_literal) \
			X(f_ldr_writes_back) X(f_ldm) X(f_add) X(f_sub) X(f_sub_register) X(f_not_adjacent) \
			X(t_mov_pc) X(t_ldr) X(t_ldr_register) X(t_ldr_condition) X(t_ldr_writes_back) X(t_ldm) X(t_sub) X(t_literal) \
			X(t_restored) X(shared_half) X(no_calls)
		#define DECLARE(name) int name(int);
		FORMS(DECLARE)
		int compare_and_swap(int, int, int *);
		void *thread_pointer(void);
		extern const char template[8];
		__attribute__((noipa)) int callee(int x) { return x * 3; }
		int main(void)
		{
			int word = 5, swapped[2], (*leads_to)(int) = callee;
			char *copy = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			memcpy(copy, template, 4);
			memcpy(copy + 4, &leads_to, 4);
			__builtin___clear_cache(copy, copy + 8);
			printf("template %d\n", ((int (*)(int))copy)(14));
		#define RUN(name) for (int i = 1; i < 4; i++) printf(#name " %d\n", name(i));
			FORMS(RUN)
			swapped[0] = compare_and_swap(5, 6, &word);
			swapped[1] = compare_and_swap(5, 7, &word);
			printf("%d %d %d\n", swapped[0], swapped[1], word);
			return thread_pointer() != __builtin_thread_pointer();
		}
	END
	cat >compiled.c <<-'END'
		#include <stdio.h>
		#include <stdlib.h>
		#define KEEP __attribute__((noipa))
		struct object { int (*method)(struct object *, int); int value; };
		static KEEP int leaf(int x) { return x + 1; }
		static KEEP int method(struct object *object, int x) { return leaf(object->value) + x; }
		static KEEP int apply(int (*function)(int), int x) { return function(x) + function(x + 1); }
		static KEEP int through(struct object *object, int x) { return object->method(object, x) * 2; }
		static KEEP int passes(struct object *object, int x) { return object->method(object, x); }
		static KEEP int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
		static KEEP int choose(int x)
		{
			switch (x) {
			case 0: return leaf(1);
			case 1: return leaf(10) + 1;
			case 2: return leaf(20) + 2;
			case 3: return leaf(30) + 3;
			case 4: return leaf(40) + 4;
			default: return x;
			}
		}
		static KEEP int recurse(int n) { return n ? recurse(n - 1) + leaf(n) : 0; }
		#define TEN(x) x x x x x x x x x x
		static KEEP int large(int x) /* its ends are too far apart for a short branch */
		{
			volatile int v = x;
			for (int i = 0; i < 3; i++) {
				if (v & 1) {
					TEN(TEN(v = v * 3 + i; v ^= i;)) TEN(TEN(v = v * 3 + i;))
				} else if (leaf(v) & 2) {
					TEN(TEN(v = v + 2 * i; v ^= 5;)) TEN(TEN(v ^= 5;))
				}
				v += leaf(v) & 3;
			}
			return v;
		}
		int main(void)
		{
			struct object object = {method, 4};
			int numbers[] = {5, 3, 9, 1};
			qsort(numbers, 4, sizeof(int), compare);
			printf("%d %d %d %d\n", numbers[0], apply(leaf, 3), through(&object, 1), passes(&object, 2));
			for (int i = 0; i < 6; i++)
				printf("%d %d\n", choose(i), large(i));
			printf("%d %lld %g\n", recurse(5), 1000000007LL / (numbers[0] + 2), 2.5 / numbers[1]);
			return 0;
		}
	END
}

# What stands before a 16-bit call; r1 points to memory, r4 to the callee, other
# registers hold numbers of their own. The last two can't be done elsewhere.
thumb1_forms='movs r0, r2
mov r8, r2
mov r2, r8
mov r3, pc
add r3, pc
adr r3, 3f
ldr r3, 3f
adds r2, #1
subs r2, r3
cmp r8, r2
movs r3, #0
add r8, r2
ldr r3, [r1]
str r2, [r1]
stmia r1!, {r2, r3}
add r0, sp, #4
mov r3, lr
beq 4f'

thumb1_cases()
{
	echo '.syntax unified; .arch armv5te; .text; .arm; .type capture, %function'
	echo 'capture: push {r0-r12, lr}; mrs r0, cpsr; push {r0, r1}; mov r0, sp; bl record'
	echo 'pop {r0, r1}; msr cpsr_f, r0; pop {r0-r12, lr}; bx lr; .size capture, . - capture'
	number=0
	echo "$thumb1_forms" | while read -r form; do
		cat <<-END_OF_CASE
			.thumb; .balign 4; .thumb_func; .type case$number, %function
			case$number: push {r4-r7, lr}; mov r6, r8; sub sp, #8; ldr r4, =capture
			ldr r1, =scratch; movs r0, #0; ldr r2, =0x12345678; ldr r3, =0x9abcdef0
			ldr r5, =0x55555555; mov r8, r5; mov r12, r2; adr r7, 3f; mov lr, r7
			cmp r5, r2
			$form
			blx r4
			5: nop; nop
			4: add sp, #8; mov r8, r6; movs r0, r2; pop {r4-r7, pc}
			.balign 4
			3: .word 0x13579bdf
			.ltorg
			.size case$number, . - case$number
			.section .data.table, "aw"; .word case$number; .text
		END_OF_CASE
		number=$((number + 1))
	done
	cat <<-'END_OF_FILE'
		.data; .balign 8; .global scratch; scratch: .space 64
		.section .data.table, "aw"; .word 0
		.section .note.GNU-stack, "", %progbits
	END_OF_FILE
}

thumb1_main()
{
	cat <<-'END_OF_FILE'
		#include <stdint.h>
		#include <stdio.h>
		extern uint32_t table[];
		extern uint8_t scratch[64];
		static uint32_t now;
		static void show(uint32_t value, uint32_t stack)
		{
			if (value - (now & ~1u) < 256)
				printf(" case+%u", value - (now & ~1u));
			else if (value - 0x9abcdef0 - (now & ~1u) < 256)
				printf(" 9abcdef0+case+%u", value - 0x9abcdef0 - (now & ~1u));
			else if (value - (uint32_t)scratch < 64)
				printf(" scratch+%u", value - (uint32_t)scratch);
			else if (value - stack < 1024)
				printf(" stack+%u", value - stack);
			else
				printf(" %x", value);
		}
		void record(const uint32_t *saved)
		{
			static const int shown[] = {2, 3, 4, 5, 7, 10, 14, 15};
			printf("flags %x", saved[0] >> 27);
			for (int i = 0; i < 8; i++)
				show(saved[shown[i]], (uint32_t)saved);
			printf(" %x %x\n", *(uint32_t *)scratch, *(uint32_t *)(scratch + 4));
		}
		int main(void)
		{
			for (int i = 0; table[i]; i++) {
				for (int j = 0; j < 64; j++)
					scratch[j] = (uint8_t)(j * 7 + 1);
				now = table[i];
				printf("%d: ", i);
				((void (*)(void))now)();
			}
			return 0;
		}
	END_OF_FILE
}

# What stands before a 16-bit call of Thumb-1 code is moved along.
thumb1()
{
	thumb1_cases >cases.s
	sed -i '0,/\.section \.data\.table/s//.section .data.table, "aw"; .global table; table: .text\n&/' cases.s
	thumb1_main >thumb1.c
	flags="-no-pie -marm -march=armv5te"
	link thumb1 ../thumb1.c ../cases.s || return
	same_run thumb1
	events_equal_calls thumb1
	is "thumb1: the calls that can't be moved are listed" "$("$BUILD/bin/litifut" info --sites \
		traced/thumb1 | grep -c '^0x.* branch-target ')" 2
	is "thumb1: the others are recorded" "$(recorded capture)" 16
}

behaviour()
{
	sources
	for kind in -no-pie -static; do
		# Far from 0, where no size or distance in some data of libc looks like
		# the address of an instruction.
		flags="$kind -fno-pic -marm -Wl,-Ttext-segment=0x4000000"
		link "forms$kind" ../main.c ../forms.S || return
		same_run "forms$kind"
		events_equal_calls "forms$kind"
		"$BUILD/bin/litifut" info --sites "traced/forms$kind" >sites
		multiple="e8928004 special-form e8928004 special-form "
		is "forms$kind: what can't be done is listed, and nothing else" \
			"$(awk '$1 ~ /^0x/ && $5 != "patched" { print $4, $5 }' sites | sort | tr '\n' ' ')" \
			"e492f004 special-form e492f004 special-form e51ff004 special-form $multiple"
		is "forms$kind: what is not a call is not an event" \
			"$(awk -F '\t' '$6 == "no_calls"' events.tsv | wc -l)" 0
		is "forms$kind: calls of each form" "$(recorded callee)" 59
	done

	[ "$target" = armel ] || return
	thumb1
	for code in "-march=armv4t -marm" "-march=armv4t -mthumb" "-march=armv5te -mthumb"; do
		for kind in "-fno-pic -no-pie" "-fPIE -pie"; do
			flags="$code $kind"
			name=$(echo "compiled$code$kind" | tr -d ' =')
			link "$name" ../compiled.c || continue
			same_run "$name"
			events_equal_calls "$name"
			"$BUILD/bin/litifut" info --skipped "traced/$name" | grep ^0x >skipped
			is "$name: no call is left" "$(grep -cv not-a-call skipped)" 0
			case $code in *mthumb)
				ok "$name: jumps by bl are not calls" grep -q not-a-call skipped
				;;
			esac
		done
	done
}

for_targets behaviour
