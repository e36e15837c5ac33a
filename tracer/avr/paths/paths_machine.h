/* What tracer/sink/paths needs of an AVR. */
#ifndef LITIFUT_TRACER_AVR_PATHS_MACHINE_H
#define LITIFUT_TRACER_AVR_PATHS_MACHINE_H

#include "tracer/avr/interrupts.h"

typedef uint8_t litifut_paths_kind;
typedef uint8_t litifut_paths_slot; /* of the stack */

#define LITIFUT_PATHS_KEPT false /* does the ring outlast a reset? */
#define LITIFUT_PATHS_UPPER .upper = 0x80,
#define LITIFUT_PATHS_CALLS 8 /* of a SYNC, at most */
#define LITIFUT_PATHS_DEPTH LITIFUT_NUMBERS_SMALL_DEPTH
#define LITIFUT_PATHS_STACK 64 /* bytes that are searched for them */

#define LITIFUT_PATHS_FULL_BITS 0x80 /* the next one is not put in the byte */

/* The address of code in words, and the bytes of it that a call pushes. */
#ifdef __AVR_3_BYTE_PC__
#define LITIFUT_PATHS_RETURN 3
typedef uint32_t litifut_paths_number;
#else
#define LITIFUT_PATHS_RETURN 2
typedef uint16_t litifut_paths_number;
#endif

/* Bits that are not in a word of the ring yet, below a 1. */
extern HIDDEN uint8_t litifut_paths_bits;

/* 1: the ring is full, and nothing was sent since then. 2 more: recording is switched off. */
extern HIDDEN uint8_t litifut_paths_shut;

/* Where the stack begins, the last byte of the memory. */
extern char __stack[] __attribute__((weak));

/* Without a function of libgcc, which may be one of the program that records its branches. */
static inline uint32_t litifut_paths_product(uint32_t laps, uint32_t words)
{
	uint32_t product = 0;

	for (; laps; laps >>= 1, words <<= 1)
		if (laps & 1)
			product += words;
	return product;
}

/* Are there bits that are not in a word of the ring yet? */
static inline bool litifut_paths_has_pending(void)
{
	return litifut_paths_bits != LITIFUT_PATHS_NONE;
}

/* Puts them there. Returns what follows. */
static inline uint32_t *litifut_paths_pending(uint32_t *at)
{
	if (litifut_paths_has_pending())
		*at++ = litifut_paths_bits;
	litifut_paths_bits = LITIFUT_PATHS_NONE;
	return at;
}

/* Begins a word, with this bit or none. */
static inline void litifut_paths_open(uint32_t *at, litifut_paths_kind kind)
{
	*at = LITIFUT_PATHS_NONE;
	litifut_paths_bits =
		kind < 2 ? (uint8_t)(LITIFUT_PATHS_NONE << 1 | kind) : LITIFUT_PATHS_NONE;
}

/* The next bit finds no room, and what is recorded is only counted until there can be some. */
static inline void litifut_paths_forget(void)
{
	litifut_paths_bits = LITIFUT_PATHS_FULL_BITS;
	litifut_paths_shut = 1;
}

static inline bool litifut_paths_is_shut(void)
{
	return litifut_paths_shut;
}

/* Words have been sent. */
static inline void litifut_paths_reopen(void)
{
	litifut_paths_shut &= 2;
}

/* Recording is switched off or on. */
static inline void litifut_paths_switch(bool off)
{
	litifut_paths_bits = LITIFUT_PATHS_FULL_BITS;
	litifut_paths_shut = (uint8_t)((litifut_paths_shut & 1) | off << 1);
}

