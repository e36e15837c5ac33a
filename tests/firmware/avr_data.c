/* A word of data among instructions, DATA, which can look like a call where the code stands before
 * the tracer's, and lead elsewhere where it has moved. CALLS of a function, and calls through a
 * pointer. */
#include <avr/interrupt.h>
#include <stdint.h>

#ifndef DATA
#define DATA 0
#endif
#define FUNCTION __attribute__((noinline, noclone))
#define TEXT(value) #value
#define WORD(value) TEXT(value)

__asm__(".section .lowtext, \"ax\", @progbits\n"
	"	.global	mixed\n"
	"	.type	mixed, @function\n"
	"mixed:	ret\n"
	"words:	.word	" WORD(DATA) "\n"
				     "	ret\n"
				     "	.size	mixed, . - mixed\n"
				     "	.text\n");

volatile uint16_t state;

FUNCTION void one(void)
{
	state++;
}

FUNCTION void two(void)
{
	state += 2;
}

/* The linker puts the tracer's code in front of it. */
__attribute__((section(".text.late"))) FUNCTION void late(void)
{
	state += 3;
}

static void (*volatile pointers[])(void) = {one, two};

FUNCTION void by_pointer(uint8_t number)
{
	pointers[number & 1]();
	state++;
}

int main(void)
{
	for (uint8_t i = 0; i < 100; i++) {
		by_pointer(i);
		late();
#if CALLS > 1
		one();
#endif
#if CALLS > 2
		one();
#endif
#if CALLS > 3
		one();
#endif
	}
	cli();
	for (;;)
		;
}
