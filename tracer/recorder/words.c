/* Puts words where a thread's cursor is. */

#include "tracer/recorder/words.h"

#include <stddef.h>

#include "tracer/recorder/armed.h"
#include "tracer/recorder/bits.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/thread.h"
#include "tracer/sink/chunks.h"

bool litifut_put(struct litifut_thread *thread, const uint32_t *words, uint32_t count)
{
	if (litifut_is_bits())
		return litifut_bits_put(thread, words, count);

	uint32_t *cursor = thread->armed ? litifut_thread_cursor(thread) : &thread->cursor;
	uint32_t *place = litifut_reserve(cursor, count * 4, LITIFUT_CHUNK_EVENTS,
					  LITIFUT_ENCODING_WORDS, thread->id);

	litifut_thread_put(thread, place ? litifut_chunk_of((uint32_t)place) : 0);
	if (place)
		litifut_fill(place, words, count);
	return place != NULL;
}
