/* Two tasks with stacks of their own, switched by PendSV whenever the timer says so, that call
 * and recurse; and calls that end by longjmp(). In place of main.c of
 * examples/firmware, with startup.c of this folder. */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

#include "board.h"
#include "pendsv.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define STACK_WORDS 512
#ifndef ROUNDS
#define ROUNDS 300
#define JUMPS 100
#endif

static uint32_t stacks[2][STACK_WORDS];
static uint32_t *saved[2];
static volatile unsigned current;
static volatile unsigned switches;
static volatile unsigned done;
static volatile uint32_t sums[2];
static jmp_buf back;

uint32_t *switch_task(uint32_t *stack)
{
	saved[current] = stack;
	current ^= 1;
	switches++;
	return saved[current];
}

static void __attribute__((noinline)) count_tick(void)
{
	REGISTER(0xe000ed04) = 1u << 28; /* PendSV */
}

void SysTick_Handler(void)
{
	count_tick();
	__asm__ volatile("");
}

static uint32_t __attribute__((noinline)) leaf(uint32_t value)
{
	for (volatile unsigned i = 0; i < 20; i++)
		value = value * 3 + 1;
	return value;
}

static uint32_t __attribute__((noinline)) work(uint32_t value, unsigned depth)
{
	uint32_t sum = leaf(value);

	if (depth)
		sum += work(value + 1, depth - 1);
	return sum + leaf(sum);
}

static uint32_t (*volatile const works[])(uint32_t, unsigned) = {work};

static uint32_t __attribute__((noinline)) do_all(unsigned task)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		sum += works[0](i + task, i % 6);
	return sum;
}

static void __attribute__((noinline)) jump(unsigned i)
{
	longjmp(back, (int)i);
}

static __attribute__((noinline)) void nest(unsigned i)
{
	if (i % 4 && !done)
		nest(i - 1);
	if (!done)
		jump(i + 1);
}

static void __attribute__((noinline)) jump_often(void)
{
	volatile unsigned i = 0;

	setjmp(back);
	if (i < JUMPS)
		nest(4 + i++ % 4);
}

static void second_task(void)
{
	sums[1] = do_all(1);
	done = 1;
	for (;;)
		;
}

static void __attribute__((noinline)) first_task(void)
{
	sums[0] = do_all(0);
	while (!done)
		;
	board_stop_ticks();
	for (unsigned i = 0; i < 2; i++)
		for (unsigned digit = 0; digit < 8; digit++)
			board_putc("0123456789abcdef"[sums[i] >> 4 * digit & 15]);
	board_putc(switches > 10 ? 'm' : 'f');
	board_putc('\n');
	exit(0);
}

int main(void)
{
	uint32_t *top = stacks[1] + STACK_WORDS - 16;

	jump_often();
	top[14] = (uint32_t)(uintptr_t)second_task & ~1u;
	top[15] = 1u << 24;
	saved[1] = top;
	REGISTER(0xe000ed20) = 0xc0ff0000; /* SHPR3: PendSV is lowest */
	board_start_ticks(TICK);
	__asm__ volatile("msr psp, %0\n"
			 "movs r0, #2\n"
			 "msr control, r0\n"
			 "isb\n" ::"r"(stacks[0] + STACK_WORDS)
			 : "r0", "memory");
	first_task();
	return 0;
}
