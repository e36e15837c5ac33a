/* The compact form of a full chunk of events: what the recorder writes in place
 * of the words once the chunk is complete, and how the post-processor gets the
 * very same words back. Pure code, for device and host.
 *
 * Programs repeat themselves: after the same few words most often comes the same
 * word again. A table remembers for each such context the word that came last, and
 * as long as the words are those that it foresees they are only counted, which
 * takes six or seven instructions each. Only a word that was not foreseen has
 * data of its own. The data are records: a byte, with
 *
 *   bits 0 to 5  the number of foreseen words, and
 *   bits 6 and 7 what follows them:
 *     0  nothing: another record, or the end
 *     1  a word that a second table holds, of those met before; two bytes: where
 *     2  any other word; four bytes
 *     3  not used
 *
 * with the bytes of a number from the least significant one on. Both tables start
 * with LITIFUT_COMPACT_NOTHING in each block, so that any block can be read by
 * itself.
 *
 * Clock words are not part of this. In a timed block they are written from the end
 * of the data backwards: the difference to the last one in the block (at first to
 * 0), with the sign in the lowest bit, 7 bits a byte, least significant first, bit 7
 * set: more follows. Between both kinds of data up to six bytes are without
 * meaning. */
#ifndef LITIFUT_COMPACT_H
#define LITIFUT_COMPACT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <litifut/trace_format.h>

#define LITIFUT_COMPACT_FORESEEN 2048
#define LITIFUT_COMPACT_MET 1024
/* no word of an event, and no control word */
#define LITIFUT_COMPACT_NOTHING 1u
/* most foreseen words in a record */
#define LITIFUT_COMPACT_RUN 63u

enum litifut_compact_record { LITIFUT_COMPACT_END, LITIFUT_COMPACT_OLD, LITIFUT_COMPACT_NEW };

struct litifut_compact_tables {
	uint32_t foreseen[LITIFUT_COMPACT_FORESEEN]; /* by context */
	uint32_t met[LITIFUT_COMPACT_MET];           /* by bits 2 to 11 of the word */
};

/* Data of a block: `front` bytes from its start and `back` bytes before its end,
 * both multiples of four. */
struct litifut_compact_size {
	uint32_t front;
	uint32_t back;
};

/* What encoder and decoder know at a word. */
struct litifut_compact_context {
	struct litifut_compact_tables *tables;
	uint32_t place; /* in `foreseen`, in bytes */
	uint32_t time;
};

static inline void litifut_compact_start(struct litifut_compact_context *context,
					 struct litifut_compact_tables *tables)
{
	uint32_t *words = (uint32_t *)tables;

	for (uint32_t i = 0; i < sizeof(*tables) / 4; i += 4) {
		words[i] = LITIFUT_COMPACT_NOTHING;
		words[i + 1] = LITIFUT_COMPACT_NOTHING;
		words[i + 2] = LITIFUT_COMPACT_NOTHING;
		words[i + 3] = LITIFUT_COMPACT_NOTHING;
	}
	context->tables = tables;
	context->place = 0;
	context->time = 0;
}

static inline uint32_t *litifut_compact_foreseen(const struct litifut_compact_context *context)
{
	return (uint32_t *)((uint8_t *)context->tables->foreseen + context->place);
}

static inline uint32_t *litifut_compact_met(const struct litifut_compact_context *context,
					    uint32_t word)
{
	return &context->tables->met[word >> 2 & (LITIFUT_COMPACT_MET - 1)];
}

/* After a word: the next one is looked up by it and the three before it. */
static inline void litifut_compact_pass(struct litifut_compact_context *context, uint32_t word)
{
	context->place = (context->place << 3 ^ word) & 4 * (LITIFUT_COMPACT_FORESEEN - 1);
}

static inline bool litifut_compact_is_foreseen(struct litifut_compact_context *context,
					       uint32_t word)
{
	if (*litifut_compact_foreseen(context) != word)
		return false;
	litifut_compact_pass(context, word);
	return true;
}

/* Words of the event that begins with `word`, its clock word not counted. */
static inline uint32_t litifut_compact_words(uint32_t word)
{
	return word >= LITIFUT_WORD_FIRST_ADDRESS ? 1 : 3;
}

static inline bool litifut_compact_is_event(uint32_t word, bool timed)
{
	uint32_t kind = LITIFUT_CONTROL_KIND(word);

	return word >= LITIFUT_WORD_FIRST_ADDRESS ||
	       (litifut_word_is_call(kind) && LITIFUT_CONTROL_FOLLOWING(word) == (timed ? 3 : 2) &&
		word >> 16 == 0);
}

/* Writes the records of `run` foreseen words and of `word`, which was not, and
 * learns it. At most run / 63 + 5 bytes. */
