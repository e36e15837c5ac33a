/* Calls that need all registers: direct ones, through a pointer, at a label, and a tail call, by
 * code in assembly that has a value in each register when it calls and another one when it returns.
 * In place of main.c of examples/firmware. */
#include <stdint.h>
#include <stdio.h>

#include "board.h"

#define REGISTERS 13
#define ROUNDS 40

/* What the two macros below have left: flags, r8 to r12, sp, r0 to r7. */
uint32_t at_callee[15], at_return[15];

__asm__(".syntax unified\n"
	"	.thumb\n"
	"	.macro take place\n"
	"	push {r0, r1, r2, r3, r4, r5, r6, r7}\n"
	"	mrs r0, APSR\n"
	"	mov r1, r8\n"
	"	mov r2, r9\n"
	"	mov r3, r10\n"
	"	mov r4, r11\n"
	"	mov r5, r12\n"
	"	mov r6, sp\n"
	"	push {r0, r1, r2, r3, r4, r5, r6}\n"
	"	movs r1, #56\n"
	"	ldr r2, =\\place\n"
	"1:	mov r0, sp\n"
	"	ldr r0, [r0, r1]\n"
	"	str r0, [r2, r1]\n"
	"	subs r1, #4\n"
	"	bpl 1b\n"
	"	add sp, #60\n"
	"	.endm\n"
	"	.macro give seed, flags\n"
	"	ldr r0, =\\flags\n"
	"	msr APSR_nzcvq, r0\n"
	"	ldr r0, =\\seed + 8\n"
	"	mov r8, r0\n"
	"	ldr r0, =\\seed + 9\n"
	"	mov r9, r0\n"
	"	ldr r0, =\\seed + 10\n"
	"	mov r10, r0\n"
	"	ldr r0, =\\seed + 11\n"
	"	mov r11, r0\n"
	"	ldr r0, =\\seed + 12\n"
	"	mov r12, r0\n"
	"	.irp number, 0, 1, 2, 3, 4, 5, 6, 7\n"
	"	ldr r\\number, =\\seed + \\number\n"
	"	.endr\n"
	"	.endm\n"
	"	.macro way name, instruction, operand, label\n"
	"	.global \\name\n"
	"	.type \\name, %function\n"
	"	.thumb_func\n"
	"\\name:\n"
	"	push {r4, r5, r6, r7, lr}\n"
	"	mov r4, r8\n"
	"	mov r5, r9\n"
	"	mov r6, r10\n"
	"	mov r7, r11\n"
	"	push {r4, r5, r6, r7}\n"
	"	give 0x51000000, 0x50000000\n"
	"	ldr r3, =callee\n"
	"	.ifnb \\label\n"
	"	b \\label\n"
	"	nop\n"
	"	\\label:\n"
	"	.endif\n"
	"	\\instruction \\operand\n"
	"	take at_return\n"
	"	pop {r4, r5, r6, r7}\n"
	"	mov r8, r4\n"
	"	mov r9, r5\n"
	"	mov r10, r6\n"
	"	mov r11, r7\n"
	"	pop {r4, r5, r6, r7, pc}\n"
	"	.pool\n"
	"	.size \\name, . - \\name\n"
	"	.endm\n"
	"	.text\n"
	"	.global callee, passes_on\n"
	"	.type callee, %function\n"
	"	.thumb_func\n"
	"callee:\n"
	"	take at_callee\n"
	"	give 0x62000000, 0xa0000000\n"
	"	bx lr\n"
	"	.pool\n"
	"	.size callee, . - callee\n"
	"	.type passes_on, %function\n"
	"	.thumb_func\n"
	"passes_on:\n"
	"	nop\n"
	"	nop\n"
	"	b callee\n"
	"	.size passes_on, . - passes_on\n"
	"	way direct, bl, callee\n"
	"	way by_pointer, blx, r3\n"
	"	way at_label, blx, r3, called_here\n"
	"	way by_tail, bl, passes_on\n");

void callee(void);
void direct(void);
void by_pointer(void);
void at_label(void);
void by_tail(void);

void SysTick_Handler(void)
{
}

static uint32_t of_register(const uint32_t *taken, unsigned number)
{
	return number < 8 ? taken[7 + number] : taken[1 + number - 8];
}

static unsigned compare(const char *way, const char *where, const uint32_t *taken, uint32_t seed,
			uint32_t third)
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < REGISTERS; i++) {
		uint32_t value = of_register(taken, i);

		if (value == (i == 3 ? third : seed + i))
			continue;
		wrong++;
		printf("%s, %s: r%u is %lx\n", way, where, i, (unsigned long)value);
	}
	return wrong;
}

static unsigned check(const char *way, void call(void))
{
	unsigned wrong = 0;

	for (unsigned i = 0; i < ROUNDS && !wrong; i++) {
		call();
		wrong += compare(way, "called", at_callee, 0x51000000, (uint32_t)(uintptr_t)callee);
		wrong += compare(way, "back", at_return, 0x62000000, 0x62000003);
		if (at_return[0] >> 28 != 0xa || at_callee[6] != at_return[6]) {
			printf("%s: flags %lx, sp %lx and %lx\n", way, (unsigned long)at_return[0],
			       (unsigned long)at_callee[6], (unsigned long)at_return[6]);
			wrong++;
		}
	}
	return wrong;
}

int main(void)
{
	unsigned wrong = check("direct", direct) + check("by pointer", by_pointer) +
			 check("at label", at_label) + check("by tail", by_tail);

	printf("%u wrong\n", wrong);
	return 0;
}
