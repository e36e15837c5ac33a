#!/bin/sh
# Every form of instruction that is moved to make room for a 16-bit call, `blx lr`
# among them, or tail call: the callee sees the same registers, flags and return
# address as without.
TARGETS=${TARGETS:-armhf}
. "$(dirname "$0")/../lib.sh"

# What stands before the call; r1 points to memory, r4 to the callee, r0 is 0,
# other registers hold numbers of their own. `|` parts instructions.
forms='mov r0, r2
mov r8, r2
mov r2, r8
mov r3, pc
mov r9, pc
add r3, pc
add r9, pc
add sp, #0
adr r3, 3f
adr.w r9, 3f
adr.w r9, 2b
ldr r3, 3f
ldr.w r9, 3f
ldr.w r9, 2b
ldrd r2, r3, 3f
vldr s0, 3f
vldr d0, 3f
adds r2, #1
subs r2, r3
cmp r2, r3
cmp r8, r9
movs r3, #0
movw r3, #0x1234
movt r3, #0x1234
ldr r3, [r1]
ldr.w r9, [r1, #4]
ldrd r2, r3, [r1]
ldrb r3, [r1, #1]
str r2, [r1]
strd r2, r3, [r1, #8]
stmia r1!, {r2, r3}
ldmia r1!, {r2, r3}
ldmia.w r1, {r2, r3, r9}
uxtb r2, r3
clz r3, r2
mul r3, r2
umull r2, r3, r8, r9
vldr s0, [r1]
vmov s1, r2
vadd.f32 s2, s0, s1
mrs r3, apsr
rev r3, r2
dmb sy
it eq | moveq r3, r2
ite eq | moveq r3, r2 | movne r8, r2
itt ne | movne r3, r2 | movne r8, r2
cbz r0, 4f
cbnz r0, 4f
cbz r2, 4f
beq 4f
bne 4f
bhi.w 4f
ble.w 4f
nop
nop.w'

write_cases()
{
	echo '.syntax unified; .arch armv7-a; .fpu neon; .thumb; .text'
	number=0
	echo "$forms" | while read -r form; do
		for call in 'blx r4' "b.n near" 'bx r4' 'blx lr'; do
			[ "$call" = 'b.n near' ] && call="b.n near$number"
			link='ldr.w lr, =5f + 1'
			[ "$call" = 'blx lr' ] && link='mov lr, r4; nop'
			cat <<-END_OF_CASE
				.balign 4; .type case$number, %function
				case$number: push {r3-r11, lr}; mov r4, r0; sub sp, #8
				ldr r1, =scratch; movs r0, #0; msr apsr_nzcvqg, r0; ldr r2, =0x12345678; ldr r3, =0x9abcdef0
				ldr r5, =0x55555555; ldr r6, =case$number; mov r8, r5; mov r9, r3
				mov r10, r2; mov r11, r5; mov r12, r6; vmov d0, r5, r5; b 1f
				.balign 4
				2: .word 0x2468ace0
				1: $link; cmp r5, r2; nop; nop
				$(echo "$form" | tr '|' ';')
				$call
				5: nop; nop
				4: add sp, #8; mov r0, r2; pop {r3-r11, pc}
				.balign 4
				3: .word 0x13579bdf, 0x02468ace
				.ltorg
				.size case$number, . - case$number
				.type near$number, %function
				near$number: b.w capture
				.size near$number, . - near$number
				.section .data.table, "aw"; .word case$number; .text
			END_OF_CASE
			number=$((number + 1))
		done
	done
	cat <<-'END_OF_FILE'
		.type capture, %function; .global capture
		capture: push {r0-r12, lr}; mrs r0, apsr; vmov r1, r2, d0; push {r0-r3}; mov r0, sp; bl record
		pop {r0-r3}; msr apsr_nzcvq, r0; pop {r0-r12, lr}; bx lr
		.size capture, . - capture
		.section .data.table, "aw"; .word 0
		.data; .balign 8; .global scratch; scratch: .space 64
		.section .note.GNU-stack, "", %progbits
	END_OF_FILE
}

# Addresses differ between two links: they are printed as distances.
write_main()
{
	cat <<-'END_OF_FILE'
		#include <stdint.h>
		#include <stdio.h>
		extern uint32_t table[];
		extern uint8_t scratch[64];
		void capture(void);
		static uint32_t now;
		static void show(uint32_t value)
		{
			static const uint32_t added[] = { 0, 0x9abcdef0 };
			for (int i = 0; i < 2; i++)
				if (value - added[i] - (now & ~1u) < 256) {
					printf(" %x+case+%u", added[i], value - added[i] - (now & ~1u));
					return;
				}
			if (value - (uint32_t)scratch < 64)
				printf(" scratch+%u", value - (uint32_t)scratch);
			else if (value == (uint32_t)capture)
				printf(" capture");
			else
				printf(" %x", value);
		}
		void record(const uint32_t *saved)
		{
			printf("flags %x d0 %x %x", saved[0] >> 27, saved[1], saved[2]);
			for (int i = 4; i < 18; i++)
				show(saved[i]);
			printf("\n");
		}
		int main(void)
		{
			for (int i = 0; table[i]; i++) {
				for (int j = 0; j < 64; j++)
					scratch[j] = (uint8_t)(j * 7 + 1);
				now = table[i];
				printf("%d:\n", i);
				((void (*)(void (*)(void)))now)(capture);
				for (int j = 0; j < 64; j++)
					printf("%x", scratch[j]);
				printf("\n");
			}
			return 0;
		}
	END_OF_FILE
}

# Calls with the condition of an IT block of their own, and no code around them that could be moved: jumps
# to the next instruction have a length, but no place of their own.
write_alone()
{
	echo '.syntax unified; .arch armv7-a; .thumb; .text'
	echo '.macro stay; b 99f; 99:; .endm; .macro wall; .rept 1100; stay; .endr; .endm'
	number=0
	echo wall
	for condition in eq ne cs mi hi lt le; do
		for call in "blx$condition r4" "bx$condition r4" "mov lr, r4 | blx$condition lr"; do
			cat <<-END_OF_CASE
				.type alone$number, %function; .global alone$number
				alone$number: push {r4, lr}; stay; mov r4, r1; stay; msr apsr_nzcvq, r0; stay
				$(case $call in *\|*) echo "${call%|*}; stay" ;; bx*) echo "ldr.w lr, =.Lback$number + 1; stay" ;; esac)
				it $condition; ${call#*|}
				.Lback$number: stay; pop {r4, pc}
				.ltorg; .size alone$number, . - alone$number
				.section .data.alone, "aw"; .word alone$number; .text
			END_OF_CASE
			number=$((number + 1))
		done
	done
	printf 'wall\n.section .note.GNU-stack, "", %%progbits\n'
}

behaviour()
{
	write_alone >alone.s
	sed -i '0,/\.section \.data\.alone/s//.section .data.alone, "aw"; .global alone; alone: .text\n&/' alone.s
	cat >once.c <<-'END'
		#include <stdio.h>
		extern int (*alone[21])(unsigned flags, int (*callee)(void));
		static int calls;
		static int callee(void) { return ++calls; }
		int main(void)
		{
			for (int i = 0; i < 21; i++)
				for (unsigned flags = 0; flags < 16; flags++)
					alone[i](flags << 28, callee);
			printf("%d\n", calls);
			return 0;
		}
	END
	flags="-no-pie -mthumb -march=armv7-a -mfpu=neon"
	link once ../once.c ../alone.s && same_run once && events_equal_calls once
	is "no call alone in an IT block is left" "$("$BUILD/bin/litifut" info --sites traced/once |
		grep -c 'branch-target\|too-short\|out-of-reach\|special')" 0
	rm -f traced/once plain/once
	write_cases >cases.s
	sed -i '0,/\.section \.data\.table/s//.section .data.table, "aw"; .global table; table: .text\n&/' cases.s
	write_main >main.c
	flags="-no-pie -mthumb -march=armv7-a -mfpu=neon"
	link program ../main.c ../cases.s || return
	same_run program
	events_equal_calls program
	is "no call is left" "$("$BUILD/bin/litifut" info --sites traced/program |
		grep -c 'branch-target\|too-short\|out-of-reach\|special')" 0
	ok "the cases ran" test "$(grep -c flags traced.out)" -gt 150
}
for_targets behaviour
