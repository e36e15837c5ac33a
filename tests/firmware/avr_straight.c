/* A function that records its start, as a pointer leads to it as well, is called by code that has
 * no branch, many times: in the ring there are records of it and its own bits, and nothing else. */
#include <avr/io.h>
#include <stdint.h>

#define FUNCTION __attribute__((noinline, noclone))
#define TEN(what) what what what what what what what what what what

volatile uint8_t sum;

FUNCTION void step(uint8_t number)
{
	while (number--)
		sum += number;
}

void (*volatile through)(uint8_t) = step;

FUNCTION void straight(void)
{
	TEN(TEN(step(2); step(1);))
	TEN(step(1); step(1);)
	step(1);
}

int main(void)
{
	UCSR0B = 1 << TXEN0;
	through(3);
	straight();
	UDR0 = sum;
	return 0;
}
