/* Calls and nothing else, to measure what one costs: DIRECT and POINTER of them, with RUNNING while
 * SysTick counts, and with CALIBRATE loops that measure it. In place of main.c of
 * examples/firmware. */
#include <stdint.h>

#include "board.h"
#ifdef CALIBRATE
#include <litifut/calibrate.h>
#endif

#ifndef DIRECT
#define DIRECT 0
#endif
#ifndef POINTER
#define POINTER 0
#endif

static volatile uint32_t sum;

static void __attribute__((noinline, noclone)) callee(uint32_t by)
{
	sum += by;
}

static void (*volatile pointer)(uint32_t) = callee;

void *volatile running; /* as a kernel has it whose task never changes */

void SysTick_Handler(void)
{
}

int main(void)
{
	uint32_t i;

	running = &i;
#ifdef RUNNING
	board_start_ticks(0x1000000); /* as long as it can be: no interrupt comes */
#endif
#ifdef CALIBRATE
	energy_calibrate();
#endif
	for (i = 0; i < DIRECT; i++)
		callee(i);
	for (i = 0; i < POINTER; i++)
		pointer(i);
	return 0;
}
