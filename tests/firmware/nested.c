/* Interrupts that come at each possible moment, in two levels, and call what the main program
 * calls. In place of main.c of examples/firmware, with startup.c of this
 * folder. With LEAF a call through a pointer leads to a function that is one block,
 * with TAIL as well it is a tail call. With CASES there is a switch, with LABELS
 * there are computed gotos, with AT_END an interrupt at the end of a handler as well. */
#include <stdint.h>

#include "board.h"

#define REGISTER(address) (*(volatile uint32_t *)(uintptr_t)(address))

static volatile uint32_t shared;
static volatile uint32_t ticks;
static volatile uint32_t inner;

static void __attribute__((noinline)) bump(uint32_t by)
{
	shared += by;
}

static void __attribute__((noinline)) first(uint32_t by)
{
	bump(by);
}

static void __attribute__((noinline)) second(uint32_t by)
{
	bump(by + 1);
}

static void (*volatile const pointers[])(uint32_t) = {first, second};

#ifdef LEAF
static void __attribute__((noinline)) leaf(uint32_t by)
{
	shared ^= by;
}

static void (*volatile const leaf_pointer)(uint32_t) = leaf;
#endif

#ifdef CASES
static void __attribute__((noinline)) choose(uint32_t i)
{
	switch (i % 16) {
	case 0:
		bump(i);
		break;
	case 1:
		shared -= i;
		bump(3);
		break;
	case 2:
		do
			bump(i);
		while (shared++ & 3);
		break;
	case 3:
	case 4:
		shared++;
		break;
	case 5:
		first(shared);
		shared ^= 5;
		break;
	case 6:
		if (shared & 1)
			bump(6);
		return;
	case 7:
		shared = i;
		break;
	case 8:
		shared *= 3;
		break;
	default:
		shared += 7;
	}
	bump(7);
}
#endif

#ifdef LABELS
/* Labels have one jump. */
static uint32_t __attribute__((noinline)) interpret(const uint8_t *program, uint32_t value)
{
	static const void *const steps[] = {&&add, &&turn, &&mix, &&end};

	goto *steps[*program++];
add:
	value += 3;
	goto *steps[*program++];
turn:
	value = value << 3 | value >> 29;
	goto *steps[*program++];
mix:
	value ^= shared;
	goto *steps[*program++];
end:
	return value;
}

/* A label has its own. */
static uint32_t __attribute__((noinline)) repeat(const uint8_t *program, uint32_t value)
{
	static const void *const steps[] = {&&add, &&end};

	goto *steps[*program++];
add:
	value += shared;
	goto *steps[*program++];
end:
	return value;
}
#endif

static void __attribute__((noinline)) through(uint32_t i)
{
#ifdef CASES
	choose(i);
#endif
#ifdef LABELS
	static const uint8_t program[] = {0, 1, 2, 0, 0, 2, 3};
	static const uint8_t sums[] = {0, 0, 1};

	shared ^= interpret(program, i) + repeat(sums, i);
#endif
	pointers[i & 1](i);
#if defined LEAF && !defined TAIL
	leaf_pointer(i);
#endif
	bump(i);
#if defined LEAF && defined TAIL
	leaf_pointer(i); /* a jump */
#endif
}

/* The higher level, from inside of the lower one. */
void Inner_Handler(void)
{
	inner++;
	through(inner);
}

void SysTick_Handler(void)
{
	ticks++;
	through(ticks);
	REGISTER(0xe000e200) = 1; /* ISPR: interrupt 0 */
	through(ticks);
	/* another distance each time, so that all instructions are hit */
	REGISTER(0xe000e014) = 400 + ticks * 7 % 501;
#ifdef AT_END
	/* in the last block, behind which the interrupted code follows, up to the next record */
	REGISTER(0xe000e200) = 1;
	shared++;
#endif
}

int main(void)
{
	char line[16];
	uint32_t left;

	REGISTER(0xe000ed20) = 0xc0000000; /* SHPR3: SysTick is low */
	REGISTER(0xe000e400) = 0;          /* IPR0: interrupt 0 is high */
	REGISTER(0xe000e100) = 1;          /* ISER */
	board_start_ticks(400);
	for (uint32_t i = 0; i < 3000; i++)
		through(i);
	board_stop_ticks();
	for (left = 0; left < 4; left++)
		line[left] = (ticks > 20 && inner > 20) ? "many"[left] : "few!"[left];
	for (left = 0; left < 4; left++)
		board_putc(line[left]);
	board_putc('\n');
	return 0;
}
