/* Full chunks of events in compact form: 4 to 12 bytes an event become less than
 * one in most programs (docs/recorder.md has the figures). */

#include <litifut/compact.h>
#include <stddef.h>

#include "tracer/recorder.h"
#include "tracer/system.h"

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
	 * is; nobody waits. */
	if (!litifut_exchange(&r->scratch_busy, 0, 1))
		return NULL;
	if (!r->scratch) {
		long room = litifut_map(0,
					(uint32_t)sizeof(struct litifut_scratch) +
						LITIFUT_BLOCK_BYTES(r->chunk_mask + 1),
					PROT_READ | PROT_WRITE, -1, 0);

		if (litifut_failed(room)) {
			r->scratch_busy = 0;
			return NULL;
		}
		r->scratch = (uint32_t)room;
	}
	return (struct litifut_scratch *)r->scratch;
}

static bool litifut_block_write(const struct litifut_chunk_header *chunk, uint32_t words,
				const uint8_t *bytes, uint32_t size)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t room = (uint32_t)sizeof(struct litifut_compact_block) + ((size + 3) & ~3u);
	struct litifut_compact_block *block = (struct litifut_compact_block *)litifut_reserve(
		&r->compact, room, LITIFUT_CHUNK_EVENTS, LITIFUT_ENCODING_COMPACT, 0);

	if (!block)
		return false;
	block->words = words;
	block->thread = chunk->thread;
	block->number = chunk->number;
	block->flags = chunk->flags;
	block->start_time = chunk->start_time;
	/* both are aligned, and there is room for whole words */
	for (uint32_t i = 0; i < (size + 3) / 4; i++)
		((uint32_t *)(block + 1))[i] = ((const uint32_t *)bytes)[i];
	litifut_port_barrier(r->features);
	/* From here on the block counts, and the chunk does not. */
	*(volatile uint32_t *)&block->bytes = size;
	return true;
}

bool litifut_compact_chunk(const struct litifut_chunk_header *chunk, uint32_t end)
{
	struct litifut_recorder *r = &litifut_recorder;
	const uint32_t *words = (const uint32_t *)(chunk + 1);
	uint32_t count = (uint32_t)((const uint32_t *)end - words);
	struct litifut_scratch *scratch = litifut_scratch_take();
	uint32_t size;
	bool done;

	if (!scratch)
		return false;
	size = litifut_compact_encode(&scratch->tables, words, count,
				      (chunk->flags & LITIFUT_CHUNK_TIMED) != 0, scratch->bytes,
				      LITIFUT_BLOCK_BYTES(r->chunk_mask + 1));
	done = size && litifut_block_write(chunk, count, scratch->bytes, size);
	litifut_port_barrier(r->features);
	r->scratch_busy = 0;
	return done;
}
