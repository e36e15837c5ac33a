/* The compact form of what a firmware records with LITIFUT_MODE=paths (LITIFUT_COMPACT=1): the
 * words of <litifut/paths_format.h>, in buffers of LITIFUT_PACKED_WORDS or a few more, as they
 * leave the ring. Frames of <litifut/frames_format.h> carry them: 'P' the start of a buffer, 'Q'
 * each further piece.
 *
 * A buffer begins with a byte: its codec (enum litifut_packed_codec), and LITIFUT_PACKED_ANEW if
 * the model begins anew; then the position of its first word follows (LEB128). A reader that has
 * missed a frame can go on there. The rest are bits, the highest of a byte first; zeros fill the
 * last one.
 *
 * Branches are predicted: `expected' of the model has what followed the last ten branches when they
 * were the same before. Branches that were predicted correctly are only counted. The code of a run
 * of them is Exp-Golomb of order 1; behind it is what comes then:
 *
 *   0            the other branch
 *   1 0          the record of a block. Exp-Golomb of order 0: its place among those that were
 *                recorded last; LITIFUT_PACKED_RECENT: none of these, a number follows
 *   1 1 1 kind   3 bits: another record. Each of its words is a number: of LITIFUT_PATHS_INTERRUPT
 *                the second one without what is the same in the one before
 *   1 1 0        a pattern: its number in 4 bits, then how often it comes, in Exp-Golomb of order 0
 *                from 1 on. The model stays as it is, but what follows is expected as behind an
 *                interrupt
 *   1 1 1 000    the end of the buffer; a number says how many words it has
 *
 * With LITIFUT_PACKED_PLAIN, which is shorter where every fourth branch is not expected, or more,
 * branches stay as they are, and the model is left alone by them: a 0 is in front of eight of them;
 * a 1, three bits that say how many, and these, in the place of the code of a run and the 1 behind
 * it.
 *
 * A number is its bytes less 1, in 2 bits, and these bytes, the highest first.
 *
 * Patterns are words that the flash has (LITIFUT_PATTERNS), the symbol `litifut_patterns': for each
 * one the number of its words, in 32 bits, and these; a 0 behind the last one.
 *
 * Words of bits are not kept apart: bits up to the next record are one sequence. */
#ifndef LITIFUT_PACKED_FORMAT_H
#define LITIFUT_PACKED_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#define LITIFUT_PACKED_WORDS 48 /* 192 bytes */
#define LITIFUT_PACKED_ANEW 0x80
#define LITIFUT_PACKED_RECENT 8
#define LITIFUT_PACKED_CALLS 8 /* of a SYNC, at most */
#define LITIFUT_PACKED_HISTORY_MASK 0x3ff
#define LITIFUT_PACKED_PATTERNS 16
#define LITIFUT_PACKED_PATTERN_WORDS 12
#define LITIFUT_PACKED_TIMES 63 /* that a pattern comes, at most, or it is there once more */

enum litifut_packed_codec { LITIFUT_PACKED_PREDICTED = 1, LITIFUT_PACKED_PLAIN = 2 };

/* Halves of addresses, and stack pointers. */
#if defined(__AVR__) && !defined(__AVR_3_BYTE_PC__)
typedef uint16_t litifut_packed_number;
#else
typedef uint32_t litifut_packed_number;
#endif

/* What encoder and decoder know. */
struct litifut_packed_model {
	uint8_t expected[128]; /* a bit for each history of ten branches */
	uint16_t history;
	litifut_packed_number recent[LITIFUT_PACKED_RECENT]; /* records of blocks, newest first */
	litifut_packed_number frame;                         /* of the last interrupt */
};

static inline void litifut_packed_begin(struct litifut_packed_model *model)
{
	uint8_t *byte = (uint8_t *)model;

	for (uint8_t i = 0; i < sizeof(*model); i++)
		byte[i] = 0;
}

/* Where the branch stands that is expected behind this history. */
static inline uint8_t *litifut_packed_slot(struct litifut_packed_model *model, uint16_t history,
					   uint8_t *mask)
{
	const uint8_t which = (uint8_t)(history << 1 >> 8);
	uint8_t bit = which & 4 ? 0x10 : 1;

	if (which & 2)
		bit = (uint8_t)(bit << 2);
	if (which & 1)
		bit = (uint8_t)(bit << 1);
	*mask = bit;
	return &model->expected[history & 0x7f];
}

/* Whatever it is, the next branch is looked up by it and the nine before it. */
static inline uint16_t litifut_packed_next(uint16_t history, bool branch)
{
	return (uint16_t)(history << 1 | branch) & LITIFUT_PACKED_HISTORY_MASK;
}

/* Behind a record of a block: this place among the recent ones, or LITIFUT_PACKED_RECENT. */
static inline void litifut_packed_enter(struct litifut_packed_model *model, uint8_t place,
					litifut_packed_number block)
{
	if (place == LITIFUT_PACKED_RECENT)
		place--;
	for (; place; place--)
		model->recent[place] = model->recent[place - 1];
	model->recent[0] = block;
	model->history = (uint16_t)(block & LITIFUT_PACKED_HISTORY_MASK);
}

static inline void litifut_packed_interrupt(struct litifut_packed_model *model,
					    litifut_packed_number frame)
{
	model->frame = frame;
	model->history = LITIFUT_PACKED_HISTORY_MASK;
}

#endif
