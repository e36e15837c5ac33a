/* Makes the words of the ring compact (<litifut/packed_format.h>), a little at a time: each step
 * takes some branches or a part of a record, and gives at most LITIFUT_PACK_BYTES to
 * litifut_pack_byte(). Pure code besides. */
#ifndef LITIFUT_TRACER_PATHS_PACK_H
#define LITIFUT_TRACER_PATHS_PACK_H

#include <litifut/packed_format.h>
#include <litifut/paths_format.h>

#define LITIFUT_PACK_BYTES 6

/* What a step may take in branches, and what one that was not expected takes besides. */
#define LITIFUT_PACK_STEP 14
#define LITIFUT_PACK_MISS 5

/* What an unexpected branch costs in bits, about, and how many buffers leave branches as they are
 * when that was too much. */
#define LITIFUT_PACK_MISS_BITS 4
#define LITIFUT_PACK_PLAIN 3

/* Of a record whose block is not among the recent ones, and of the calls of a SYNC. */
#define LITIFUT_PACK_BLOCK 8
#define LITIFUT_PACK_CALLS 9

struct litifut_pack {
	struct litifut_packed_model model;
	uint32_t word; /* the branches of a word that are left, from the highest bit on */
	uint16_t run;  /* of branches that were expected; plain: those, below a 1 */
	int16_t gain;  /* of a buffer so far, in bits */
	uint8_t left;
	uint8_t kind;  /* of a record that is under way, or one of the above */
	uint8_t more;  /* words of it that are to come */
	uint8_t bits;  /* of a byte that is not whole, below a 1 */
	uint8_t plain; /* for so many buffers branches stay as they are */
};

static void litifut_pack_byte(uint8_t byte);

/* The highest `count' bits, and zeros behind them. */
static __attribute__((noinline)) void litifut_pack_bits(struct litifut_pack *pack, uint8_t bits,
							uint8_t count)
{
	uint8_t held = pack->bits;

	for (; count; count--) {
		const bool full = held & 0x80;

		held = (uint8_t)(held << 1 | bits >> 7);
		bits = (uint8_t)(bits << 1);
		if (!full)
			continue;
		litifut_pack_byte(held);
		held = 1;
	}
	pack->bits = held;
}

/* All bits of a number from its highest 1 on, behind as many zeros, but `less'. */
static __attribute__((noinline)) void litifut_pack_code(struct litifut_pack *pack, uint16_t value,
							uint8_t less)
{
	uint8_t bits = (uint8_t)value, further = 0, count = 8;

	if (value > 0xff) {
		for (count = 16; !(value & 0x8000); count--)
			value = (uint16_t)(value << 1);
		bits = (uint8_t)(value >> 8);
		further = (uint8_t)(count - 8);
	} else {
		for (; !(bits & 0x80); count--)
			bits = (uint8_t)(bits << 1);
	}
	if (count > less)
		litifut_pack_bits(pack, 0, (uint8_t)(count - less));
	litifut_pack_bits(pack, bits, (uint8_t)(count - further));
	if (further)
		litifut_pack_bits(pack, (uint8_t)value, further);
}

static __attribute__((noinline)) void litifut_pack_number(struct litifut_pack *pack, uint32_t value)
{
	uint8_t bytes = 4;

	for (; bytes > 1 && !(value >> 24); bytes--)
		value <<= 8;
	litifut_pack_bits(pack, (uint8_t)((bytes - 1) << 6), 2);
	for (; bytes; bytes--) {
		litifut_pack_bits(pack, (uint8_t)(value >> 24), 8);
		value <<= 8;
	}
}

/* What was expected so far, and that something else follows: the code of the run, with a bit behind
 * it. */
static __attribute__((noinline)) void litifut_pack_run(struct litifut_pack *pack, uint8_t follows)
{
	const uint16_t run = pack->run;
	uint8_t count = 7, bits = (uint8_t)run;

	if (!pack->plain) {
		pack->run = 0;
		litifut_pack_code(pack, (uint16_t)((run + 2) << 1 | follows), 3);
		return;
	}
	pack->run = 1;
	for (; !(bits & 0x80); count--)
		bits = (uint8_t)(bits << 1);
	litifut_pack_bits(pack, (uint8_t)(0x80 | count << 4), 4);
	litifut_pack_bits(pack, (uint8_t)(bits << 1), count);
}

/* A branch that stays as it is. */
static inline void litifut_pack_plain(struct litifut_pack *pack, bool branch)
{
	const uint16_t run = (uint16_t)(pack->run << 1 | branch);

	pack->run = run;
	if (!(run & 0x100))
		return;
	pack->run = 1;
	litifut_pack_bits(pack, 0, 1);
	litifut_pack_bits(pack, (uint8_t)run, 8);
}

/* False: it was not expected. */
static inline bool litifut_pack_branch(struct litifut_pack *pack, bool branch)
{
	const uint16_t history = pack->model.history;
	uint8_t mask;
	uint8_t *slot = litifut_packed_slot(&pack->model, history, &mask);
	const uint8_t expected = *slot;

	pack->model.history = litifut_packed_next(history, branch);
	if (branch == ((expected & mask) != 0)) {
		pack->run++;
		return true;
	}
	*slot = expected ^ mask;
	pack->gain -= LITIFUT_PACK_MISS_BITS;
	litifut_pack_run(pack, 0);
	return false;
}

