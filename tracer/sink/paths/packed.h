/* Sends the words of the ring in their compact form (<litifut/packed_format.h>), for
 * tracer/sink/frames/send.c. Words are packed where they stand, while others are recorded, a little
 * in each step, which takes a bounded time: a frame that is full is sent before the next one is
 * begun. Where no word waits, the frame stays as it is until there are more, but for
 * litifut_send(). */
#ifndef LITIFUT_TRACER_PATHS_PACKED_H
#define LITIFUT_TRACER_PATHS_PACKED_H

#include "tracer/sink/paths/drain.h"
#include "tracer/sink/paths/pack.h"

enum packed_phase {
	PACKED_SENDS, /* the frame that was made, */
	PACKED_ZERO,  /* after a 0, as the program may have printed something */
	PACKED_WAITS, /* for words */
	PACKED_FRAME, /* a frame is to be begun */
	PACKED_PACKS, /* into the frame */
};

static struct {
	struct litifut_pack pack;
	uint32_t *at; /* the next word */
	uint32_t position;
	uint32_t *end;  /* of litifut_send(): words from here on are left for the next one */
	unsigned ready; /* words that are known to wait */
	uint8_t words;  /* of the buffer so far */
	uint8_t phase;
	bool open;     /* a buffer is under way */
	bool inside;   /* a part of the next word was taken */
	bool anew;     /* the model begins anew */
	bool known;    /* a buffer has begun the model */
	bool all;      /* litifut_send() is at work */
	uint32_t lost; /* of the ring, as the host has it */
} litifut_packed;

static void litifut_pack_byte(uint8_t byte)
{
	litifut_frame_byte(byte);
}

/* Are there words to be packed? */
static bool litifut_packed_waits(void)
{
	const litifut_interrupts masked = litifut_interrupts_off();
	const uint32_t *end = litifut_packed.end;

	if (!litifut_packed.all) {
		end = litifut_paths_newest();
		if (!end)
			end = litifut_paths.next;
	}
	litifut_interrupts_restore(masked);
	if (!litifut_packed.at)
		litifut_packed.at = litifut_paths_first();
	if (!end)
		return false;
	litifut_packed.ready = litifut_paths_distance(
		litifut_packed.at, end == litifut_table_end ? litifut_paths_first() : end);
	return litifut_packed.ready != 0;
}

/* Of patterns: the one that is tried next at a word, and where it stands; the one that was found
 * last, and how often; and whether all were tried at this word. */
static struct {
	uint16_t place;
	uint8_t number;
	uint8_t found, times;
	bool tried;
} litifut_pattern;

static void litifut_mark_transfer(bool begins)
{
	const litifut_interrupts masked = litifut_interrupts_off();

	if (begins)
		litifut_packed.end = litifut_paths_close();
	litifut_packed.all = begins;
	litifut_interrupts_restore(masked);
}

static bool litifut_packed_is_sync(uint32_t word)
{
	return word == (LITIFUT_PATHS_RECORD | LITIFUT_PATHS_SYNC);
}

static void litifut_packed_advance(uint8_t words)
{
	uint32_t *at = litifut_packed.at;

	litifut_packed.ready -= words;
	litifut_packed.words = (uint8_t)(litifut_packed.words + words);
	litifut_packed.position += words;
	for (; words; words--)
		if (++at == litifut_table_end)
			at = litifut_paths_first();
	litifut_packed.at = at;
	litifut_pattern.tried = false;
}

/* Are the next words those of the pattern that is tried? */
static bool litifut_pattern_is_next(uint8_t words)
{
	const uint32_t *at = litifut_packed.at;
	uint16_t place = litifut_pattern.place;

	if (*at != litifut_patterns_word(place) ||
	    (words > litifut_packed.ready &&
	     (!litifut_packed_waits() || words > litifut_packed.ready)))
		return false;
	while (--words) {
		if (++at == litifut_table_end)
			at = litifut_paths_first();
		if (*at != litifut_patterns_word(++place))
			return false;
	}
	return true;
}

static __attribute__((noinline)) void litifut_pattern_put(void)
{
	litifut_pack_pattern(&litifut_packed.pack, litifut_pattern.found, litifut_pattern.times);
	litifut_pattern.times = 0;
}

