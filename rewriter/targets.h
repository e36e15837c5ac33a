/* Where can control arrive other than from the instruction before? Code around
 * such a place can't be moved away. */
#ifndef LITIFUT_REWRITER_TARGETS_H
#define LITIFUT_REWRITER_TARGETS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct litifut_image;

/* One bit for each halfword of the executable span of an image, which may be all of 4 GB
 * with little code in it: what is in no page that was touched is not looked at. */
#define LITIFUT_TARGETS_PAGE 4096u /* bytes of bits */

struct litifut_targets {
	uint32_t start;
	uint32_t end;
	uint8_t *bits;
	uint8_t *touched; /* for each page: 1: it may have a bit */
};

/* An empty set for the addresses [start, end). */
enum litifut_status litifut_targets_create(uint32_t start, uint32_t end,
					   struct litifut_targets *targets,
					   struct litifut_error *error);

void litifut_targets_release(struct litifut_targets *targets);

/* Bit 0 of `address` is ignored; addresses outside are ignored, and never in. Here, as
 * it is done for every word of the data and every branch. */
static inline void litifut_targets_add(struct litifut_targets *targets, uint32_t address)
{
	uint32_t half = (address - targets->start) / 2;

	if (address < targets->start || address >= targets->end)
		return;
	targets->bits[half / 8] |= (uint8_t)(1u << half % 8);
	targets->touched[half / 8 / LITIFUT_TARGETS_PAGE] = 1;
}

/* Adds the `bytes` at `address`. */
static inline void litifut_targets_take(struct litifut_targets *targets, uint32_t address,
					uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += 2)
		litifut_targets_add(targets, address + at);
}

/* Adds the `count` addresses `address`, `address` + 4, and so on. */
void litifut_targets_add_words(struct litifut_targets *targets, uint32_t address, uint32_t count);

/* Adds all of `from`, which has the same bounds. */
void litifut_targets_merge(struct litifut_targets *targets, const struct litifut_targets *from);

/* Removes all of `from`, which has the same bounds. */
void litifut_targets_remove(struct litifut_targets *targets, const struct litifut_targets *from);

static inline bool litifut_targets_has(const struct litifut_targets *targets, uint32_t address)
{
	uint32_t half = (address - targets->start) / 2;

	return address >= targets->start && address < targets->end &&
	       targets->bits[half / 8] >> half % 8 & 1;
}

/* Words of the data, at [start, end), in which a multiple of 64 KB is only what code adds the low
 * half of an address to (MIPS: the GOT's). It leads to code where a function starts there, or where
 * code may add a low half of 0 to it: then bit number `address` / 64 KB of `formed` is set. */
struct litifut_pages {
	uint32_t start, end;
	uint8_t formed[0x10000 / 8];
};

/* Which words of the data may be addresses of code. */
struct litifut_pointers {
	/* Multiples of this; 0: any, as bit 0 may say what kind of code it is. */
	uint8_t alignment;
	const struct litifut_pages *pages; /* NULL: there are none */
	/* A bit for each word at [called_start, called_end): 1 where code only reads it to call
	 * what the graph follows, so that it does not count as a pointer. */
	const uint8_t *called;
	uint32_t called_start, called_end;
};

/* Adds what data can tell on any CPU: the addresses of symbols and, outside of
 * code, every word that may be an address in the executable span: function
 * pointers, switch tables, labels. Where an image can be moved its dynamic
 * relocations tell which words are addresses. */
void litifut_targets_add_data(struct litifut_targets *targets, const struct litifut_image *image,
			      const struct litifut_pointers *pointers);

/* The same without the symbols. */
void litifut_targets_add_pointers(struct litifut_targets *targets,
				  const struct litifut_image *image,
				  const struct litifut_pointers *pointers);

/* The words alone, each taken for an offset from `base`: switch tables of
 * position-independent code. */
void litifut_targets_add_offsets(struct litifut_targets *targets, const struct litifut_image *image,
				 const struct litifut_pointers *pointers, uint32_t base);

#endif