/* Some of a word that has bits. */
static inline bool litifut_pack_branches(struct litifut_pack *pack, uint32_t word)
{
	int8_t most = LITIFUT_PACK_STEP;
	uint8_t left = pack->left;

	if (left) {
		word = pack->word;
	} else {
		left = 31;
		for (; left > 8 && !(word >> 24); left = (uint8_t)(left - 8))
			word <<= 8;
		for (; left && !(word >> 31); left--)
			word <<= 1;
		word <<= 1;
		pack->gain = (int16_t)(pack->gain + left);
	}
	for (; most > 0 && left; most--, left--) {
		const bool branch = (word >> 24) & 0x80;

		word <<= 1;
		if (pack->plain)
			litifut_pack_plain(pack, branch);
		else if (!litifut_pack_branch(pack, branch))
			most = (int8_t)(most - LITIFUT_PACK_MISS);
	}
	pack->word = word;
	pack->left = left;
	return !left;
}

static inline bool litifut_pack_block(struct litifut_pack *pack, litifut_packed_number block)
{
	uint8_t place = 0;

	while (place < LITIFUT_PACKED_RECENT && pack->model.recent[place] != block)
		place++;
	litifut_packed_enter(&pack->model, place, block);
	litifut_pack_bits(pack, 0, 1);
	litifut_pack_code(pack, place + 1u, 1);
	pack->kind = place == LITIFUT_PACKED_RECENT ? LITIFUT_PACK_BLOCK : 0;
	return !pack->kind;
}

static inline bool litifut_pack_record(struct litifut_pack *pack, uint32_t value)
{
	litifut_pack_run(pack, 1);
	if (value >= LITIFUT_PATHS_KINDS)
		return litifut_pack_block(pack, (litifut_packed_number)value);
	const uint8_t kind = (uint8_t)value;

	litifut_pack_bits(pack, (uint8_t)(0xc0 | kind << 3), 5);
	pack->kind = kind;
	pack->more = kind == LITIFUT_PATHS_SYNC ? 3 : kind == LITIFUT_PATHS_INTERRUPT ? 2 : 1;
	return true;
}

/* A word behind the first one of a record. */
static inline void litifut_pack_more(struct litifut_pack *pack, uint32_t word)
{
	const bool last = !--pack->more;
	uint32_t number = word;

	if (last && pack->kind == LITIFUT_PATHS_INTERRUPT) {
		number ^= pack->model.frame;
		litifut_packed_interrupt(&pack->model, (litifut_packed_number)word);
	} else if (last && pack->kind == LITIFUT_PATHS_SYNC) {
		pack->more = (uint8_t)(2 * word);
		pack->kind = LITIFUT_PACK_CALLS;
	}
	litifut_pack_number(pack, number);
}

/* A pattern that comes so often. Not in the middle of a record. */
static inline void litifut_pack_pattern(struct litifut_pack *pack, uint8_t number, uint8_t times)
{
	litifut_pack_run(pack, 1);
	litifut_pack_bits(pack, (uint8_t)(0x80 | number << 2), 6);
	litifut_pack_code(pack, times, 1);
	pack->model.history = LITIFUT_PACKED_HISTORY_MASK;
}

/* Takes some of a word. True: all of it was taken, the next one is to follow. */
static inline bool litifut_pack_step(struct litifut_pack *pack, uint32_t word)
{
	const uint32_t value = word & ~(uint32_t)LITIFUT_PATHS_RECORD;

	if (pack->more) {
		litifut_pack_more(pack, word);
		return true;
	}
	if (word == value)
		return litifut_pack_branches(pack, word);
	if (pack->kind != LITIFUT_PACK_BLOCK)
		return litifut_pack_record(pack, value);
	pack->kind = 0;
	litifut_pack_number(pack, value);
	return true;
}

/* Begins a buffer. `anew': the model is new (litifut_packed_begin); `position': that of the first
 * word. */
static inline void litifut_pack_begin(struct litifut_pack *pack, bool anew, uint32_t position)
{
	if (pack->plain)
		pack->plain--;
	else if (pack->gain < 0)
		pack->plain = LITIFUT_PACK_PLAIN;
	pack->gain = 0;
	pack->run = pack->plain != 0;
	pack->bits = 1;
	litifut_pack_byte((pack->plain ? LITIFUT_PACKED_PLAIN : LITIFUT_PACKED_PREDICTED) |
			  (anew ? LITIFUT_PACKED_ANEW : 0));
	if (!anew)
		return;
	for (; position >> 7; position >>= 7)
		litifut_pack_byte((uint8_t)(position | 0x80));
	litifut_pack_byte((uint8_t)position);
}

/* Ends a buffer that has so many words. Not in the middle of a record. */
static inline void litifut_pack_end(struct litifut_pack *pack, uint8_t words)
{
	litifut_pack_run(pack, 1);
	litifut_pack_bits(pack, 0xc0, 5);
	litifut_pack_number(pack, words);
	while (pack->bits != 1)
		litifut_pack_bits(pack, 0, 1);
}

#endif
