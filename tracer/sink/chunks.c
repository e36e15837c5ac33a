/* Chunks of the trace file: given out by one shared counter, mapped shared, so
 * that what is written in them reaches the file whatever becomes of the
 * process. */

#include <linux/resource.h>
#include <stddef.h>

#include "tracer/recorder/recorder.h"
#include "tracer/port/linux/system.h"

/* Makes room for [offset, offset + size) in the file, so that no write to the
 * mapping can meet a full disk, which would be a SIGBUS. Never shrinks it. */
LITIFUT_COLD bool litifut_file_grow(long descriptor, uint64_t offset, uint32_t size)
{
	static const uint8_t litifut_zeros[256];
	long result;

#ifdef LITIFUT_PORT_FALLOCATE
	result = LITIFUT_PORT_FALLOCATE(descriptor, offset, size);
	if (!litifut_failed(result))
		return true;
	if (result != -EOPNOTSUPP && result != -ENOSYS)
		return false;
#endif
	for (uint32_t done = 0; done < size; done += sizeof(litifut_zeros)) {
		result = litifut_write_at(descriptor, litifut_zeros, sizeof(litifut_zeros),
					  offset + done);
		if (result != (long)sizeof(litifut_zeros))
			return false;
	}
	return true;
}

/* Writing beyond it would bring the program a SIGXFSZ. */
LITIFUT_COLD bool litifut_within_file_limit(uint64_t end)
{
	uint64_t exact[2];
	uint32_t limit[2];

	if (!litifut_failed(LITIFUT_CALL4(prlimit64, 0, RLIMIT_FSIZE, 0, exact)))
		return end <= exact[0];
	/* Linux before 2.6.36 */
	if (litifut_failed(
		    litifut_system_call3(LITIFUT_PORT_GETRLIMIT, RLIMIT_FSIZE, (long)limit, 0)))
		return true;
	return limit[0] == LITIFUT_PORT_NO_LIMIT || end <= limit[0];
}

LITIFUT_COLD bool litifut_within_limits(uint64_t end)
{
	uint32_t max_mb = litifut_recorder.settings.max_mb;

	return (!max_mb || end <= (uint64_t)max_mb << 20) && litifut_within_file_limit(end);
}

/* Maps `size` bytes of the file at a multiple of `size`. */
static uint32_t litifut_map_aligned(long descriptor, uint64_t offset, uint32_t size)
{
	long room = litifut_map(0, 2 * size, PROT_NONE, -1, 0);
	uint32_t start = (uint32_t)room;
	uint32_t aligned = (start + size - 1) & ~(size - 1);
	long result;

	if (litifut_failed(room))
		return 0;
	litifut_unmap(start, aligned - start);
	litifut_unmap(aligned + size, start + size - aligned);
	result = litifut_map(aligned, size, PROT_READ | PROT_WRITE, descriptor, offset);
	if (!litifut_failed(result))
		return aligned;
	litifut_unmap(aligned, size);
	return 0;
}

uint32_t litifut_chunk_map(struct litifut_trace_file *file, const char **trouble)
{
	uint32_t size = litifut_recorder.chunk_mask + 1;
	uint32_t place = litifut_add(&file->chunk_count, 1);
	uint64_t offset = LITIFUT_HEADER_BYTES + (uint64_t)place * size;
	long descriptor = litifut_trace_descriptor(file);
	uint32_t chunk;

	*trouble = "no memory";
	if (litifut_failed(descriptor))
		*trouble = "its file is not there any more";
	else if (!litifut_within_limits(offset + size))
		*trouble = "LITIFUT_MAX_MB or RLIMIT_FSIZE";
	else if (!litifut_file_grow(descriptor, offset, size))
		*trouble = "no room on the disk";
	else {
		chunk = litifut_map_aligned(descriptor, offset, size);
		if (chunk)
			((struct litifut_chunk_header *)chunk)->used_bytes = place;
		return chunk;
	}
	return 0;
}

