/* A loop of more than 2 KB: on v6-M and v8-M Baseline GCC jumps back by a bl. */
#include <stdint.h>
#include <stdio.h>

#include "board.h"

volatile uint32_t input = 3;

void SysTick_Handler(void)
{
}

__attribute__((noinline)) static uint32_t odd(uint32_t value)
{
	return value & 1 ? 3 * value + 1 : value / 2;
}

#define STEP sum = sum * 31 + input;
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP

__attribute__((noinline)) static uint32_t large(uint32_t rounds)
{
	uint32_t sum = rounds;

	do {
		if (sum & 4)
			sum += odd(sum);
		STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS;
		STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS;
		STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS STEPS;
		if (sum & 8)
			sum ^= odd(sum);
	} while (--rounds);
	return sum;
}

int main(void)
{
	uint32_t sum = input;

	if (sum & 1)
		sum = odd(sum + 2);
	for (uint32_t i = 1; i < 20; i++)
		sum += large(i);
	printf("%lu\n", (unsigned long)sum);
	return 0;
}
