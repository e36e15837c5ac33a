/* Counts events. */

#include "tracer/recorder/event_count.h"

#include <litifut/trace_format.h>

#include "port.h"
#include "tracer/recorder/fold.h"
#include "tracer/recorder/table_words.h"

uint32_t litifut_events_in_words(const uint32_t *word, const uint32_t *end, bool timed)
{
	uint32_t marks = LITIFUT_PORT_TRACE_FLAGS & LITIFUT_TRACE_MARKED && !timed ? 3 : 0;
	uint32_t events = 0;

	while (litifut_is_table() && word < end) {
		uint32_t first = *word;
		uint32_t mark = first & 3;

		if (first < LITIFUT_WORD_FIRST_ADDRESS) {
			word += 1 + LITIFUT_CONTROL_FOLLOWING(first);
			continue;
		}
		events += mark != LITIFUT_FOLD_RETURN;
		word += mark == LITIFUT_FOLD_CALL_POINTER ? 4 : 3;
	}
	while (word < end) {
		uint32_t first = *word++;

		if (first < LITIFUT_WORD_FIRST_ADDRESS) {
			uint32_t kind = LITIFUT_CONTROL_KIND(first);

			word += LITIFUT_CONTROL_FOLLOWING(first);
			events += litifut_word_is_call(kind) || kind == LITIFUT_WORD_ENTER;
		} else {
			word += timed + ((first & marks) != 0);
			events++;
		}
	}
	return events;
}