/* The word of the flash that has this number. */
static inline uint16_t litifut_paths_code(litifut_paths_number number)
{
	uint32_t address = 2 * (uint32_t)number;
	uint16_t word;

#ifdef __AVR_HAVE_ELPMX__
	uint8_t above;

	__asm__ volatile(
		"in %1, 0x3b\n\tout 0x3b, %C2\n\tmovw r30, %A2\n\telpm %A0, Z+\n\telpm %B0, Z"
		"\n\tout 0x3b, %1"
		: "=&r"(word), "=&r"(above)
		: "r"(address)
		: "r30", "r31");
#else
	__asm__ volatile("movw r30, %A1\n\tlpm %A0, Z+\n\tlpm %B0, Z"
			 : "=&r"(word)
			 : "r"(address)
			 : "r30", "r31");
#endif
	return word;
}

#ifdef LITIFUT_PACKED
/* Word number `index' of the patterns; where there are none, the address is 0. */
__asm__(".weak litifut_patterns");

static inline litifut_paths_number litifut_patterns_at(void)
{
	uint32_t number;

	__asm__("ldi %A0, lo8(pm(litifut_patterns))\n\t"
		"ldi %B0, hi8(pm(litifut_patterns))\n\t"
		"ldi %C0, hh8(pm(litifut_patterns))\n\tldi %D0, 0"
		: "=d"(number));
	return (litifut_paths_number)number;
}

static inline uint32_t litifut_patterns_word(uint16_t index)
{
	const litifut_paths_number at = litifut_patterns_at() + 2 * (litifut_paths_number)index;

	return litifut_paths_code(at) | (uint32_t)litifut_paths_code(at + 1) << 16;
}

static inline bool litifut_patterns_exist(void)
{
	return litifut_patterns_at() != 0;
}
#endif

/* Where the code ends, in words. */
static inline litifut_paths_number litifut_paths_code_end(void)
{
	uint32_t number;

	__asm__("ldi %A0, lo8(pm(litifut_paths_code_high))\n\t"
		"ldi %B0, hi8(pm(litifut_paths_code_high))\n\t"
		"ldi %C0, hh8(pm(litifut_paths_code_high))\n\tldi %D0, 0"
		: "=d"(number));
	return (litifut_paths_number)(((uint32_t)litifut_paths_code((litifut_paths_number)number +
								    1)
					       << 16 |
				       litifut_paths_code((litifut_paths_number)number)) >>
				      1);
}

/* What a return would go to. */
static inline litifut_paths_number litifut_paths_number_at(const uint8_t *stack)
{
#if LITIFUT_PATHS_RETURN == 3
	return (uint32_t)stack[0] << 16 | (uint16_t)(stack[1] << 8 | stack[2]);
#else
	return (uint16_t)(stack[0] << 8 | stack[1]);
#endif
}

/* Does a call, an rcall or an icall stand before it? */
static inline bool litifut_paths_is_return(litifut_paths_number number)
{
	const uint16_t last = litifut_paths_code(number - 1);

	return (last & 0xf000) == 0xd000 || (last & 0xffef) == 0x9509 ||
	       (litifut_paths_code(number - 2) & 0xfe0e) == 0x940e;
}

/* Puts what may be return addresses of open calls, `most' of them, and where they stand. */
static inline uint32_t *litifut_paths_calls(uint32_t *at, const uint8_t *stack, unsigned most)
{
	const uint32_t *limit = at + 2 * most;
	const litifut_paths_number last = litifut_paths_code_end() - 2;
	const uint8_t *end = stack + LITIFUT_PATHS_STACK;

	if (__stack && end > (const uint8_t *)__stack + 2 - LITIFUT_PATHS_RETURN)
		end = (const uint8_t *)__stack + 2 - LITIFUT_PATHS_RETURN;
	for (; stack < end && at < limit; stack++) {
		const litifut_paths_number number = litifut_paths_number_at(stack);

		/* most words are not an address in the code */
		if ((litifut_paths_number)(number - 2) >= last || !litifut_paths_is_return(number))
			continue;
		*at++ = 2 * (uint32_t)number;
		*at++ = (uintptr_t)stack;
	}
	return at;
}

#endif
