/* Full chunks of events in compact form: 4 to 12 bytes an event become less than
 * one in most programs (docs/recorder.md has the figures). */

#include <litifut/compact.h>
#include <stddef.h>

#include "tracer/recorder/recorder.h"
#include "tracer/port/linux/system.h"

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

static uint32_t *litifut_copy_words(uint32_t *to, const uint8_t *from, uint32_t bytes)
{
	/* all are aligned, and there are whole words */
	const uint32_t *word = (const uint32_t *)from;

	for (; bytes; bytes -= 4)
		*to++ = *word++;
	return to;
}

static bool litifut_block_write(const struct litifut_chunk_header *chunk, uint32_t words,
				const uint8_t *bytes, uint32_t room,
				const struct litifut_compact_size *size)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t total = size->front + size->back;
	struct litifut_compact_block *block = (struct litifut_compact_block *)litifut_reserve(
		&r->compact, (uint32_t)sizeof(*block) + total, LITIFUT_CHUNK_EVENTS,
		LITIFUT_ENCODING_COMPACT, 0);
	uint32_t *to;

	if (!block)
		return false;
	block->words = words;
	block->thread = chunk->thread;
	block->number = chunk->number;
	block->flags = chunk->flags;
	block->start_time = chunk->start_time;
	to = litifut_copy_words((uint32_t *)(block + 1), bytes, size->front);
	litifut_copy_words(to, bytes + room - size->back, size->back);
	litifut_port_barrier(r->features);
	/* From here on the block counts, and the chunk does not. */
	*(volatile uint32_t *)&block->bytes = total;
	return true;
}

bool litifut_compact_chunk(const struct litifut_chunk_header *chunk, uint32_t end)
{
	struct litifut_recorder *r = &litifut_recorder;
	const uint32_t *words = (const uint32_t *)(chunk + 1);
	uint32_t count = (uint32_t)((const uint32_t *)end - words);
	uint32_t room = LITIFUT_BLOCK_BYTES(r->chunk_mask + 1);
	struct litifut_scratch *scratch = litifut_scratch_take();
	struct litifut_compact_size size;
	bool done;

	if (!scratch)
		return false;
	done = litifut_compact_encode(&scratch->tables, words, count,
				      (chunk->flags & LITIFUT_CHUNK_TIMED) != 0, scratch->bytes,
				      room, &size) &&
	       litifut_block_write(chunk, count, scratch->bytes, room, &size);
	litifut_port_barrier(r->features);
	r->scratch_busy = 0;
	return done;
}
