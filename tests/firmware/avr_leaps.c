/* Calls that seem to take 2^30 ticks each, as the function moves the tracer's clock: sums are
 * carried. LEAPS: how often it is called by each of the SITES call sites, of which one more calls
 * through a pointer. */
#include <avr/interrupt.h>
#include <stdint.h>

extern uint16_t litifut_ticks __attribute__((weak));

__attribute__((noinline, noclone)) void leap(void)
{
	if (!&litifut_ticks)
		return;
	cli();
	litifut_ticks += 0x4000;
	sei();
}

__attribute__((noinline, noclone)) void other(void)
{
	__asm__ volatile("");
}

static void (*volatile pointer)(void) = other;

int main(void)
{
	sei();
	pointer();
	pointer = leap; /* which is not the first callee */
	for (uint16_t i = 0; i < LEAPS; i++) {
#define LEAP leap();
#if SITES == 2
		LEAP LEAP
#else
		LEAP LEAP LEAP LEAP LEAP LEAP LEAP LEAP LEAP LEAP LEAP LEAP LEAP LEAP LEAP LEAP LEAP
			LEAP LEAP LEAP LEAP LEAP LEAP LEAP
#endif
		pointer();
	}
	return 0;
}
