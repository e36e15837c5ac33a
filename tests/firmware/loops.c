/* The loops of v8.1-M, whose counter is in lr and whose end is one instruction, and blocks of
 * vector instructions that are predicated, at the places where code moves to make room: a loop that
 * begins at a branch, one that ends before a branch, a call or a return of 2 bytes, one with
 * branches in it, one that is left early or not entered, loops in a loop. */
#include <stdint.h>
#include <stdio.h>

#include "board.h"

#define WORDS 24

#ifndef TICKS
#define TICKS 0 /* between two interrupts */
#endif

/* Each gets words, how many there are (0 as well), and a function. */
typedef uint32_t work(const uint32_t *words, uint32_t count, uint32_t (*function)(uint32_t));

static volatile uint32_t ticks;

void SysTick_Handler(void)
{
	ticks++;
}

static __attribute__((noinline)) uint32_t spread(uint32_t value)
{
	return value * 2654435761u >> 3;
}

#define FUNCTION(name, code)                                                                       \
	__attribute__((naked, noinline)) static uint32_t name(                                     \
		const uint32_t *words, uint32_t count, uint32_t (*function)(uint32_t))             \
	{                                                                                          \
		(void)words;                                                                       \
		(void)count;                                                                       \
		(void)function;                                                                    \
		__asm__ volatile(".arch_extension mve\n" code);                                    \
	}

/* A branch of 2 bytes in it, and its end behind that. */
FUNCTION(odd, "push {r4, lr}\n"
	      "movs r3, #0\n"
	      "wls lr, r1, 3f\n"
	      "1: ldr r2, [r0], #4\n"
	      "lsls r4, r2, #31\n"
	      "beq 2f\n"
	      "adds r3, #1\n"
	      "2: le lr, 1b\n"
	      "3: mov r0, r3\n"
	      "pop {r4, pc}\n")

/* It begins at a branch of 2 bytes. */
FUNCTION(runs, "push {r4, lr}\n"
	       "movs r3, #0\n"
	       "movs r4, #0\n"
	       "cbz r1, 3f\n"
	       "dls lr, r1\n"
	       "1: cbz r3, 2f\n"
	       "adds r4, #3\n"
	       "2: ldr r3, [r0], #4\n"
	       "ands r3, #4\n"
	       "le lr, 1b\n"
	       "3: mov r0, r4\n"
	       "pop {r4, pc}\n")

/* Its end stands before a branch of 2 bytes. */
FUNCTION(least, "push {r4, lr}\n"
		"mvn r3, #0\n"
		"movs r4, #7\n"
		"cbz r1, 2f\n"
		"dls lr, r1\n"
		"1: ldr r2, [r0], #4\n"
		"cmp r2, r3\n"
		"it lo\n"
		"movlo r3, r2\n"
		"le lr, 1b\n"
		"bne 2f\n"
		"adds r4, #1\n"
		"2: adds r0, r3, r4\n"
		"pop {r4, pc}\n")

/* Its end stands before a call by a register, and there is one in another loop that keeps lr. */
FUNCTION(sums, "push {r3, r4, r5, r6, r7, lr}\n"
	       "movs r4, #0\n"
	       "mov r5, r2\n"
	       "mov r6, r0\n"
	       "mov r7, r1\n"
	       "dls lr, r1\n"
	       "cbz r1, 3f\n"
	       "1: ldr r2, [r6], #4\n"
	       "adds r4, r2\n"
	       "mov r0, r4\n"
	       "le lr, 1b\n"
	       "blx r5\n"
	       "mov r4, r0\n"
	       "dls lr, r7\n"
	       "2: mov r7, lr\n"
	       "mov r0, r4\n"
	       "blx r5\n"
	       "adds r4, r0, #1\n"
	       "mov lr, r7\n"
	       "le lr, 2b\n"
	       "3: mov r0, r4\n"
	       "pop {r3, r4, r5, r6, r7, pc}\n")