static inline uint8_t *litifut_compact_put(struct litifut_compact_context *context, uint32_t run,
					   uint32_t word, uint8_t *out)
{
	uint32_t *met = litifut_compact_met(context, word);

	for (; run > LITIFUT_COMPACT_RUN; run -= LITIFUT_COMPACT_RUN)
		*out++ = LITIFUT_COMPACT_RUN;
	if (*met == word) {
		uint32_t place = (uint32_t)(met - context->tables->met);

		*out++ = (uint8_t)(run | LITIFUT_COMPACT_OLD << 6);
		*out++ = (uint8_t)place;
		*out++ = (uint8_t)(place >> 8);
	} else {
		*met = word;
		*out++ = (uint8_t)(run | LITIFUT_COMPACT_NEW << 6);
		for (int i = 0; i < 4; i++)
			*out++ = (uint8_t)(word >> 8 * i);
	}
	*litifut_compact_foreseen(context) = word;
	litifut_compact_pass(context, word);
	return out;
}

static inline uint8_t *litifut_compact_put_end(uint32_t run, uint8_t *out)
{
	for (; run > LITIFUT_COMPACT_RUN; run -= LITIFUT_COMPACT_RUN)
		*out++ = LITIFUT_COMPACT_RUN;
	if (run)
		*out++ = (uint8_t)run;
	return out;
}

/* Bytes for the records of up to `words` words that were all foreseen, and of one that
 * was not. */
static inline uint32_t litifut_compact_spare(uint32_t words)
{
	return words / LITIFUT_COMPACT_RUN + 6;
}

/* The first word from `words` to `last` that is not foreseen, or `last`. */
static inline const uint32_t *litifut_compact_skip(struct litifut_compact_context *context,
						   const uint32_t *words, const uint32_t *last)
{
	for (; last - words >= 4; words += 4) {
		if (!litifut_compact_is_foreseen(context, words[0]))
			return words;
		if (!litifut_compact_is_foreseen(context, words[1]))
			return words + 1;
		if (!litifut_compact_is_foreseen(context, words[2]))
			return words + 2;
		if (!litifut_compact_is_foreseen(context, words[3]))
			return words + 3;
	}
	while (words != last && litifut_compact_is_foreseen(context, *words))
		words++;
	return words;
}

/* Words that are not timed; `end` leaves spare room. NULL without room, and for a
 * zero word: none is ever foreseen. */
static inline uint8_t *litifut_compact_encode_plain(struct litifut_compact_context *context,
						    const uint32_t *words, uint32_t count,
						    uint8_t *out, const uint8_t *end)
{
	struct litifut_compact_context here = *context; /* stays in registers */
	const uint32_t *last = words + count;
	const uint32_t *start = words;

	while ((words = litifut_compact_skip(&here, words, last)) != last) {
		uint32_t run = (uint32_t)(words - start);

		if (!*words || out > end)
			return NULL;
		out = litifut_compact_put(&here, run, *words, out);
		start = ++words;
	}
	return out > end ? NULL : litifut_compact_put_end((uint32_t)(last - start), out);
}

/* Writes the clock word before `clocks`: 5 bytes at most. */
static inline uint8_t *litifut_compact_put_clock(struct litifut_compact_context *context,
						 uint32_t word, uint8_t *clocks)
{
	uint32_t step = word - context->time;

	context->time = word;
	step = step << 1 ^ (step >> 31 ? UINT32_MAX : 0);
	for (; step >= 0x80; step >>= 7)
		*--clocks = (uint8_t)(step | 0x80);
	*--clocks = (uint8_t)step;
	return clocks;
}

/* The same for timed words; their clock words go before `*end`, which is set to
 * where they begin. */
static inline uint8_t *litifut_compact_encode_timed(struct litifut_compact_context *context,
						    const uint32_t *words, uint32_t count,
						    uint8_t *out, uint8_t **end)
{
	struct litifut_compact_context here = *context;
	const uint32_t *last = words + count;
	uint8_t *clocks = *end;
	int32_t spare = (int32_t)litifut_compact_spare(count);
	uint32_t run = 0;

	while (words != last) {
		uint32_t length = 1;
		bool event = true;

		if (*words < LITIFUT_WORD_FIRST_ADDRESS) {
			event = litifut_compact_is_event(*words, true);
			length = 1 + LITIFUT_CONTROL_FOLLOWING(*words) - event;
			/* words of an event are never zero */
			if (!*words || (int32_t)length > last - words ||
			    (event && (!words[1] || !words[2])))
				return NULL;
		}
		if (clocks - out < spare + 5 * (int32_t)length + 5)
			return NULL;
		for (const uint32_t *next = words + length; words != next; words++) {
			if (litifut_compact_is_foreseen(&here, *words)) {
				run++;
			} else {
				out = litifut_compact_put(&here, run, *words, out);
				run = 0;
			}
		}
		if (!event)
			continue;
		if (words == last || !*words)
			return NULL;
		clocks = litifut_compact_put_clock(&here, *words++, clocks);
	}
	*end = clocks;
	return clocks - out < spare ? NULL : litifut_compact_put_end(run, out);
}

