/* Something for a microcontroller to do: sorts, looks things up through a table of
 * functions, computes in floating point, and counts ticks in an interrupt. */
#include <stdio.h>
#include <stdlib.h>

#include "board.h"

static volatile uint32_t ticks;
static volatile uint32_t even_ticks;

static void __attribute__((noinline)) count_even(void)
{
	even_ticks++;
}

void SysTick_Handler(void)
{
	ticks++;
	if (ticks % 2 == 0)
		count_even();
}

static uint32_t seed = 1;

static uint32_t __attribute__((noinline)) next_random(void)
{
	seed = seed * 1103515245u + 12345u;
	return seed >> 16;
}

static int compare(const void *left, const void *right)
{
	const int a = *(const int *)left;
	const int b = *(const int *)right;

	return a < b ? -1 : a > b;
}

static int __attribute__((noinline)) add(int a, int b)
{
	return a + b;
}

static int __attribute__((noinline)) subtract(int a, int b)
{
	return a - b;
}

static int __attribute__((noinline)) multiply(int a, int b)
{
	return a * b;
}

static int (*const operations[])(int, int) = {add, subtract, multiply};

static int __attribute__((noinline)) fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static double __attribute__((noinline)) average(const int *values, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += values[i];
	return sum / count;
}

int main(void)
{
	int values[24];
	int result = 0;

	board_start_ticks(20000);
	for (int i = 0; i < 24; i++)
		values[i] = (int)(next_random() % 1000);
	qsort(values, 24, sizeof(values[0]), compare);
	printf("smallest %d, largest %d\n", values[0], values[23]);
	for (unsigned i = 0; i < 30; i++)
		result = operations[i % 3](result, (int)i) % 1000;
	printf("result %d, fibonacci %d\n", result, fibonacci(10));
	printf("average %d/1000\n", (int)(average(values, 24) * 1000));
	while (!ticks)
		;
	board_stop_ticks();
	printf("there were ticks\n");
	return 0;
}
