/* As avr_truth.c for devices with little memory and no USART. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <stdint.h>

#ifndef TCCR0B
#define TCCR0B TCCR0
#endif
#ifndef TIMSK
#define TIMSK TIMSK0
#endif

#ifndef ROUNDS
#define ROUNDS 60
#endif

#define FUNCTION __attribute__((noinline, noclone))

volatile uint16_t ticks, result;
volatile uint32_t divisor = 7;

FUNCTION void tick(void)
{
	ticks++;
}

ISR(TIMER0_OVF_vect)
{
	tick();
}

FUNCTION uint16_t fibonacci(uint8_t n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

FUNCTION int add(int a, int b)
{
	return a + b;
}

FUNCTION int subtract(int a, int b)
{
	return a - b;
}

static int (*volatile operations[])(int, int) = {add, subtract, add};

FUNCTION int apply(int (*operation)(int, int), int a, int b)
{
	return operation(a + 1, b);
}

int main(void)
{
	TCCR0B = 2;
	TIMSK = 1 << TOIE0;
	sei();
	for (uint8_t i = 0; i < ROUNDS; i++) {
		result += fibonacci(i & 7) + operations[i % 3](i, 2);
		result += apply(operations[(i + 1) % 3], i, 3);
		result /= (uint16_t)(divisor + i);
	}
	cli();
	return 0;
}
