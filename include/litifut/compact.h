/* The compact form of a full chunk of events: what the recorder writes in place
 * of the words once the chunk is complete, and how the post-processor gets the
 * very same words back. Pure code, for device and host.
 *
 * The words are taken as units: a direct call, or a control word and what
 * follows it. Each unit has a code of 2 bits; four codes make a byte, which
 * stands before the data of its four units:
 *
 *   1  the event that followed the last three call sites when they were last
 *      met in this order; no data
 *   2  the event that followed the last call site; no data
 *   3  any other event: its words, 4 bytes each, least significant first
 *      (one word for a direct call, else three)
 *   0  not an event: a byte with the number of words that follow the control
 *      word, then all words
 *
 * In a timed chunk each event has its clock word besides, written after its data
 * as the difference to the last one in the block (at first to 0), with the sign
 * in the lowest bit, 7 bits a byte, least significant first, bit 7 set: more
 * follows. The tables start empty in each block, so that any block can be read
 * by itself. */
#ifndef LITIFUT_COMPACT_H
#define LITIFUT_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include <litifut/trace_format.h>

#define LITIFUT_COMPACT_RECENT 1024
#define LITIFUT_COMPACT_LAST 512

/* The words of an event, without its clock word. */
struct litifut_compact_event {
	uint32_t words[3];
};

struct litifut_compact_tables {
	struct litifut_compact_event recent[LITIFUT_COMPACT_RECENT];
	struct litifut_compact_event last[LITIFUT_COMPACT_LAST];
};

/* What encoder and decoder know at a unit. */
struct litifut_compact_context {
	struct litifut_compact_tables *tables;
	uint32_t recent; /* index into its table */
	uint32_t last;
	uint32_t time;
};

static inline void litifut_compact_start(struct litifut_compact_context *context,
					 struct litifut_compact_tables *tables)
{
	uint32_t *words = (uint32_t *)tables;

	for (uint32_t i = 0; i < sizeof(*tables) / 4; i++)
		words[i] = 0;
	context->tables = tables;
	context->recent = 0;
	context->last = 0;
	context->time = 0;
}

/* Words of the unit that begins with `word`, its clock word not counted. An
 * event's return address is its first word, or its second. */
static inline uint32_t litifut_compact_words(uint32_t word)
{
	return word >= LITIFUT_WORD_FIRST_ADDRESS ? 1 : 3;
}

static inline bool litifut_compact_is_event(uint32_t word, bool timed)
{
	uint32_t kind = LITIFUT_CONTROL_KIND(word);

	return word >= LITIFUT_WORD_FIRST_ADDRESS ||
	       (kind >= LITIFUT_WORD_CALL && kind <= LITIFUT_WORD_TAIL &&
		LITIFUT_CONTROL_FOLLOWING(word) == (timed ? 3 : 2) && word >> 16 == 0);
}

static inline bool litifut_compact_same(const struct litifut_compact_event *event,
					const uint32_t *words, uint32_t count)
{
	return event->words[0] == words[0] &&
	       (count == 1 || (event->words[1] == words[1] && event->words[2] == words[2]));
}

static inline void litifut_compact_keep(struct litifut_compact_event *event, const uint32_t *words,
					uint32_t count)
{
	event->words[0] = words[0];
	if (count == 1)
		return;
	event->words[1] = words[1];
	event->words[2] = words[2];
}

/* After an event: the next one is looked up by it. */
static inline void litifut_compact_pass(struct litifut_compact_context *context, uint32_t site)
{
	uint32_t mixed = site >> 1 ^ site >> 10;

	context->last = mixed & (LITIFUT_COMPACT_LAST - 1);
	context->recent = (context->recent << 3 ^ mixed) & (LITIFUT_COMPACT_RECENT - 1);
}

/* The same, and the tables learn it. */
static inline void litifut_compact_learn(struct litifut_compact_context *context,
					 const uint32_t *words, uint32_t count, unsigned code)
{
	if (code != 1) { /* what was foreseen teaches nothing */
		litifut_compact_keep(&context->tables->recent[context->recent], words, count);
		litifut_compact_keep(&context->tables->last[context->last], words, count);
	}
	litifut_compact_pass(context, count == 1 ? words[0] : words[1]);
}

static inline uint8_t *litifut_compact_put(uint8_t *out, uint32_t word)
{
	for (int i = 0; i < 4; i++)
		*out++ = (uint8_t)(word >> 8 * i);
	return out;
}

/* Encodes `count` words into at most `size` bytes at `out`. Returns the bytes
 * used, or 0 when they do not fit or the words are no whole units (a zero among
 * them: a slot that is still to be filled). `tables` is scratch memory. */