void litifut_chunk_open(struct litifut_trace_file *file, uint32_t base, uint32_t kind,
			uint32_t encoding, uint32_t thread)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_chunk_header *chunk = (struct litifut_chunk_header *)base;
	bool timed = kind == LITIFUT_CHUNK_EVENTS && r->clock != LITIFUT_CLOCK_NONE;

	chunk->magic = LITIFUT_CHUNK_MAGIC;
	chunk->encoding = (uint16_t)encoding;
	chunk->flags = timed ? LITIFUT_CHUNK_TIMED : 0;
	chunk->thread = thread;
	chunk->number = litifut_add(&file->last_number, 1);
	chunk->start_time = timed ? litifut_clock_now() : 0;
	litifut_port_barrier(r->features);
	*(volatile uint16_t *)&chunk->kind = (uint16_t)kind;
}

/* Another chunk of the process's own trace; when there is none, never again. */
static uint32_t litifut_chunk_next(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	const char *trouble;
	uint32_t chunk;

	if (r->full)
		return 0;
	chunk = litifut_chunk_map(&r->file, &trouble);
	if (!chunk && litifut_exchange(&r->full, 0, 1))
		litifut_tell("recording has ended, calls are counted as lost: ", trouble, 0);
	return chunk;
}

/* Zeroes words; there are a multiple of eight of them. */
static void litifut_clear(uint32_t *word, const uint32_t *end)
{
	for (; word < end; word += 8) {
		word[0] = 0;
		word[1] = 0;
		word[2] = 0;
		word[3] = 0;
		word[4] = 0;
		word[5] = 0;
		word[6] = 0;
		word[7] = 0;
	}
}

/* About how many events there are in a full chunk, rather too few, from every 61st
 * word: each event of more than one word has one control word and two others, or one
 * that is marked and another. */
static uint32_t litifut_events_in(const struct litifut_chunk_header *chunk, uint32_t end)
{
	const uint32_t *word = (const uint32_t *)(chunk + 1);
	uint32_t words = (uint32_t)((const uint32_t *)end - word);
	uint32_t others = 0;

	for (; word < (const uint32_t *)end; word += 61) {
		uint32_t sample = *(const volatile uint32_t *)word;

		if (sample < LITIFUT_WORD_FIRST_ADDRESS)
			others += 2;
		else if (LITIFUT_PORT_TRACE_FLAGS & LITIFUT_TRACE_MARKED)
			others += LITIFUT_WORD_MARK(sample) != LITIFUT_MARK_DIRECT;
	}
	others = others * 61 + others / 4;
	return others < words ? words - others : 0;
}

/* A thunk stores an event in a dozen instructions, the compact form takes ten
 * to thirty more. So only as many chunks are made compact as it takes to stay at
 * four bytes an event. */
static bool litifut_compacts(const struct litifut_chunk_header *chunk, uint32_t end)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t events;

	if (!r->settings.bulk_kb || r->settings.compact == LITIFUT_COMPACT_OFF)
		return false;
	if (r->settings.compact == LITIFUT_COMPACT_ON || r->fast != LITIFUT_FAST_THUNKS)
		return true;
	/* in units that no trace has 2^32 of: 64 events, 256 bytes */
	events = litifut_events_in(chunk, end) >> 6;
	events += litifut_add(&r->events, events);
	/* A chunk that stays as it is wants another one after it. */
	return (r->file.chunk_count + 1) * ((r->chunk_mask + 1) >> 8) +
		       (LITIFUT_HEADER_BYTES >> 8) >
	       events;
}

/* What becomes of a full chunk, which no cursor names any more: emptied once its
 * events are in the trace in compact form, and then returned; or closed as it
 * is, and 0 returned. */
