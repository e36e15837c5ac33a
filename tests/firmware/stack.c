/* How deep the stack gets below a call that makes calls and branches, directly and through a
 * pointer: memory below the stack is painted first. In place of main.c of examples/firmware. */
#include "board.h"

#include <stdint.h>
#include <stdio.h>

#define WORDS 150
#define PAINT 0x5aa55aa5u

volatile unsigned sink;

__attribute__((noinline)) void odd(unsigned number)
{
	if (number & 2)
		sink += number;
	else
		sink = 0;
}

__attribute__((noinline)) void even(unsigned number)
{
	sink ^= number;
}

static void (*const ways[])(unsigned) = {even, odd};

__attribute__((noinline)) void work(void)
{
	for (unsigned i = 0; i < 1000; i++) {
		odd(i);
		ways[i & 1](i);
		if (sink & 64)
			even(i);
	}
}

__attribute__((noinline)) unsigned depth(void)
{
	volatile uint32_t *end;
	unsigned used = 0;

	__asm__ volatile("mov %0, sp" : "=r"(end));
	for (int i = 1; i <= WORDS; i++)
		end[-i] = PAINT;
	work();
	for (unsigned i = 1; i <= WORDS; i++)
		if (end[-(int)i] != PAINT)
			used = i;
	return 4 * used;
}

void SysTick_Handler(void)
{
}

int main(void)
{
	board_start_ticks(0xffffff); /* the clock runs, and no interrupt comes */
	printf("depth %u\n", depth());
	return 0;
}
