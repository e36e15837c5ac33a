/* Calls of known length, and a timer whose handler makes a call: its clock is 2 for 8 cycles, 3 for
 * 64, of which 250 are a tick; 0: none. */

#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>
#include <util/delay_basic.h>

#define FUNCTION __attribute__((noinline, noclone))

#ifndef ROUNDS
#define ROUNDS 500
#endif

volatile uint8_t ticks;

FUNCTION void tick(void)
{
	ticks++;
}

ISR(TIMER0_COMPA_vect)
{
	tick();
}

FUNCTION void short_one(void)
{
	_delay_loop_1(9);
}

FUNCTION void long_one(void)
{
	_delay_loop_2(87);
}

int main(void)
{
	OCR0A = 249;
	TCCR0A = 1 << WGM01;
	TCCR0B = CLOCK;
	TIMSK0 = 1 << OCIE0A;
	sei();
	for (uint16_t i = 0; i < ROUNDS; i++) {
		short_one();
		long_one();
	}
	cli();
	return 0;
}
