/* Records about the process: in the file's first chunk as long as they fit, then in chunks
 * as events are. */

#include "tracer/sink/metadata.h"

#include <stddef.h>

#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/sink/chunks.h"

static uint32_t litifut_metadata_first(void)
{
	return (uint32_t)litifut_recorder.file.header + LITIFUT_FIRST_METADATA;
}

void litifut_metadata_start(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t chunk = litifut_metadata_first();

	litifut_chunk_open(&r->file, chunk, LITIFUT_CHUNK_METADATA, LITIFUT_ENCODING_WORDS,
			   r->file.process);
	r->metadata = chunk + (uint32_t)sizeof(struct litifut_chunk_header);
}

/* NULL: there is no first chunk, or not enough room in it, any more. */
static uint32_t *litifut_metadata_reserve_first(uint32_t bytes)
{
	uint32_t *cursor = &litifut_recorder.metadata;

	for (;;) {
		uint32_t at = *(volatile uint32_t *)cursor;
		uint32_t used = at - litifut_metadata_first();

		if (used > LITIFUT_FIRST_METADATA_BYTES)
			return NULL;
		if (used + bytes > LITIFUT_FIRST_METADATA_BYTES)
			litifut_exchange(cursor, at, 0);
		else if (litifut_exchange(cursor, at, at + bytes))
			return (uint32_t *)at;
	}
}

void litifut_metadata_put(const uint32_t *words, uint32_t count)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t *place = litifut_metadata_reserve_first(count * 4);

	if (!place)
		place = litifut_reserve(&r->metadata, count * 4, LITIFUT_CHUNK_METADATA,
					LITIFUT_ENCODING_WORDS, r->file.process);
	if (place) {
		litifut_fill(place, words, count);
		litifut_save(&r->file, (uint32_t)place, count * 4);
	}
}
