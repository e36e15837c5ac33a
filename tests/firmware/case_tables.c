/* Switches that GCC makes with -Os for Thumb-1 code, by functions of libgcc that read the table
 * behind their call; those of case_tables.S are for the rest of these functions, and what looks
 * like them. In place of main.c of examples/firmware. */
#include <stdio.h>
#include <stdlib.h>

#if defined(IN_RAM) || defined(TICK)
#include "board.h"
#endif

void SysTick_Handler(void);
unsigned note(unsigned value);
unsigned by_signed_bytes(unsigned number, unsigned value);
unsigned by_signed_halves(unsigned number, unsigned value);
unsigned by_words(unsigned number, unsigned value);
unsigned unmarked(unsigned number, unsigned value);
unsigned unmarked_unbounded(unsigned number, unsigned value);
unsigned unbounded(unsigned number, unsigned value);
unsigned before_literals(unsigned number, unsigned value);
unsigned alike(unsigned number, unsigned value);

static volatile unsigned seen;

__attribute__((noinline)) unsigned note(unsigned value)
{
	seen = seen * 31 + value;
	return seen & 1023;
}

#define FOUR(x) x x x x
#define MUCH(n) FOUR(FOUR(FOUR(seen ^= seen >> n;)))

static __attribute__((noinline)) unsigned by_bytes(unsigned number, unsigned value)
{
	switch (number) {
	case 2:
		return note(value);
	case 3:
		return note(value + 1) + 3;
	case 4:
		return note(value * 7) * 7;
	case 5:
		return value;
	case 6:
		note(9);
		note(10);
		break;
	case 7:
		return value & 1 ? note(value ^ 3) + 5 : 4;
	case 9:
		value++;
	}
	return value + number;
}

static __attribute__((noinline)) unsigned by_halves(unsigned number)
{
	switch (number) {
	case 0:
		MUCH(1) break;
	case 1:
		note(1);
		MUCH(2) break;
	case 2:
		MUCH(3) note(2);
		break;
	case 3:
		MUCH(4) break;
	case 4:
		note(5);
		break;
	case 5:
		seen += 3;
		break;
	}
	return seen;
}

/* The interpreter of a language, as many programs have one. */
static __attribute__((noipa)) unsigned run(const unsigned char *code, unsigned sum)
{
	for (;;) {
		switch (*code++) {
		case 0:
			return sum;
		case 1:
			sum = note(sum) + 1;
			break;
		case 2:
			sum ^= 0x55;
			note(sum);
			break;
		case 3:
			if (sum & 1)
				code++;
			break;
		case 4:
			sum *= 3;
			note(4);
			break;
		case 5:
			sum = note(sum) + note(sum + 1);
			break;
		case 6:
			sum = by_bytes(sum & 15, sum);
			break;
		}
		sum -= note(sum & 3);
	}
}

#ifdef IN_RAM
/* A veneer leads to the function of libgcc. */
static __attribute__((noinline, section(".ramfunc"))) unsigned in_ram(unsigned number,
								      unsigned value)
{
	switch (number) {
	case 0:
		return note(value);
	case 1:
		return note(value + 1) + 3;
	case 2:
		return note(value * 7) * 7;
	case 3:
		return value;
	case 4:
		note(9);
		note(10);
		break;
	}
	return value + number;
}
#else
#define in_ram(number, value) 0
#endif

/* With TICK it comes between the call and the case, too. */
void SysTick_Handler(void)
{
#ifdef TICK
	static unsigned ticks;

	ticks++;
	note(by_words(ticks & 3, by_bytes(ticks & 15, ticks)));
#endif
}

int main(void)
{
	static const unsigned char code[] = {1, 1, 2, 4, 3, 5, 6, 1, 3, 2, 9, 5, 6, 6, 0, 0};

#ifdef IN_RAM
	board_start_ticks(1 << 24); /* for its times */
#endif
#ifdef TICK
	board_start_ticks(TICK);
#endif
	for (unsigned i = 0; i < 12; i++) {
		note(by_bytes(i, i * 5));
		note(by_halves(i));
		note(by_signed_bytes(i, i));
		note(by_signed_halves(i, i));
		note(by_words(i, i * 3));
		note(unmarked(i, i));
		note(unmarked_unbounded(i, i));
		note(unbounded(i, i));
		note(before_literals(i, i));
		note(alike(i, i));
		note(in_ram(i, i));
	}
	note(run(code, seen));
#ifdef TICK
	board_stop_ticks();
#endif
	printf("%u\n", seen);
	return 0;
}