static inline uint32_t litifut_compact_encode(struct litifut_compact_tables *tables,
					      const uint32_t *words, uint32_t count, bool timed,
					      uint8_t *out, uint32_t size)
{
	struct litifut_compact_context context;
	uint8_t *start = out;
	uint8_t *end = out + size;
	uint8_t *codes = out;
	unsigned shift = 8;

	litifut_compact_start(&context, tables);
	for (uint32_t at = 0; at < count;) {
		uint32_t word = words[at];
		uint32_t length;
		unsigned code;

		if (shift == 8) {
			/* room for four events, and then for what is looked at apart */
			if (end - out < 1 + 4 * (12 + 5))
				return 0;
			codes = out++;
			*codes = 0;
			shift = 0;
		}
		/* by far the most frequent event, without the steps it has no use for */
		if (!timed && word >= LITIFUT_WORD_FIRST_ADDRESS &&
		    tables->recent[context.recent].words[0] == word) {
			*codes |= (uint8_t)(1 << shift);
			shift += 2;
			at++;
			litifut_compact_pass(&context, word);
			continue;
		}
		if (!litifut_compact_is_event(word, timed)) {
			length = 1 + LITIFUT_CONTROL_FOLLOWING(word);
			if (!word || length > count - at ||
			    (uint32_t)(end - out) < 4 * (12 + 5) + 1 + 4 * length)
				return 0;
			*out++ = (uint8_t)(length - 1);
			for (uint32_t i = 0; i < length; i++)
				out = litifut_compact_put(out, words[at + i]);
			at += length;
			shift += 2;
			continue;
		}
		length = litifut_compact_words(word);
		if (length + timed > count - at ||
		    (length == 3 && (!words[at + 1] || !words[at + 2])))
			return 0;
		if (litifut_compact_same(&tables->recent[context.recent], words + at, length))
			code = 1;
		else if (litifut_compact_same(&tables->last[context.last], words + at, length))
			code = 2;
		else
			code = 3;
		*codes |= (uint8_t)(code << shift);
		shift += 2;
		if (code == 3)
			for (uint32_t i = 0; i < length; i++)
				out = litifut_compact_put(out, words[at + i]);
		litifut_compact_learn(&context, words + at, length, code);
		at += length;
		if (timed) {
			uint32_t step = words[at] - context.time;

			context.time = words[at++];
			step = step << 1 ^ (step >> 31 ? UINT32_MAX : 0);
			for (; step >= 0x80; step >>= 7)
				*out++ = (uint8_t)(step | 0x80);
			*out++ = (uint8_t)step;
		}
	}
	return (uint32_t)(out - start);
}

static inline uint32_t litifut_compact_get(const uint8_t *in)
{
	return in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

/* Decodes `size` bytes at `in` into `words`, which has room for `count`. Returns
 * how many words came out: less than `count` when the bytes are damaged, and
 * then what came before the damage is there. `tables` is scratch memory. */
static inline uint32_t litifut_compact_decode(struct litifut_compact_tables *tables,
					      const uint8_t *in, uint32_t size, bool timed,
					      uint32_t *words, uint32_t count)
{
	struct litifut_compact_context context;
	const uint8_t *end = in + size;
	uint32_t at = 0;
	unsigned codes = 0;
	unsigned shift = 8;

	litifut_compact_start(&context, tables);
	while (at < count) {
		struct litifut_compact_event event = {{0, 0, 0}};
		uint32_t length = 0;
		unsigned code;

		if (shift == 8) {
			if (in == end)
				return at;
			codes = *in++;
			shift = 0;
		}
		code = codes >> shift & 3;
		shift += 2;
		if (code == 0) {
			if (in == end)
				return at;
			length = 1 + (uint32_t)*in++;
			if (length > count - at || 4 * length > (uint32_t)(end - in))
				return at;
			for (; length; length--, in += 4)
				words[at++] = litifut_compact_get(in);
			continue;
		}
		if (code == 1)
			event = tables->recent[context.recent];
		else if (code == 2)
			event = tables->last[context.last];
		if (code == 3) {
			if (end - in < 4)
				return at;
			event.words[0] = litifut_compact_get(in);
			length = litifut_compact_words(event.words[0]);
			if ((uint32_t)(end - in) < 4 * length)
				return at;
			for (uint32_t i = 0; i < length; i++, in += 4)
				event.words[i] = litifut_compact_get(in);
		}
		length = litifut_compact_words(event.words[0]);
		if (!litifut_compact_is_event(event.words[0], timed) || length + timed > count - at)
			return at;
		for (uint32_t i = 0; i < length; i++)
			words[at + i] = event.words[i];
		litifut_compact_learn(&context, event.words, length, code);
		if (timed) {
			uint32_t step = 0;
			uint8_t byte = 0x80;

			for (unsigned bits = 0; byte & 0x80; bits += 7) {
				if (in == end || bits > 28)
					return at;
				byte = *in++;
				step |= (uint32_t)(byte & 0x7f) << bits;
			}
			context.time += step >> 1 ^ (step & 1 ? UINT32_MAX : 0);
			words[at + length] = context.time;
		}
		at += length + timed;
	}
	return at;
}

#endif