static uint32_t litifut_chunk_finish(uint32_t end)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t base = (end - 1) & ~r->chunk_mask;
	struct litifut_chunk_header *chunk = (struct litifut_chunk_header *)base;

	if (chunk->kind == LITIFUT_CHUNK_EVENTS && chunk->encoding == LITIFUT_ENCODING_WORDS &&
	    litifut_compacts(chunk, end) && litifut_compact_chunk(chunk, end)) {
		/* From here on readers find the block and not this chunk. */
		*(volatile uint16_t *)&chunk->kind = LITIFUT_CHUNK_FREE;
		litifut_port_barrier(r->features);
		litifut_clear((uint32_t *)(chunk + 1), (uint32_t *)(base + r->chunk_mask + 1));
		litifut_port_barrier(r->features);
		return base;
	}
	/* A zero word is a slot whose writer was interrupted by a signal and has
	 * yet to come back; unmapping would make it fault. A zero that belongs
	 * to something else only keeps the chunk mapped for nothing. Blocks are
	 * written by one at a time, and that one is here. */
	chunk->used_bytes = end - base - (uint32_t)sizeof(*chunk);
	litifut_port_barrier(r->features);
	chunk->flags |= LITIFUT_CHUNK_CLOSED;
	if (chunk->encoding == LITIFUT_ENCODING_COMPACT ||
	    !litifut_port_has_zero((const uint32_t *)(chunk + 1), (const uint32_t *)end))
		litifut_unmap(base, r->chunk_mask + 1);
	return 0;
}

/* Puts another chunk under `*cursor`, whose chunk ends at `at` (0: none yet).
 * False without room for it. Signals are blocked. */
static LITIFUT_COLD bool litifut_chunk_change(uint32_t *cursor, uint32_t at, uint32_t kind,
					      uint32_t encoding, uint32_t thread)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t chunk = 0;

	/* The one who takes the full chunk away from the cursor finishes it. */
	if (at) {
		if (!litifut_exchange(cursor, at, 0))
			return true;
		chunk = litifut_chunk_finish(at);
	}
	if (!chunk)
		chunk = litifut_chunk_next();
	if (!chunk)
		return false;
	litifut_chunk_open(&r->file, chunk, kind, encoding, thread);
	/* Where a cursor is shared, another may have been quicker: our chunk
	 * stays an empty one in the file. */
	if (!litifut_exchange(cursor, 0, chunk + (uint32_t)sizeof(struct litifut_chunk_header)))
		litifut_unmap(chunk, r->chunk_mask + 1);
	return true;
}

uint32_t *litifut_reserve(uint32_t *cursor, uint32_t bytes, uint32_t kind, uint32_t encoding,
			  uint32_t thread)
{
	uint32_t mask = litifut_recorder.chunk_mask;

	for (;;) {
		uint32_t at = *(volatile uint32_t *)cursor;
		uint32_t used = at & mask;
		struct litifut_signals signals;
		bool changed;

		if (used && used + bytes <= mask + 1) {
			if (litifut_port_compare_exchange(litifut_recorder.features, cursor, at,
							  at + bytes))
				return (uint32_t *)at;
			continue;
		}
		/* what is lost for the rest of the run costs no system calls */
		if (!at && litifut_recorder.full)
			return NULL;
		litifut_signals_block(&signals);
		changed = litifut_chunk_change(cursor, at, kind, encoding, thread);
		litifut_signals_restore(&signals);
		if (!changed)
			return NULL;
	}
}

/* The paper's "no bulk": the words go to the file by a system call each time. */
static void litifut_fill_through_file(uint32_t *place, const uint32_t *words, uint32_t count)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t base = (uint32_t)place & ~r->chunk_mask;
	const struct litifut_chunk_header *chunk = (const struct litifut_chunk_header *)base;

	litifut_write_at(litifut_trace_descriptor(&r->file), words, count * 4,
			 LITIFUT_HEADER_BYTES + (uint64_t)chunk->used_bytes * (r->chunk_mask + 1) +
				 ((uint32_t)place - base));
}

void litifut_fill(uint32_t *place, const uint32_t *words, uint32_t count)
{
	if (!litifut_recorder.settings.bulk_kb) {
		litifut_fill_through_file(place, words, count);
		return;
	}
	for (uint32_t i = 0; i < count; i++)
		((volatile uint32_t *)place)[i] = words[i];
}