/* Left early; and one that has no counter. */
FUNCTION(find, "push {r4, lr}\n"
	       "movs r4, #0\n"
	       "wls lr, r1, 3f\n"
	       "1: ldr r3, [r0], #4\n"
	       "cmp r3, #200\n"
	       "bhi 2f\n"
	       "adds r4, #1\n"
	       "le lr, 1b\n"
	       "2: cmp r4, #9\n"
	       "bhs 3f\n"
	       "adds r4, #2\n"
	       "le 2b\n"
	       "3: mov r0, r4\n"
	       "pop {r4, pc}\n")

/* Loops in a loop. */
FUNCTION(square, "push {r4, r5, lr}\n"
		 "movs r4, #0\n"
		 "wls lr, r1, 5f\n"
		 "1: mov r5, lr\n"
		 "ldr r3, [r0], #4\n"
		 "and r3, #7\n"
		 "wls lr, r3, 4f\n"
		 "2: lsls r2, r4, #30\n"
		 "bpl 3f\n"
		 "adds r4, #5\n"
		 "3: adds r4, #1\n"
		 "le lr, 2b\n"
		 "4: mov lr, r5\n"
		 "le lr, 1b\n"
		 "5: mov r0, r4\n"
		 "pop {r4, r5, pc}\n")

/* Tail-predicated, with a block of predicated instructions before branches and calls of 2 bytes. */
FUNCTION(vectors, "push {r3, r4, r5, lr}\n"
		  "vpush {d8-d9}\n"
		  "mov r5, r2\n"
		  "movs r4, #100\n"
		  "vmov.i32 q0, #0\n"
		  "wlstp.32 lr, r1, 2f\n"
		  "1: vldrw.u32 q1, [r0], #16\n"
		  "vadd.i32 q0, q0, q1\n"
		  "letp lr, 1b\n"
		  "2: vdup.32 q2, r4\n"
		  "cmp r1, #5\n"
		  "vpt.u32 cs, q0, q2\n"
		  "vaddt.i32 q0, q0, q2\n"
		  "bhi 3f\n"
		  "vpt.u32 cs, q2, q0\n"
		  "vmult.i32 q0, q0, q2\n"
		  "3: vaddv.u32 r0, q0\n"
		  "vpte.u32 cs, q0, q2\n"
		  "vaddt.i32 q0, q0, q2\n"
		  "vsube.i32 q0, q0, q2\n"
		  "blx r5\n"
		  "vaddva.u32 r0, q0\n"
		  "vpop {d8-d9}\n"
		  "pop {r3, r4, r5, pc}\n")

/* Flags are read by what is not conditional: csinc, and where lr is the counter they hold what is
 * needed later. */
FUNCTION(flags, "push {r4, lr}\n"
		"movs r4, #0\n"
		"cmp r1, #3\n"
		"wls lr, r1, 2f\n"
		"1: cinc r4, r4, hi\n"
		"cbz r4, 3f\n"
		"add r4, r4, r4\n"
		"3: cset r3, ls\n"
		"add r4, r4, r3\n"
		"le lr, 1b\n"
		"2: mov r0, r4\n"
		"pop {r4, pc}\n")

static work *const works[] = {odd, runs, least, sums, find, square, vectors, flags};

/* What a compiler makes of such loops. */
static __attribute__((noinline)) uint32_t compiled(const uint32_t *words, uint32_t count)
{
	uint32_t all = 0;
	volatile uint32_t odd_ones = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (words[i] & 1)
			odd_ones += words[i];
		else if (words[i] > 50)
			odd_ones ^= i;
	}
	for (uint32_t i = 0; i < count; i++)
		all += words[i] * 3;
	return all + odd_ones;
}

int main(void)
{
	uint32_t words[WORDS];

	if (TICKS)
		board_start_ticks(TICKS);
	for (uint32_t round = 0; round < 12; round++) {
		for (uint32_t i = 0; i < WORDS; i++)
			words[i] = (i * 37 + round * 11) & 0xff;
		for (unsigned i = 0; i < sizeof(works) / sizeof(works[0]); i++)
			printf("%u ", (unsigned)works[i](words, round * 2, spread));
		printf("%u\n", (unsigned)compiled(words, round * 2));
	}
	board_stop_ticks();
	return 0;
}
