/* Interrupts that come at each possible moment, in two levels, and call what the main program
 * calls. In place of main.c and startup.c of examples/firmware. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

extern uint32_t __data_start, __data_end, __data_load, __bss_start, __bss_end, __stack;
extern void __libc_init_array(void);
int main(void);

static volatile uint32_t shared;
static volatile uint32_t ticks;
static volatile uint32_t inner;

static void __attribute__((noinline)) bump(uint32_t by)
{
	shared += by;
}

static void __attribute__((noinline)) first(uint32_t by)
{
	bump(by);
}

static void __attribute__((noinline)) second(uint32_t by)
{
	bump(by + 1);
}

static void (*volatile const pointers[])(uint32_t) = {first, second};

static void __attribute__((noinline)) through(uint32_t i)
{
	pointers[i & 1](i);
	bump(i);
}

/* The higher level, from inside of the lower one. */
void Inner_Handler(void)
{
	inner++;
	through(inner);
}

void SysTick_Handler(void)
{
	ticks++;
	through(ticks);
	REGISTER(0xe000e200) = 1; /* ISPR: interrupt 0 */
	through(ticks);
	/* another distance each time, so that all instructions are hit */
	REGISTER(0xe000e014) = 400 + ticks * 7 % 501;
}

void Default_Handler(void)
{
	for (;;)
		;
}

void Reset_Handler(void)
{
	memcpy(&__data_start, &__data_load, (uintptr_t)&__data_end - (uintptr_t)&__data_start);
	memset(&__bss_start, 0, (uintptr_t)&__bss_end - (uintptr_t)&__bss_start);
	board_init();
	__libc_init_array();
	exit(main());
}

__attribute__((section(".vectors"), used)) static void (*const vectors[17])(void) = {
	(void (*)(void))(uintptr_t)&__stack,
	Reset_Handler,
	Default_Handler,
	Default_Handler,
	[14] = Default_Handler,
	[15] = SysTick_Handler,
	[16] = Inner_Handler,
};

void _init(void)
{
}

void _fini(void)
{
}

int main(void)
{
	char line[16];
	uint32_t left;

	REGISTER(0xe000ed20) = 0xc0000000; /* SHPR3: SysTick is low */
	REGISTER(0xe000e400) = 0;          /* IPR0: interrupt 0 is high */
	REGISTER(0xe000e100) = 1;          /* ISER */
	board_start_ticks(400);
	for (uint32_t i = 0; i < 3000; i++)
		through(i);
	board_stop_ticks();
	for (left = 0; left < 4; left++)
		line[left] = (ticks > 20 && inner > 20) ? "many"[left] : "few!"[left];
	for (left = 0; left < 4; left++)
		board_putc(line[left]);
	board_putc('\n');
	return 0;
}
