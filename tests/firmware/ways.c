/* All ways through functions that the numbers of paths have to follow: more paths than there are
 * numbers, switches, jumps by a table, recursion, calls that end by a longjmp, loops in which
 * nothing is decided. In place of main.c of examples/firmware. */
#include <setjmp.h>
#include <stdint.h>

#include "board.h"

#define APART __attribute__((noinline, noclone))

static volatile uint32_t sink;
static jmp_buf place;
static uint32_t state = 1;

static uint32_t APART any(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

static void APART leaf(uint32_t by)
{
	sink += by;
}

#define IF(n)                                                                                      \
	if (x & 1u << (n))                                                                         \
	leaf(n)

/* 2^20 paths */
static void APART many(uint32_t x)
{
	IF(0);
	IF(1);
	IF(2);
	IF(3);
	IF(4);
	IF(5);
	IF(6);
	IF(7);
	IF(8);
	IF(9);
	IF(10);
	IF(11);
	IF(12);
	IF(13);
	IF(14);
	IF(15);
	IF(16);
	IF(17);
	IF(18);
	IF(19);
}

static uint32_t APART choose(uint32_t x)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < 4; i++, x >>= 4) {
		switch (x & 15) {
		case 0:
			leaf(1);
			break;
		case 1:
			sum += 7;
			/* fall through */
		case 2:
			leaf(sum);
			break;
		case 3:
			if (sum > 9)
				return sum;
			break;
		case 4:
			sum = any();
			/* fall through */
		case 5:
			if (sum & 4)
				leaf(3);
			break;
		case 6:
			continue;
		case 7:
			sum ^= 1;
			break;
		case 9:
			leaf(9);
			leaf(10);
			break;
		default:
			sum++;
		}
		leaf(sum);
	}
	return sum;
}

/* An interpreter: control comes to each label by a table, and to one by the code before it too. */
static uint32_t APART interpret(const uint8_t *code)
{
	static const void *const labels[] = {&&add, &&twice, &&skip, &&end};
	uint32_t value = 1;

	goto *labels[*code++];
add:
	value += 3;
	if (value & 8)
		leaf(value);
twice:
	value *= 2;
	goto *labels[*code++];
skip:
	code += value & 1;
	goto *labels[*code++];
end:
	return value;
}

static uint32_t APART deep(uint32_t depth)
{
	uint32_t result = depth & 3 ? 1 : 2;

	if (depth)
		result += deep(depth - 1);
	return result & 1 ? result * 3 : result;
}

static void APART step(uint32_t *left)
{
	leaf(*left);
	if (!--*left)
		longjmp(place, 1);
}

/* It never returns, and decides nothing. */
static void APART rounds(uint32_t *left)
{
	for (;;) {
		step(left);
		leaf(8);
	}
}

static uint32_t APART leap(uint32_t x)
{
	uint32_t left = 1 + x % 5;

	if (!setjmp(place)) {
		if (x & 1)
			leaf(2);
		rounds(&left);
	}
	return x & 2 ? left : left + 1;
}

void SysTick_Handler(void)
{
	sink++;
}

int main(void)
{
	static const uint8_t code[] = {0, 1, 2, 0, 0, 1, 2, 2, 0, 3, 3, 3};
	uint32_t sum = 0;

	for (uint32_t i = 0; i < 40; i++) {
		many(any());
		sum += choose(any());
		sum += interpret(code + any() % 4);
		sum += deep(DEPTH);
		sum += leap(any());
	}
	for (int shift = 28; shift >= 0; shift -= 4)
		board_putc("0123456789abcdef"[sum >> shift & 15]);
	board_putc('\n');
	return 0;
}
