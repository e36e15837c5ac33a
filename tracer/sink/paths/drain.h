/* How the words of the ring leave it, for what sends them: recording goes on meanwhile. */
#ifndef LITIFUT_TRACER_PATHS_DRAIN_H
#define LITIFUT_TRACER_PATHS_DRAIN_H

#include "tracer/sink/paths/ring.h"

/* The word behind the last one that does not change any more. With interrupts off. */
static inline uint32_t *litifut_paths_close(void)
{
	uint32_t *newest = litifut_paths_newest();

	if (!newest)
		return litifut_paths.next ? litifut_paths.next : litifut_paths_begin();
	if (litifut_paths_is_closed(newest))
		return newest;
	for (bool more = true; more;) {
		uint32_t *at = newest + 1;

		more = litifut_paths_has_pending();
		if (*newest != LITIFUT_PATHS_NONE) {
			if (litifut_paths_free(newest) < 2)
				break;
			if (at == litifut_table_end) {
				litifut_table[0]++;
				at = litifut_paths_first();
			}
			*at = LITIFUT_PATHS_NONE;
			litifut_paths_move(at);
			newest = at;
		}
		if (more)
			litifut_paths_pending(newest);
	}
	return newest;
}

/* How many words were lost. An interrupt adds to it, and on AVR it is read a byte at a time. */
static inline uint32_t litifut_paths_lost(void)
{
	const litifut_interrupts masked = litifut_interrupts_off();
	const uint32_t lost = litifut_paths.state.lost;

	litifut_interrupts_restore(masked);
	return lost;
}

/* What is before `at` has been sent. */
static inline void litifut_paths_give_up(uint32_t *at, bool limited)
{
	const litifut_interrupts masked = litifut_interrupts_off();

	litifut_paths.sent = at;
	litifut_paths_reopen();
	litifut_paths.limited = limited;
	if (litifut_paths_newest())
		litifut_paths_set_stop(litifut_paths_newest());
	litifut_interrupts_restore(masked);
}

#endif
