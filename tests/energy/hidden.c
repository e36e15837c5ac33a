/* A program whose costly phase lies deep: main calls control(), that evaluate(), that refine(),
 * where multiplications follow loads. What prepare() and idle() call has the power of their own
 * code. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <litifut/firmware.h>
#include <stdint.h>

#define FUNCTION __attribute__((noipa))

static volatile uint8_t table[64];
static volatile uint16_t product;
volatile uint8_t done;

FUNCTION void look_up(uint16_t count)
{
	while (count--)
		table[count & 63] = table[count * 7 & 63];
}

FUNCTION void multiply(uint16_t count)
{
	uint8_t a = 3, b = 5;

	while (count--)
		__asm__ volatile("mul %0, %1\n\tmul %1, %0\n\tmul %0, %0\n\tmul %1, %1\n\tclr r1"
				 : "+r"(a), "+r"(b)::"r0");
	product = a;
}

FUNCTION void refine(void)
{
	look_up(600);
	multiply(1200);
}

FUNCTION void evaluate(void)
{
	look_up(300);
	refine();
}

FUNCTION void prepare(void)
{
	for (uint8_t i = 0; i < 8; i++)
		look_up(100);
}

FUNCTION void control(void)
{
	prepare();
	evaluate();
}

FUNCTION void wait(uint16_t ticks)
{
	uint16_t start = TCNT3;

	while ((uint16_t)(TCNT3 - start) < ticks)
		;
}

FUNCTION void idle(void)
{
	for (uint8_t i = 0; i < 4; i++)
		wait(4000);
}

int main(void)
{
	DDRB = 8;
	TCCR3B = 2;         /* a tick is 8 cycles */
	UCSR0A = 1 << U2X0; /* 2 MBaud at 16 MHz */
	UBRR0 = 0;
	UCSR0B = 1 << TXEN0;
	sei();
	for (uint8_t round = 0; round < 30; round++) {
		control();
		idle();
	}
	if (litifut_send)
		litifut_send();
	done = 1;
	for (;;)
		;
}
