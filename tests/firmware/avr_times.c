/* Calls of known length, alone, in each other and through pointers, MANY of the shortest, and
 * interrupts: timer 1 is the tracer's. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>
#include <util/delay_basic.h>

#define FUNCTION __attribute__((noinline, noclone))

#ifndef MANY
#define MANY 0
#endif

volatile uint8_t ticks;

FUNCTION void shortest(void)
{
	__asm__ volatile("");
}

FUNCTION void milliseconds(void)
{
	_delay_loop_2(2870);
}

FUNCTION void longest(void)
{
	for (uint8_t i = 0; i < 6; i++)
		_delay_loop_2(20000);
}

FUNCTION void varied(uint8_t n)
{
	_delay_loop_2(100 * (uint16_t)n);
}

FUNCTION void pointed(void)
{
	__asm__ volatile("nop");
}

FUNCTION void tailed(void)
{
	__asm__ volatile("nop\nnop");
}

static void (*volatile pointer)(uint8_t) = varied;
static void (*volatile table[])(void) = {pointed, tailed};

FUNCTION void tail(uint8_t n)
{
	table[n]();
}

int main(void)
{
	sei();
	for (uint8_t i = 1; i < 20; i++) {
		shortest();
		milliseconds();
		varied(i);
		pointer(i);
		table[0]();
		tail(1);
	}
	for (uint16_t i = 0; i < MANY; i++)
		shortest();
	longest();
	longest();
	cli();
	return 0;
}