/* Tries some patterns at a record. False: none is there. */
static __attribute__((noinline)) bool litifut_pattern_try(void)
{
	for (uint8_t tries = 0; tries < 4; tries++) {
		const uint8_t words = (uint8_t)litifut_patterns_word(litifut_pattern.place++);

		if (!words) {
			litifut_pattern.place = litifut_pattern.number = 0;
			litifut_pattern.tried = true;
			return false;
		}
		if (litifut_pattern_is_next(words)) {
			if (litifut_pattern.times &&
			    (litifut_pattern.found != litifut_pattern.number ||
			     litifut_pattern.times == LITIFUT_PACKED_TIMES))
				litifut_pattern_put();
			litifut_pattern.found = litifut_pattern.number;
			litifut_pattern.times++;
			litifut_pattern.place = litifut_pattern.number = 0;
			litifut_packed_advance(words);
			return true;
		}
		litifut_pattern.place = (uint16_t)(litifut_pattern.place + words);
		litifut_pattern.number++;
	}
	return true;
}

/* Packs a little. A reader can begin at a SYNC, so a buffer does. False: no word waits. */
static bool litifut_packed_pack(void)
{
	const uint32_t *at = litifut_packed.at;

	if (!litifut_packed.inside && !litifut_packed.pack.more) {
		const bool waits = litifut_packed.ready || litifut_packed_waits();

		if (!waits && !litifut_packed.all)
			return false;
		const bool ends = !waits || litifut_packed.words >= LITIFUT_PACKED_WORDS ||
				  (litifut_packed.words && litifut_packed_is_sync(*at));

		if (!ends && !litifut_pattern.tried && litifut_patterns_exist() &&
		    *at & LITIFUT_PATHS_RECORD && litifut_pattern_try())
			return true;
		if (litifut_pattern.times) {
			litifut_pattern_put();
			return true;
		}
		if (ends) {
			litifut_pack_end(&litifut_packed.pack, litifut_packed.words);
			litifut_packed.open = false;
			return true;
		}
	}
	litifut_packed.inside = !litifut_pack_step(&litifut_packed.pack, *at);
	if (!litifut_packed.inside)
		litifut_packed_advance(1);
	return true;
}

#define FIRST_PART FRAME_PART(LITIFUT_FRAME_BRANCHES)
#define litifut_make_others litifut_make_branches

/* Behind this one come those of buffers. */
static inline frame_byte litifut_make_branches(frame_byte part)
{
	(void)part;
	litifut_packed_waits();
	litifut_frame_add(litifut_packed.position);
	litifut_frame_add(litifut_packed.position +
			  (litifut_packed.all ? litifut_packed.ready : 0));
	litifut_packed.lost = litifut_paths_lost();
	litifut_frame_add(litifut_packed.lost);
	return FRAME_PART(LITIFUT_FRAME_PACKED);
}

static void litifut_frame_make(struct litifut_frame *frame, frame_byte part);

/* A step that packs. False: there is nothing to be done now. */
static inline bool litifut_packed_step(struct litifut_frame *frame)
{
	const bool begins = !litifut_packed.open;

	if (litifut_packed.phase == PACKED_ZERO) {
		if (litifut_putc(0))
			litifut_packed.phase = PACKED_SENDS;
		return true;
	}
	if (litifut_packed.phase == PACKED_PACKS) {
		if (!begins && frame->at + LITIFUT_PACK_BYTES <= FRAME_BYTES - 1 - CRC_BYTES)
			return litifut_packed_pack();
		litifut_frame_end(frame, FRAME_PART(LITIFUT_FRAME_PACKED));
		litifut_paths_give_up(litifut_packed.at, true);
		litifut_packed.phase = PACKED_ZERO;
		return true;
	}
	if (begins && litifut_packed.phase == PACKED_WAITS) {
		if (litifut_packed_waits()) {
			litifut_packed.phase = PACKED_FRAME;
			litifut_packed.anew =
				!litifut_packed.known || litifut_packed_is_sync(*litifut_packed.at);
			litifut_packed.known = true;
			/* takes a while */
			if (litifut_packed.anew)
				litifut_packed_begin(&litifut_packed.pack.model);
			return true;
		}
		if (!litifut_packed.all)
			return false;
		litifut_packed.phase = PACKED_ZERO;
		litifut_frame_make(frame, litifut_packed.lost == litifut_paths_lost()
						  ? litifut_after_others()
						  : FIRST_PART);
		return true;
	}
	litifut_frame_begin(frame,
			    FRAME_PART(begins ? LITIFUT_FRAME_PACKED : LITIFUT_FRAME_PACKED_MORE));
	litifut_packed.phase = PACKED_PACKS;
	if (!begins)
		return true;
	litifut_packed.open = true;
	litifut_packed.words = 0;
	litifut_pack_begin(&litifut_packed.pack, litifut_packed.anew, litifut_packed.position);
	return true;
}

#endif