/* Encodes `count` words into the `size` bytes at `out`, a multiple of four, at
 * both of its ends; what is between them does not belong to the block. False
 * when the words do not fit or are not whole events (a zero among them: a slot
 * that is still to be filled). `tables` is scratch memory. */
static inline bool litifut_compact_encode(struct litifut_compact_tables *tables,
					  const uint32_t *words, uint32_t count, bool timed,
					  uint8_t *out, uint32_t size,
					  struct litifut_compact_size *used)
{
	struct litifut_compact_context context;
	uint8_t *start = out;
	uint8_t *end = out + size;
	uint8_t *clocks = end;

	if (size < litifut_compact_spare(count) + 6)
		return false;
	litifut_compact_start(&context, tables);
	out = timed ? litifut_compact_encode_timed(&context, words, count, out, &clocks)
		    : litifut_compact_encode_plain(&context, words, count, out,
						   end - litifut_compact_spare(count) - 6);
	if (!out || clocks - out < 6)
		return false;
	while ((out - start) % 4)
		*out++ = 0;
	while ((end - clocks) % 4)
		*--clocks = 0;
	used->front = (uint32_t)(out - start);
	used->back = (uint32_t)(end - clocks);
	return true;
}

/* Where a reader stands in a timed block. */
struct litifut_compact_clocks {
	const uint8_t *start; /* the records end here at the latest */
	const uint8_t *at;
	uint32_t left; /* words until the next clock word or control word */
	bool event;
};

/* Reads the clock word before `clocks->at`. */
static inline bool litifut_compact_get_clock(struct litifut_compact_context *context,
					     struct litifut_compact_clocks *clocks)
{
	uint32_t step = 0;
	uint8_t byte = 0x80;

	for (unsigned bits = 0; byte & 0x80; bits += 7) {
		if (clocks->at == clocks->start || bits > 28)
			return false;
		byte = *--clocks->at;
		step |= (uint32_t)(byte & 0x7f) << bits;
	}
	context->time += step >> 1 ^ (step & 1 ? UINT32_MAX : 0);
	return true;
}

/* True when a clock word comes after `word`. */
static inline bool litifut_compact_clock_follows(struct litifut_compact_clocks *clocks,
						 uint32_t word)
{
	if (!clocks->left) {
		clocks->event = litifut_compact_is_event(word, true);
		clocks->left = clocks->event ? litifut_compact_words(word)
					     : 1 + LITIFUT_CONTROL_FOLLOWING(word);
	}
	clocks->left--;
	return clocks->event && !clocks->left;
}

/* Decodes `size` bytes at `in` into `words`, which has room for `count`. Returns
 * how many words came out: less than `count` when the bytes are damaged, and
 * then what came before the damage is there. `tables` is scratch memory. */
static inline uint32_t litifut_compact_decode(struct litifut_compact_tables *tables,
					      const uint8_t *in, uint32_t size, bool timed,
					      uint32_t *words, uint32_t count)
{
	struct litifut_compact_context context;
	struct litifut_compact_clocks clocks = {in, in + size, 0, false};
	const uint8_t *end = in + size;
	uint32_t at = 0;

	litifut_compact_start(&context, tables);
	while (at < count && in != end) {
		uint32_t run = *in & LITIFUT_COMPACT_RUN;
		unsigned record = *in++ >> 6;
		uint32_t bytes = record == LITIFUT_COMPACT_OLD ? 2 : 4;
		uint32_t data = 0;

		for (uint32_t left = run + (record != LITIFUT_COMPACT_END); left; left--) {
			uint32_t word;

			if (at == count)
				return at;
			if (left > 1 || record == LITIFUT_COMPACT_END) {
				word = *litifut_compact_foreseen(&context);
			} else {
				if (record > LITIFUT_COMPACT_NEW || (uint32_t)(end - in) < bytes)
					return at;
				for (unsigned i = 0; i < bytes; i++)
					data |= (uint32_t)*in++ << 8 * i;
				if (bytes == 2 && data >= LITIFUT_COMPACT_MET)
					return at;
				word = bytes == 2 ? tables->met[data] : data;
				*litifut_compact_met(&context, word) = word;
				*litifut_compact_foreseen(&context) = word;
			}
			words[at++] = word;
			litifut_compact_pass(&context, word);
			if (timed && litifut_compact_clock_follows(&clocks, word)) {
				if (at == count || !litifut_compact_get_clock(&context, &clocks))
					return at;
				words[at++] = context.time;
			}
		}
	}
	return at;
}

#endif
