/* On v6-M and v8-M Baseline GCC jumps by a bl: back in a loop of more than 2 KB, and to a jump
 * through a register. In assembly a bl within a function may be a call. */
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

/* The cases of a computed goto, one of which jumps to what they have in common: their addresses
 * have no Thumb bit. */
uint32_t dispatch(uint32_t rounds);
__asm__("	.syntax	unified\n"
	"	.text\n"
	"	.thumb\n"
	"	.balign	4\n"
	"	.global	dispatch\n"
	"	.type	dispatch, %function\n"
	"	.thumb_func\n"
	"dispatch:\n"
	"	push	{r4, lr}\n"
	"	movs	r4, #0\n"
	"1:	adds	r4, #1\n"
	"	ldr	r3, 5f\n"
	"	bl	2f\n"
	"	nop\n"
	"2:	mov	pc, r3\n"
	"3:	subs	r0, #1\n"
	"	bne	1b\n"
	"	movs	r0, r4\n"
	"	pop	{r4, pc}\n"
	"	.balign	4\n"
	"5:	.word	3b\n"
	"	.size	dispatch, . - dispatch\n"
	"	.syntax	divided\n");

/* A subroutine within a function: its bl are calls. */
uint32_t twice(uint32_t value);
__asm__("	.syntax	unified\n"
	"	.text\n"
	"	.thumb\n"
	"	.balign	4\n"
	"	.global	twice\n"
	"	.type	twice, %function\n"
	"	.thumb_func\n"
	"twice:\n"
	"	push	{r4, lr}\n"
	"	bl	2f\n"
	"	adds	r0, #2\n"
	"	bl	2f\n"
	"	pop	{r4, pc}\n"
	"2:	adds	r0, #1\n"
	"	bx	lr\n"
	"	.size	twice, . - twice\n"
	"	.syntax	divided\n");

/* A jump to what ends the program; the function behind it returns. */
uint32_t ends(uint32_t value);
__asm__("	.syntax	unified\n"
	"	.text\n"
	"	.thumb\n"
	"	.balign	4\n"
	"	.global	ends\n"
	"	.type	ends, %function\n"
	"	.thumb_func\n"
	"ends:\n"
	"	push	{r4, lr}\n"
	"	cmp	r0, #0\n"
	"	bne	1f\n"
	"	bl	2f\n"
	"1:	pop	{r4, pc}\n"
	"2:	nop\n"
	"	udf	#0\n"
	"	.size	ends, . - ends\n"
	"	.type	behind_ends, %function\n"
	"	.thumb_func\n"
	"behind_ends:\n"
	"	bx	lr\n"
	"	.size	behind_ends, . - behind_ends\n"
	"	.syntax	divided\n");

int main(void)
{
	uint32_t sum = input;

	if (sum & 1)
		sum = odd(sum + 2);
	for (uint32_t i = 1; i < 20; i++)
		sum += large(i);
	sum += dispatch(7);
	sum += twice(sum);
	sum += ends(7);
	printf("%lu\n", (unsigned long)sum);
	return 0;
}
