/* Two tasks with stacks of their own, which the tick switches: one sorts, the other one prints what
 * comes of it. `make PROGRAM=tasks' builds it in place of main.c. */
#include <stdio.h>
#include <stdlib.h>

#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define SHPR3 REGISTER(0xe000ed20)
#define ICSR REGISTER(0xe000ed04)

#define ROUNDS 4000
#define VALUES 24
#define STACK_WORDS 512

struct task {
	uint32_t *stack;
	const char *name;
	uint32_t words[STACK_WORDS];
};

static struct task sorter = {.name = "sorter"}, printer = {.name = "printer"};
struct task *volatile current_task = &printer;
static volatile unsigned sorted;
static volatile int smallest, largest;

uint32_t *next_task(uint32_t *stack);
void PendSV_Handler(void);

/* Called with the other registers of a task on its stack: gives that of the other one. */
__attribute__((noinline)) uint32_t *next_task(uint32_t *stack)
{
	current_task->stack = stack;
	current_task = current_task == &sorter ? &printer : &sorter;
	return current_task->stack;
}

/* As kernels do it, in instructions that each Cortex-M has. */
__attribute__((naked)) void PendSV_Handler(void)
{
	__asm__(".syntax unified\n\t"
		"mrs r0, psp\n\t"
		"subs r0, #32\n\t"
		"stmia r0!, {r4, r5, r6, r7}\n\t"
		"mov r4, r8\n\t"
		"mov r5, r9\n\t"
		"mov r6, r10\n\t"
		"mov r7, r11\n\t"
		"stmia r0!, {r4, r5, r6, r7}\n\t"
		"subs r0, #32\n\t"
		"push {r0, lr}\n\t"
		"bl next_task\n\t"
		"ldr r1, [sp, #4]\n\t"
		"mov lr, r1\n\t"
		"add sp, #8\n\t"
		"adds r0, #16\n\t"
		"ldmia r0!, {r4, r5, r6, r7}\n\t"
		"mov r8, r4\n\t"
		"mov r9, r5\n\t"
		"mov r10, r6\n\t"
		"mov r11, r7\n\t"
		"subs r0, #32\n\t"
		"ldmia r0!, {r4, r5, r6, r7}\n\t"
		"adds r0, #16\n\t"
		"msr psp, r0\n\t"
		"bx lr\n");
}

void SysTick_Handler(void)
{
	ICSR = 1u << 28; /* PendSV */
}

static int compare(const void *left, const void *right)
{
	const int a = *(const int *)left;
	const int b = *(const int *)right;

	return a < b ? -1 : a > b;
}

static void __attribute__((noinline)) sort(uint32_t seed)
{
	int values[VALUES];

	for (unsigned i = 0; i < VALUES; i++) {
		seed = seed * 1103515245u + 12345u;
		values[i] = (int)(seed >> 16 & 1023);
	}
	qsort(values, VALUES, sizeof(values[0]), compare);
	smallest = values[0];
	largest = values[VALUES - 1];
}

static void sort_often(void)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		sort(i);
		sorted = i + 1;
	}
	for (;;)
		;
}

static void __attribute__((noinline)) print_often(void)
{
	unsigned seen = 0;

	while (seen < ROUNDS) {
		const unsigned now = sorted;

		if (now / 1000 != seen / 1000)
			printf("%u sorted, the last one from %d to %d\n", now, smallest, largest);
		seen = now;
	}
}

int main(void)
{
	uint32_t *top = sorter.words + STACK_WORDS - 16;

	top[14] = (uint32_t)(uintptr_t)sort_often & ~1u; /* pc */
	top[15] = 1u << 24;                              /* xPSR: T32 code */
	sorter.stack = top;
	setvbuf(stdout, NULL, _IONBF, 0);
	SHPR3 = 0xc0ff0000; /* PendSV is of the lowest priority */
	board_start_ticks(2500);
	__asm__ volatile("msr psp, %0\n\t"
			 "movs r0, #2\n\t"
			 "msr control, r0\n\t"
			 "isb\n" ::"r"(printer.words + STACK_WORDS)
			 : "r0", "memory");
	print_often();
	board_stop_ticks();
	exit(0);
}
