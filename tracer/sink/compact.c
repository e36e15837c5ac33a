/* Full chunks of events in compact form: 4 to 12 bytes an event become less than
 * one in most programs (docs/recorder.md has the figures). */

#include "tracer/sink/compact.h"

#include <stddef.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"

/* Blocks larger than this part of a chunk are not worth their name. */
#define LITIFUT_BLOCK_BYTES(chunk_bytes) ((chunk_bytes) / 4 * 3)

struct litifut_scratch {
	struct litifut_compact_tables tables;
	uint8_t bytes[] __attribute__((aligned(4)));
};

static struct litifut_scratch *litifut_scratch_take(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	/* One for the process. Whoever finds it in use leaves its chunk as it
	 * is; no thread waits. */
	if (!litifut_exchange(&r->scratch_busy, 0, 1))
		return NULL;
	if (!r->scratch) {
		long room = litifut_map_memory((uint32_t)sizeof(struct litifut_scratch) +
					       LITIFUT_BLOCK_BYTES(r->chunk_mask + 1));

		if (litifut_failed(room)) {
			r->scratch_busy = 0;
			return NULL;
		}
		r->scratch = (uint32_t)room;
	}
	return (struct litifut_scratch *)r->scratch;
}

bool litifut_compact_begin(const struct litifut_chunk_header *chunk, uint32_t count,
			   struct litifut_compacted *result)
{
	uint32_t room = LITIFUT_BLOCK_BYTES(litifut_recorder.chunk_mask + 1);
	struct litifut_scratch *scratch = litifut_scratch_take();

	if (!scratch)
		return false;
	if (!litifut_compact_encode(&scratch->tables, (const uint32_t *)(chunk + 1), count,
				    (chunk->flags & LITIFUT_CHUNK_TIMED) != 0, scratch->bytes, room,
				    &result->size)) {
		litifut_compact_end();
		return false;
	}
	result->front = scratch->bytes;
	result->back = scratch->bytes + room - result->size.back;
	return true;
}

void litifut_compact_end(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	litifut_port_barrier(r->features);
	r->scratch_busy = 0;
}
