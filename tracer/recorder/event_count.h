/* Counts events. */
#ifndef LITIFUT_TRACER_EVENT_COUNT_H
#define LITIFUT_TRACER_EVENT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* How many events there are in the words [word, end) of a stream, `timed` or not. */
uint32_t litifut_events_in_words(const uint32_t *word, const uint32_t *end, bool timed)
	__attribute__((visibility("hidden")));

#endif
