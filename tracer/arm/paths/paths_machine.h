/* What tracer/sink/paths needs of a Cortex-M. */
#ifndef LITIFUT_TRACER_ARM_PATHS_MACHINE_H
#define LITIFUT_TRACER_ARM_PATHS_MACHINE_H

#include "tracer/arm/interrupts.h"

typedef uint32_t litifut_paths_kind;
typedef uint32_t litifut_paths_slot; /* of the stack */

#define LITIFUT_PATHS_KEPT (&litifut_kept != NULL) /* does the ring outlast a reset? */
#define LITIFUT_PATHS_UPPER
#define LITIFUT_PATHS_CALLS LITIFUT_PATHS_SYNC_CALLS /* of a SYNC, at most */
#define LITIFUT_PATHS_DEPTH LITIFUT_NUMBERS_DEPTH
#define LITIFUT_PATHS_STACK 128 /* words that are searched for them */

/* Of the program, from the rewriter: the memory that stacks are in, and the code. */
extern HIDDEN const uint32_t litifut_paths_stack_low, litifut_paths_stack_high;
extern HIDDEN const uint32_t litifut_paths_code_low, litifut_paths_code_high;

#ifdef LITIFUT_PACKED
extern HIDDEN const uint32_t litifut_patterns[] __attribute__((weak));

static inline uint32_t litifut_patterns_word(uint16_t index)
{
	return litifut_patterns[index];
}

static inline bool litifut_patterns_exist(void)
{
	return litifut_patterns != NULL;
}
#endif

static inline uint32_t litifut_paths_product(uint32_t laps, uint32_t words)
{
	return laps * words;
}

/* Are there bits that are not in a word of the ring yet? */
static inline bool litifut_paths_has_pending(void)
{
	return false;
}

/* Puts them there. Returns what follows. */
static inline uint32_t *litifut_paths_pending(uint32_t *at)
{
	return at;
}

/* Begins a word, with this bit or none. */
static inline void litifut_paths_open(uint32_t *at, litifut_paths_kind kind)
{
	*at = kind < 2 ? LITIFUT_PATHS_NONE << 1 | kind : LITIFUT_PATHS_NONE;
}

/* The next bit finds no room. */
static inline void litifut_paths_forget(void)
{
}

/* Each of them asks whether there is room by now. */
static inline bool litifut_paths_is_shut(void)
{
	return false;
}

static inline void litifut_paths_reopen(void)
{
}

/* Recording is switched off or on. */
static inline void litifut_paths_switch(bool off)
{
	(void)off;
}

/* May the word be a return address? bl, blx rN, or the code that has taken their place, stands
 * before it. */
static inline bool litifut_paths_is_return(uint32_t word)
{
	const uint32_t low = litifut_paths_code_low;
	const uint16_t *code = (const uint16_t *)(word - 1);

	return word & 1 && word - low < litifut_paths_code_high - low && word - low >= 4 &&
	       ((code[-2] & 0xf800) == 0xf000 || (code[-1] & 0xff87) == 0x4780 ||
		code[-1] == 0xbf00);
}

/* Puts what may be return addresses of open calls, `most' of them, and where they stand. The
 * innermost may be in lr only, which the code of a branch has pushed. */
static inline uint32_t *litifut_paths_calls(uint32_t *at, const uint32_t *stack, unsigned most)
{
	const uint32_t *limit = at + 2 * most;
	const uint32_t *end = stack - 1;

	if ((uint32_t)stack >= litifut_paths_stack_low &&
	    (uint32_t)stack < litifut_paths_stack_high) {
		end = stack + LITIFUT_PATHS_STACK;
		if ((uint32_t)end > litifut_paths_stack_high)
			end = (const uint32_t *)litifut_paths_stack_high;
	}
	for (const uint32_t *word = stack - 1; word < end && at < limit; word++) {
		if (!litifut_paths_is_return(*word))
			continue;
		*at++ = *word;
		*at++ = (uint32_t)word;
	}
	return at;
}

#endif
