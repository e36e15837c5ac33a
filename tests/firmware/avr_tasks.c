/* Two tasks with a stack each, which hand the CPU to each other in the middle of calls, at depths
 * that change all the time: what has been called last does often not return first. One of them
 * never ends. JUMPS: some calls end by a longjmp() to the loop of their task. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>

#include <avr/io.h>

#define FUNCTION __attribute__((noinline, noclone))
#define REGISTERS 18
#define DEPTH 6

static uint8_t stack[400];
void *other_stack;
static volatile uint16_t state = 0xace1;
volatile uint16_t turns[2];
static jmp_buf loops[2];

/* Saves what a call keeps, and goes on in the other task. */
__attribute__((naked, noinline, noclone)) void hand_over(void)
{
	__asm__ volatile(".irp n, 2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,28,29\n\t"
			 "push r\\n\n\t.endr\n\t"
			 "lds r30, other_stack\n\tlds r31, other_stack + 1\n\t"
			 "in r24, __SP_L__\n\tin r25, __SP_H__\n\t"
			 "sts other_stack, r24\n\tsts other_stack + 1, r25\n\t"
			 "out __SP_H__, r31\n\tout __SP_L__, r30\n\t"
			 ".irp n, 29,28,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2\n\t"
			 "pop r\\n\n\t.endr\n\tret");
}

FUNCTION uint8_t random_bit(void)
{
	state = state >> 1 ^ (state & 1 ? 0xb400 : 0);
	return state & 1;
}

FUNCTION void go_down(uint8_t task, uint8_t depth)
{
	turns[task]++;
#ifdef JUMPS
	if (depth < DEPTH - 1 && random_bit() && random_bit())
		longjmp(loops[task], 1);
#endif
	if (depth && random_bit())
		go_down(task, depth - 1);
	if (random_bit())
		hand_over();
	if (depth && random_bit())
		go_down(task, depth - 1);
}

static void second_task(void)
{
	for (;;) {
		if (!setjmp(loops[1]))
			go_down(1, DEPTH);
		hand_over();
	}
}

static int put(char byte, FILE *file)
{
	(void)file;
	while (!(UCSR0A & 1 << UDRE0))
		;
	UDR0 = byte;
	return 0;
}

static FILE line = FDEV_SETUP_STREAM(put, NULL, _FDEV_SETUP_WRITE);

int main(void)
{
	const uint16_t start = (uint16_t)second_task;
	uint8_t *top = stack + sizeof(stack) - 1;

	UBRR0L = 0;
	UCSR0B = 1 << TXEN0;
	*top-- = (uint8_t)start;
	*top-- = (uint8_t)(start >> 8);
#ifdef __AVR_3_BYTE_PC__
	*top-- = 0;
#endif
	other_stack = top - REGISTERS;
	for (volatile uint16_t i = 0; i < 300; i++) {
		if (!setjmp(loops[0]))
			go_down(0, DEPTH);
		hand_over();
	}
	fprintf(&line, "%u %u\n", turns[0], turns[1]);
	return 0;
}
