/* As avr_truth.c for devices with little memory and no USART. SWITCHES as there. */
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

void litifut_stop(void) __attribute__((weak));
void litifut_start(void) __attribute__((weak));
void litifut_reset(void) __attribute__((weak));

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

#ifdef SWITCHES
FUNCTION void change(void)
{
	static uint8_t changes;

	changes++;
	if (litifut_stop && changes % 8 == 3)
		litifut_stop();
	if (litifut_start && changes % 8 == 6)
		litifut_start();
	if (litifut_reset && changes == SWITCHES)
		litifut_reset();
}
#else
#define change()
#endif

FUNCTION uint16_t fibonacci(uint8_t n)
{
	if (n == 2)
		change();
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
	change();
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
