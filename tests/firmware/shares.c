/* Programs that a profiler of samples shows wrongly, after the examples of "gprof for
 * microcontrollers". In place of main.c of examples/firmware.
 *
 * SHARES: fast() and slow() call do_something() as often, one for little work, one for nine times
 * as much. gprof divides the samples of do_something() by the numbers of calls.
 *
 * Otherwise the work waits for the tick of SysTick, and then takes a third and half of the time up
 * to the next one. Samples by SysTick find it waiting each time; those by another timer do not. */
#include <stdint.h>

#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define TIMER 0x40000000u /* of the MPS2: interrupt 8 */

static volatile uint32_t work, ticks;

void Timer_Handler(void);

static void __attribute__((noinline)) do_something(uint32_t amount)
{
	for (uint32_t i = 0; i < amount; i++)
		work += i;
}

void SysTick_Handler(void)
{
	ticks++;
}

/* With another period each time, or the samples would be in step with something again. */
void Timer_Handler(void)
{
	static uint32_t seed = 1;

	seed = seed * 1103515245u + 12345u;
	REGISTER(TIMER + 12) = 1;                         /* INTCLEAR */
	REGISTER(TIMER + 4) = 20011 + (seed >> 16) % 997; /* VALUE */
}

#ifdef SHARES
static void __attribute__((noinline)) fast(void)
{
	do_something(100);
}

static void __attribute__((noinline)) slow(void)
{
	do_something(900);
}

int main(void)
{
	board_start_ticks(5003);
	for (unsigned i = 0; i < 200; i++) {
		fast();
		slow();
	}
	board_stop_ticks();
	return 0;
}
#else
static void __attribute__((noinline)) third(void)
{
	do_something(5500);
}

static void __attribute__((noinline)) half(void)
{
	for (volatile uint32_t i = 0; i < 5000; i++)
		work ^= i;
}

static void __attribute__((noinline)) wait(uint32_t last)
{
	while (ticks == last)
		;
}

int main(void)
{
#ifdef BY_TIMER
	REGISTER(TIMER + 8) = 20011; /* RELOAD */
	REGISTER(TIMER) = 9;         /* CTRL: on, interrupt */
	REGISTER(0xe000e100) = 1u << 8;
#endif
	board_start_ticks(40000);
	for (unsigned i = 0; i < 200; i++) {
		const uint32_t last = ticks;

		third();
		half();
		wait(last);
	}
	board_stop_ticks();
#ifdef BY_TIMER
	REGISTER(TIMER) = 0;
#endif
	return 0;
}
#endif
