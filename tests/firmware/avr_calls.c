/* Calls and nothing else, to measure what one costs: DIRECT and POINTER of them. ENABLED:
 * interrupts are on. */
#include <avr/interrupt.h>
#include <stdint.h>

#ifndef DIRECT
#define DIRECT 0
#endif
#ifndef POINTER
#define POINTER 0
#endif

static volatile uint16_t sum;

static void __attribute__((noinline, noclone)) callee(uint16_t by)
{
	sum += by;
}

static void (*volatile pointer)(uint16_t) = callee;

int main(void)
{
#ifdef ENABLED
	sei();
#endif
	for (uint16_t i = 0; i < DIRECT; i++)
		callee(i);
	for (uint16_t i = 0; i < POINTER; i++)
		pointer(i);
	return 0;
}
