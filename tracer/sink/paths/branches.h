/* Sends the words of the ring, for tracer/sink/frames/send.c. Recording goes on meanwhile; what is
 * recorded once a sending has begun is left for the next one. */
#ifndef LITIFUT_TRACER_PATHS_BRANCHES_H
#define LITIFUT_TRACER_PATHS_BRANCHES_H

#include "tracer/sink/paths/drain.h"

/* Position of the first word that this run has not sent. */
static uint32_t litifut_paths_next;

static void litifut_mark_transfer(bool begins)
{
	(void)begins;
}

/* Of the round that is under way. */
static struct {
	uint32_t *at;
	uint32_t end, count; /* words that are left */
	bool limited;
} litifut_paths_round;

static void litifut_paths_hold(void)
{
	const uint32_t words = litifut_paths_words();
	const litifut_interrupts masked = litifut_interrupts_off();
	uint32_t *at = litifut_paths_close();
	const uint32_t end = litifut_paths_product(litifut_table[0], words) +
			     (uint32_t)(at - litifut_paths_first());
	uint32_t count = end - litifut_paths_next;

	/* the others are newer than those that were recorded first */
	if (litifut_table[0] && count > words - 1 - LITIFUT_PATHS_UNSURE)
		count = words - 1 - LITIFUT_PATHS_UNSURE;
	at = at - litifut_paths_first() >= (int32_t)count ? at - count : at + words - count;
	litifut_paths_round.at = at;
	litifut_paths_round.end = end;
	litifut_paths_round.count = count;
	litifut_paths_round.limited = litifut_paths.limited;
	litifut_paths.sent = at;
	litifut_paths_reopen();
	litifut_paths.limited = true;
	if (litifut_paths_newest())
		litifut_paths_set_stop(litifut_paths_newest());
	litifut_interrupts_restore(masked);
}

static void litifut_paths_add_words(void)
{
	uint32_t *at = litifut_paths_round.at;
	uint32_t count = litifut_paths_round.count;

	litifut_frame_add(litifut_paths_round.end - count);
	for (; count && litifut_frame.at + 4 <= FRAME_BYTES - 1 - CRC_BYTES; count--) {
		for (unsigned shift = 0; shift < 32; shift += 8)
			litifut_frame_byte((frame_byte)(*at >> shift));
		if (++at == litifut_table_end)
			at = litifut_paths_first();
	}
	litifut_paths_round.at = at;
	litifut_paths_round.count = count;
}

#define FIRST_PART FRAME_PART(LITIFUT_FRAME_BRANCHES)
#define litifut_make_others litifut_make_branches

static inline frame_byte litifut_make_branches(frame_byte part)
{
	if (part == FIRST_PART) {
		litifut_paths_hold();
		litifut_frame_add(litifut_paths_round.end - litifut_paths_round.count);
		litifut_frame_add(litifut_paths_round.end);
		litifut_frame_add(litifut_paths_lost());
	} else {
		litifut_paths_add_words();
		litifut_paths_give_up(litifut_paths_round.at, true);
	}
	if (litifut_paths_round.count)
		return FRAME_PART(LITIFUT_FRAME_WORDS);
	litifut_paths_next = litifut_paths_round.end;
	litifut_paths_give_up(litifut_paths_round.at, litifut_paths_round.limited);
	return litifut_after_others();
}

#endif
