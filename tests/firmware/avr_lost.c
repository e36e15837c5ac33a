/* Branches that find no room once the ring is full, as nothing is sent until the end: fill() fills
 * it, spin() then makes COUNT branches more in its loop. */
#include <avr/io.h>
#include <stdint.h>

#ifndef COUNT
#define COUNT 1000
#endif

#define FUNCTION __attribute__((noinline, noclone))

volatile uint8_t sink;

static void FUNCTION fill(uint16_t count)
{
	for (; count; count--)
		sink = (uint8_t)count;
}

static void FUNCTION spin(uint16_t count)
{
	for (; count; count--)
		sink = (uint8_t)~count;
}

void FUNCTION done(void)
{
	sink = 0;
}

int main(void)
{
	UCSR0B = 1 << TXEN0;
	fill(20000);
	spin(COUNT);
	done();
	fill(100);
	done();
	return 0;
}
