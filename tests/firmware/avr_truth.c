/* Calls of all kinds: direct and through pointers, tail calls of both, recursion, helpers of the
 * compiler with conventions of their own, printf, qsort, a switch and a computed goto, which are
 * not calls, data in the flash that looks like a call, and interrupts that interrupt each other.
 * LARGE: what is in the flash pushes the code beyond 128 KB. TIMED: timer 1 is left to the tracer.
 * SELDOM: 1 for fewer interrupts. SENDS: results are sent in each round. QUIET: no
 * interrupts, and nothing depends on the time. LINE: how slow the serial line is, 0: as fast as can
 * be. SWITCHES: recording is switched off and on, at each depth of calls and in the middle of a
 * recursion, and begins anew at the change of this number. STARTS: it is switched on while it is
 * on. */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/pgmspace.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void litifut_send(void) __attribute__((weak));
void litifut_stop(void) __attribute__((weak));
void litifut_start(void) __attribute__((weak));
void litifut_reset(void) __attribute__((weak));

#define FUNCTION __attribute__((noinline, noclone))

#ifdef LARGE
/* As one section, of which there can be no more than 32 KB each. */
#define FILL(n) const char fill##n[32000] __attribute__((section(".progmem.fill" #n), used)) = {n};
FILL(1)
FILL(2)
FILL(3)
FILL(4)
FILL(5)
#endif

#ifndef SELDOM
#define SELDOM 0
#endif
#ifndef LINE
#define LINE 0
#endif
#ifndef ROUNDS
#define ROUNDS 40
#endif

static const uint8_t looks_like_calls[] PROGMEM = {0x0e, 0x94, 0x50, 0x00, 0x09, 0x95, 0x00, 0xd0};

volatile uint16_t fast_ticks, slow_ticks;
volatile float measured = 3.25f;
volatile uint32_t divisor = 7;
volatile uint8_t selector;
static jmp_buf back;

FUNCTION void tick_fast(void)
{
	fast_ticks++;
}

#ifdef EARLY
/* A part of the start-up code, which goes on behind it with the call of main(). */
void early(void) __attribute__((naked, used, section(".init8")));

void early(void)
{
	tick_fast();
}
#endif

FUNCTION void tick_slow(void)
{
	slow_ticks++;
	tick_fast();
}

ISR(TIMER0_OVF_vect)
{
	tick_fast();
}

/* Lets others interrupt it, itself included. */
#ifdef TIMED
ISR(TIMER2_COMPA_vect, ISR_NOBLOCK)
#else
ISR(TIMER1_COMPA_vect, ISR_NOBLOCK)
#endif
{
	tick_slow();
}

#ifdef SWITCHES
FUNCTION void change(void)
{
	static uint16_t changes;

	changes++;
	if (litifut_stop && changes % 11 == 3)
		litifut_stop();
	if (litifut_start && changes % 11 == 7)
		litifut_start();
#if SWITCHES
	if (litifut_reset && changes == SWITCHES)
		litifut_reset();
#endif
}
#elif defined(STARTS)
/* Recording is on already. */
FUNCTION void change(void)
{
	if (litifut_start)
		litifut_start();
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

FUNCTION int scaled(int a, int b)
{
	return (int)((int32_t)a * b / (int32_t)divisor);
}

static int (*const operations[])(int, int) = {add, subtract, scaled, add};

FUNCTION int apply(int (*operation)(int, int), int a, int b)
{
	change();
	return operation(a + 1, b);
}

FUNCTION int tail_of(int a, int b)
{
	return add(b, a + 1);
}

FUNCTION int by_switch(uint8_t value)
{
	switch (value) {
	case 0:
		return 3;
	case 1:
		return tail_of(1, 2);
	case 2:
		return 17 + value;
	case 3:
		return scaled(value, 5);
	case 4:
		return add(value, value);
	case 5:
		return -1;
	case 6:
		return subtract(3, value);
	case 7:
		return 4 * value;
	default:
		return 0;
	}
}

FUNCTION int by_label(uint8_t value)
{
	static const void *const labels[] = {&&zero, &&one, &&two};
	int sum = 0;

	goto *labels[value % 3];
zero:
	sum += add(value, 1);
one:
	sum += add(value, 2);
two:
	return sum + 1;
}

static int compare(const void *left, const void *right)
{
	return *(const int *)left - *(const int *)right;
}

FUNCTION void give_up(int value)
{
	if (value == 3)
		longjmp(back, 1);
}

static int send(char character, FILE *file)
{
	(void)file;
#ifndef QUIET
	while (!(UCSR0A & (1 << UDRE0)))
		;
#endif
	UDR0 = (uint8_t)character;
	return 0;
}

static FILE output = FDEV_SETUP_STREAM(send, NULL, _FDEV_SETUP_WRITE);

int main(void)
{
	int values[8];
	int32_t sum = 0;

	UBRR0 = LINE;
	UCSR0B = 1 << TXEN0;
	stdout = &output;
	TIMSK0 = 1 << TOIE0;
#ifdef TIMED
	TCCR0B = 3 + SELDOM; /* every 16,384 cycles */
	OCR2A = 180;
	TCCR2A = 1 << WGM21;
	TCCR2B = 4 + 2 * SELDOM; /* every 11,584 cycles */
	TIMSK2 = 1 << OCIE2A;
#else
	TCCR0B = 2; /* every 2,048 cycles */
	OCR1A = 700;
	TCCR1B = 1 << WGM12 | 1 << CS10;
	TIMSK1 = 1 << OCIE1A;
#endif
#ifndef QUIET
	sei();
#endif
	for (uint8_t round = 0; round < ROUNDS; round++) {
		change();
		selector = round & 3;
		sum += fibonacci(round & 7);
		sum += operations[selector](round, 3);
		sum += apply(operations[selector], round, 5);
		sum += by_switch(round & 15);
		sum += by_label(round);
		for (uint8_t i = 0; i < 8; i++)
			values[i] = (i * 37 + round * 11) & 63;
		qsort(values, 8, sizeof(values[0]), compare);
		measured = measured * 1.5f / (float)(values[7] + 1);
		if (!setjmp(back))
			give_up(round);
#ifdef SENDS
		if (litifut_send)
			litifut_send();
#endif
	}
	cli();
	printf("%ld %d %d %d\n", (long)sum, values[0], values[7],
	       pgm_read_byte(&looks_like_calls[selector]));
	if (litifut_send)
		litifut_send();
	return 0;
}
