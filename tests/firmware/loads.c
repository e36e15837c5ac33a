/* Loads of constants from beside the code, right before calls through a register and at the begin
 * of blocks, where they have to move to make room for a patch: pairs, words into high registers,
 * and floating-point registers where the CPU has them. In place of main.c of examples/firmware.
 * Prints a line for each that went wrong, and how many were right. */
#include <stdint.h>
#include <stdio.h>

#include "board.h"

#define FIRST 0x12345678
#define SECOND 0x9abcdef0

void take_registers(void);
void load_pair_call(void (*callee)(void));
void load_high_pair_call(void (*callee)(void));
void load_high_word_call(void (*callee)(void));
void load_pair_block(unsigned count);
/* what a load has left in r0 to r12 */
uint32_t taken[13];

static unsigned right;

/* Keeps all of them, too. Literals stand behind each function, at a multiple of 4. */
__asm__(".syntax unified\n"
	"	.text\n"
	"	.thumb_func\n"
	"	.type take_registers, %function\n"
	"take_registers:\n"
	"	push {r0, r1}\n"
	"	ldr r0, =taken + 8\n"
	"	stmia r0, {r2-r12}\n"
	"	pop {r1, r2}\n"
	"	subs r0, #8\n"
	"	stmia r0!, {r1, r2}\n"
	"	bx lr\n"
	"	.pool\n"
	"	.size take_registers, . - take_registers\n"

	".macro load name, by:vararg\n"
	"	.balign 4\n"
	"	.thumb_func\n"
	"	.type \\name, %function\n"
	"\\name:\n"
	"	push {r4-r11, lr}\n"
	"	mov r3, r0\n"
	"	movs r0, #10\n"
	"	movs r1, #11\n"
	"	movs r2, #12\n"
	"	\\by\n"
	"	blx r3\n"
	"	pop {r4-r11, pc}\n"
	"	.balign 4\n"
	"9:	.word 0x12345678, 0x9abcdef0\n"
	"	.size \\name, . - \\name\n"
	".endm\n"
	"	load load_pair_call, ldrd r0, r1, 9f\n"
	"	load load_high_pair_call, ldrd r8, r11, 9f\n"
	"	load load_high_word_call, ldr r9, 9f\n"

	/* the block at 1 begins with the load, and is entered from two places */
	".macro load_block name, by:vararg\n"
	"	.balign 4\n"
	"	.thumb_func\n"
	"	.type \\name, %function\n"
	"\\name:\n"
	"	push {r4, lr}\n"
	"	mov r4, r0\n"
	"	cmp r4, #3\n"
	"	beq 1f\n"
	"	bl take_registers\n"
	"1:	\\by\n"
	"	movs r2, #12\n"
	"	bl take_registers\n"
	"	subs r4, #1\n"
	"	bne 1b\n"
	"	pop {r4, pc}\n"
	"	.balign 4\n"
	"9:	.word 0x12345678, 0x9abcdef0\n"
	"	.size \\name, . - \\name\n"
	".endm\n"
	"	load_block load_pair_block, ldrd r0, r1, 9f\n");

static void expect(const char *name, unsigned number, uint32_t value)
{
	if (taken[number] == value)
		right++;
	else
		printf("%s: r%u is %lx\n", name, number, (unsigned long)taken[number]);
	taken[number] = 0;
}

#ifdef __ARM_FP
void load_single_call(void (*callee)(void));
void load_odd_single_call(void (*callee)(void));
void load_double_call(void (*callee)(void));
void load_single_block(unsigned count);

__asm__("	load load_single_call, vldr s0, 9f\n"
	"	load load_odd_single_call, vldr s15, 9f\n"
	"	load load_double_call, vldr d3, 9f\n"
	"	load_block load_single_block, vldr s2, 9f\n");

static void expect_single(const char *name, uint32_t value, uint32_t expected)
{
	if (value == expected)
		right++;
	else
		printf("%s: is %lx\n", name, (unsigned long)value);
}

static void floating(void (*volatile callee)(void))
{
	uint32_t value, upper;

	load_single_call(callee);
	__asm__ volatile("vmov %0, s0" : "=r"(value));
	expect_single("single", value, FIRST);
	expect("single", 0, 10);
	expect("single", 1, 11);
	load_odd_single_call(callee);
	__asm__ volatile("vmov %0, s15" : "=r"(value));
	expect_single("odd single", value, FIRST);
	load_double_call(callee);
	__asm__ volatile("vmov %0, %1, d3" : "=r"(value), "=r"(upper));
	expect_single("double", value, FIRST);
	expect_single("double", upper, SECOND);
	load_single_block(3);
	__asm__ volatile("vmov %0, s2" : "=r"(value));
	expect_single("single at a block", value, FIRST);
	load_single_block(2);
	expect("single at a block", 4, 1);
}
#else
static void floating(void (*volatile callee)(void))
{
	(void)callee;
}
#endif

void SysTick_Handler(void)
{
}

int main(void)
{
	void (*volatile callee)(void) = take_registers;

	load_pair_call(callee);
	expect("pair", 0, FIRST);
	expect("pair", 1, SECOND);
	expect("pair", 2, 12);
	load_high_pair_call(callee);
	expect("high pair", 0, 10);
	expect("high pair", 1, 11);
	expect("high pair", 8, FIRST);
	expect("high pair", 11, SECOND);
	load_high_word_call(callee);
	expect("high word", 1, 11);
	expect("high word", 9, FIRST);
	for (unsigned count = 2; count < 4; count++) {
		load_pair_block(count);
		expect("pair at a block", 0, FIRST);
		expect("pair at a block", 1, SECOND);
		expect("pair at a block", 4, 1);
	}
	floating(callee);
	printf("%u right\n", right);
	return 0;
}
