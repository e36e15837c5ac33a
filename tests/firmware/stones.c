/* Calls of 2 bytes whose neighbours can't make room for a longer branch: through a register behind
 * a branch past the call, at a label, behind a call, and in a function that is too short to make
 * room elsewhere; tail calls, which need lr, by a branch, a conditional one and through a register,
 * to an even address as well; by the main program and by interrupts that come at each possible
 * moment. In place of main.c of examples/firmware. */
#include <stdint.h>
#include <stdio.h>

#include "board.h"

#define ROUNDS 1000

__asm__(".syntax unified\n"
	"	.thumb\n"
	"	.macro bare name\n"
	"	.global \\name\n"
	"	.type \\name, %function\n"
	"	.thumb_func\n"
	"\\name:\n"
	"	.endm\n"
	"	.macro begin name\n"
	"	bare \\name\n"
	"	push {r4, lr}\n"
	"	movs r4, r0\n"
	"	.endm\n"
	"	.macro finish name\n"
	"	pop {r4, pc}\n"
	"	.size \\name, . - \\name\n"
	"	.endm\n"
	"	.macro room\n"
	"	movs r1, #1\n"
	"	adds r2, r1, #1\n"
	"	adds r3, r2, #1\n"
	"	adds r0, r3, #1\n"
	"	.endm\n"
	"	.text\n"
	"	begin past\n"
	"	room\n"
	"	cmp r4, #0\n"
	"	beq 1f\n"
	"	blx r4\n"
	"1:	finish past\n"
	"	begin label\n"
	"	room\n"
	"	lsrs r1, r4, #3\n"
	"	bcs 1f\n"
	"	movs r0, #9\n"
	"1:	blx r4\n"
	"	finish label\n"
	"	begin behind\n"
	"	bl other\n"
	"	blx r4\n"
	"	movs r4, r0\n"
	"	room\n"
	"	adds r0, r0, r4\n"
	"	finish behind\n"
	"	begin small\n"
	"	bl other\n"
	"	blx r4\n"
	"	finish small\n"
	"	bare jumps\n"
	"	adds r0, #3\n"
	"	b.n last\n"
	"	.size jumps, . - jumps\n"
	"	bare perhaps\n"
	"	lsrs r1, r0, #1\n"
	"	bcs.n last\n"
	"	adds r0, #5\n"
	"	bx lr\n"
	"	.size perhaps, . - perhaps\n"
	"	bare through\n"
	"	movs r3, r0\n"
	"	movs r0, #8\n"
	"	bx r3\n"
	"	.size through, . - through\n"
	"	bare even\n"
	"	lsrs r3, r0, #1\n"
	"	lsls r3, r3, #1\n"
	"	movs r0, #9\n"
	"	mov pc, r3\n"
	"	.size even, . - even\n"
	"	begin last\n"
	"	room\n"
	"	room\n"
	"	adds r0, r0, r4\n"
	"	finish last\n"
	"	begin other\n"
	"	room\n"
	"	movs r0, #5\n"
	"	finish other\n");

typedef unsigned function(unsigned);

unsigned past(function *);
unsigned label(function *);
unsigned behind(function *);
unsigned small(function *);
unsigned jumps(unsigned);
unsigned perhaps(unsigned);
unsigned through(function *);
unsigned even(function *);
unsigned other(unsigned);

static volatile unsigned ticks;

static unsigned __attribute__((noinline)) twice(unsigned x)
{
	return 2 * x;
}

static unsigned __attribute__((noinline)) more(unsigned x)
{
	return small(twice) + x;
}

static function *volatile const functions[] = {twice, more};

static unsigned __attribute__((noinline)) all(unsigned i)
{
	function *each = functions[i & 1];

	return past(i % 5 ? each : 0) + 3 * label(each) + 5 * behind(each) + 7 * small(each) +
	       11 * jumps(i) + 13 * perhaps(i / 2) + 17 * through(each) + 19 * even(each);
}

void SysTick_Handler(void)
{
	ticks += 1 + all(ticks) / 1000000;
}

int main(void)
{
	unsigned sum = 0;

	board_start_ticks(4001);
	for (unsigned i = 0; i < ROUNDS; i++)
		sum = sum * 3 + all(i);
	board_stop_ticks();
	printf("%u, %s interrupts\n", sum, ticks > 10 ? "many" : "few");
	return 0;
}
