/* Chunks of the trace file: given out by one shared counter, mapped shared, so
 * that what is written in them reaches the file whatever becomes of the
 * process. */

#include "tracer/sink/chunks.h"

#include <stddef.h>

#include "tracer/port/linux/files.h"
#include "tracer/port/linux/room.h"
#include "tracer/port/linux/system.h"
#include "tracer/port/linux/usage.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/pending.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/verbose.h"
#include "tracer/sink/compact.h"
#include "tracer/sink/ring.h"
#include "tracer/sink/sink.h"
#include "tracer/sink/spare.h"

bool litifut_chunk_is_first(const struct litifut_trace_file *file, uint32_t base)
{
	return base - (uint32_t)file->header < LITIFUT_HEADER_BYTES;
}

uint32_t litifut_chunk_of(uint32_t address)
{
	const struct litifut_recorder *r = &litifut_recorder;
	uint32_t events = (uint32_t)r->file.header + LITIFUT_FIRST_EVENTS;

	return address - events < LITIFUT_FIRST_EVENTS_BYTES ? events : address & ~r->chunk_mask;
}

/* Where a word of the process's trace is in the file. The place of its chunk is known as
 * long as the chunk is open. */
static uint64_t litifut_file_offset(const struct litifut_trace_file *file, uint32_t address)
{
	uint32_t offset = address - (uint32_t)file->header;
	uint32_t base;

	if (offset < LITIFUT_HEADER_BYTES)
		return offset;
	base = address & ~litifut_recorder.chunk_mask;
	return LITIFUT_HEADER_BYTES +
	       (uint64_t)((const struct litifut_chunk_header *)base)->used_bytes *
		       (litifut_recorder.chunk_mask + 1) +
	       (address - base);
}

bool litifut_save(struct litifut_trace_file *file, uint32_t address, uint32_t bytes)
{
	long descriptor;

	if (!(file->sink->flags & LITIFUT_TRACE_WRITE))
		return true;
	descriptor = litifut_trace_descriptor(file);
	return !litifut_failed(descriptor) &&
	       file->sink->save(descriptor, litifut_file_offset(file, address), address, bytes);
}

void litifut_clear(uint32_t *word, const uint32_t *end)
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

/* What an older chunk of a ring has left. */
static void litifut_chunk_empty(struct litifut_trace_file *file, uint32_t base)
{
	struct litifut_chunk_header *chunk = (struct litifut_chunk_header *)base;

	if (!chunk->magic)
		return;
	*(volatile uint16_t *)&chunk->kind = LITIFUT_CHUNK_FREE;
	litifut_port_barrier(litifut_recorder.features);
	litifut_clear((uint32_t *)base, (uint32_t *)(base + litifut_recorder.chunk_mask + 1));
	litifut_add(&file->header->overwritten, 1);
}

uint32_t litifut_chunk_map(struct litifut_trace_file *file, bool small, const char **trouble)
{
	uint32_t size = litifut_recorder.chunk_mask + 1;
	uint32_t place;
	uint64_t offset;
	long descriptor;
	uint32_t chunk;

	if (small && litifut_exchange(&file->first_events, 0, 1))
		return (uint32_t)file->header + LITIFUT_FIRST_EVENTS;
	if (litifut_system_calls_forbidden) {
		*trouble = "";
		return litifut_spare_chunk();
	}
	if (file->ring) {
		*trouble = "all chunks of the ring are in use";
		if (!litifut_ring_take(file, &place))
			return 0;
	} else {
		place = litifut_add(&file->chunk_count, 1);
	}
	offset = LITIFUT_HEADER_BYTES + (uint64_t)place * size;
	descriptor = litifut_trace_descriptor(file);
	*trouble = "no memory";
	if (litifut_failed(descriptor))
		*trouble = "its file is not there any more";
	else if (!file->ring && file->max_bytes && offset + size > file->max_bytes)
		*trouble = litifut_recorder.settings.max_mb == LITIFUT_MAX_MB_UNSET
				   ? "a quarter of the disk's room (see LITIFUT_MAX_MB)"
				   : "LITIFUT_MAX_MB";
	else if (!litifut_within_file_limit(offset + size))
		*trouble = "RLIMIT_FSIZE";
	else if (!file->sink->room(descriptor, offset, size))
		*trouble = "no room on the disk";
	else {
		chunk = file->sink->memory(descriptor, offset, size, size);
		/* of a ring, it may have been counted already */
		if (chunk &&
		    (((struct litifut_chunk_header *)chunk)->magic || litifut_usage_add(size))) {
			litifut_chunk_empty(file, chunk);
			((struct litifut_chunk_header *)chunk)->used_bytes = place;
			return chunk;
		}
		if (chunk) {
			*trouble = "LITIFUT_DIR_MB";
			litifut_unmap(chunk, size);
		}
	}
	if (file->ring) {
		litifut_ring_give(file, place);
		return 0;
	}
	/* the next attempt is for the same place, unless another thread has had one since */
	litifut_exchange(&file->chunk_count, place + 1, place);
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
	chunk->flags = (timed ? LITIFUT_CHUNK_TIMED : 0) | r->epoch << LITIFUT_CHUNK_EPOCH_SHIFT;
	chunk->thread = thread;
	chunk->number = litifut_add(&file->last_number, 1);
	chunk->start_time = timed ? litifut_clock_now() : 0;
	litifut_port_barrier(r->features);
	*(volatile uint16_t *)&chunk->kind = (uint16_t)kind;
	litifut_save(file, base, sizeof(*chunk));
}

/* Another chunk of the process's own trace. When there is none, it is not tried again
 * before LITIFUT_FULL_RETRY. */
static uint32_t litifut_chunk_next(uint32_t kind, uint32_t encoding)
{
	struct litifut_recorder *r = &litifut_recorder;
	const char *trouble;
	uint32_t chunk;

	if (r->full == LITIFUT_FULL)
		return 0;
	chunk = litifut_chunk_map(
		&r->file, kind == LITIFUT_CHUNK_EVENTS && encoding == LITIFUT_ENCODING_WORDS,
		&trouble);
	if (chunk) {
		r->full = LITIFUT_FULL_NOT;
	} else {
		if (r->full == LITIFUT_FULL_NOT)
			litifut_tell("no room for more, calls are counted as lost: ", trouble, 0);
		r->full = LITIFUT_FULL;
	}
	return chunk;
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
		else if (LITIFUT_PORT_TRACE_FLAGS & LITIFUT_TRACE_MARKED &&
			 !(chunk->flags & LITIFUT_CHUNK_TIMED)) /* half of them are times */
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

	if (litifut_system_calls_forbidden || !r->settings.bulk_kb ||
	    r->settings.compact == LITIFUT_COMPACT_OFF)
		return false;
	if (r->settings.compact == LITIFUT_COMPACT_ON || r->fast != LITIFUT_FAST_THUNKS)
		return true;
	/* in units that no trace has 2^32 of: 64 events, 256 bytes */
	events = litifut_events_in(chunk, end) >> 6;
	events += litifut_add(&r->events, events);
	/* A chunk that stays as it is needs another one after it. */
	return (r->file.chunk_count + 1) * ((r->chunk_mask + 1) >> 8) +
		       (LITIFUT_HEADER_BYTES >> 8) >
	       events;
}

/* Once, as it is unrolled. */
static LITIFUT_COLD void litifut_add_to_sums(uint32_t sums[2], const void *words, uint32_t bytes)
{
	litifut_sums_add(sums, (const uint32_t *)words, bytes / 4);
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
				const struct litifut_compacted *data)
{
	struct litifut_recorder *r = &litifut_recorder;
	static const uint32_t litifut_nothing;
	/* So that the next block has its 64-bit member where LDRD and STRD of ARMv5 need it;
	 * a zero byte between both kinds of data is a record without any word. */
	uint32_t pad = (data->size.front + data->size.back) & 4;
	uint32_t total = data->size.front + pad + data->size.back;
	struct litifut_compact_block *block = (struct litifut_compact_block *)litifut_reserve(
		&r->compact, (uint32_t)sizeof(*block) + total, LITIFUT_CHUNK_EVENTS,
		LITIFUT_ENCODING_COMPACT, 0);
	struct litifut_compact_block head;
	uint32_t sums[2] = {1, 0};
	uint32_t *to;

	if (!block)
		return false;
	block->words = words;
	block->thread = chunk->thread;
	block->number = chunk->number;
	block->flags = chunk->flags;
	block->start_time = chunk->start_time;
	litifut_copy(&head, block, sizeof(head));
	head.bytes = total;
	head.sum = 0;
	litifut_add_to_sums(sums, &head, sizeof(head));
	litifut_add_to_sums(sums, data->front, data->size.front);
	litifut_add_to_sums(sums, &litifut_nothing, pad);
	litifut_add_to_sums(sums, data->back, data->size.back);
	block->sum = litifut_sums_word(sums);
	to = litifut_copy_words((uint32_t *)(block + 1), data->front, data->size.front);
	to = litifut_copy_words(to, (const uint8_t *)&litifut_nothing, pad);
	litifut_copy_words(to, data->back, data->size.back);
	litifut_port_barrier(r->features);
	/* From here on the block counts, and the chunk does not. */
	*(volatile uint32_t *)&block->bytes = total;
	return litifut_save(&r->file, (uint32_t)block, (uint32_t)sizeof(*block) + total) &&
	       litifut_settle(&r->file);
}

/* Writes the compact form of a full chunk of events, whose last word ends at `end`,
 * into the trace. False when it stays as it is. */
static bool litifut_compact_chunk(const struct litifut_chunk_header *chunk, uint32_t end)
{
	uint32_t words = (uint32_t)((const uint32_t *)end - (const uint32_t *)(chunk + 1));
	struct litifut_compacted data;
	bool done;

	if (!litifut_compact_begin(chunk, words, &data))
		return false;
	done = litifut_block_write(chunk, words, &data);
	litifut_compact_end();
	return done;
}

/* Makes `used_bytes` final, and the sums when no word can change any more. False: that
 * could not be saved. */
static bool litifut_chunk_close(struct litifut_chunk_header *chunk, uint32_t end, bool sum)
{
	struct litifut_trace_file *file = &litifut_recorder.file;
	uint32_t bytes = end - (uint32_t)(chunk + 1);
	struct litifut_chunk_header closed;
	bool saved = litifut_save(file, (uint32_t)(chunk + 1), bytes);
	uint64_t offset = litifut_file_offset(file, (uint32_t)chunk);

	litifut_copy(&closed, chunk, sizeof(closed));
	closed.flags |= LITIFUT_CHUNK_CLOSED | (sum ? LITIFUT_CHUNK_SUMMED : 0);
	closed.used_bytes = bytes;
	closed.sums[0] = 1;
	if (sum) {
		litifut_add_to_sums(closed.sums, &closed, LITIFUT_CHUNK_HEADER_BYTES_1);
		litifut_add_to_sums(closed.sums, chunk + 1, bytes);
		chunk->sums[0] = closed.sums[0];
		chunk->sums[1] = closed.sums[1];
	}
	chunk->used_bytes = bytes;
	litifut_port_barrier(litifut_recorder.features);
	chunk->flags = closed.flags;
	return saved &&
	       file->sink->save(litifut_trace_descriptor(file), offset, (uint32_t)chunk,
				sizeof(*chunk)) &&
	       litifut_settle(file);
}

/* What becomes of a full chunk, which no cursor names any more: emptied once its
 * events are in the trace in compact form, and then returned; or closed as it
 * is, and 0 returned. */
static uint32_t litifut_chunk_finish(uint32_t end)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t base = litifut_chunk_of(end - 1);
	struct litifut_chunk_header *chunk = (struct litifut_chunk_header *)base;
	uint32_t place = chunk->used_bytes; /* while it is open */
	bool whole;
	bool bits;
	bool first = litifut_chunk_is_first(&r->file, base);

	if (r->finish_events && chunk->kind == LITIFUT_CHUNK_EVENTS)
		return r->finish_events(base, end);
	if (!first && chunk->kind == LITIFUT_CHUNK_EVENTS &&
	    chunk->encoding == LITIFUT_ENCODING_WORDS && litifut_compacts(chunk, end) &&
	    litifut_compact_chunk(chunk, end)) {
		/* From here on readers find the block and not this chunk. */
		*(volatile uint16_t *)&chunk->kind = LITIFUT_CHUNK_FREE;
		litifut_port_barrier(r->features);
		litifut_clear((uint32_t *)(chunk + 1), (uint32_t *)(base + r->chunk_mask + 1));
		litifut_port_barrier(r->features);
		litifut_pending(base, place, false);
		return base;
	}
	/* A zero word is a slot whose writer was interrupted by a signal and has
	 * yet to come back; unmapping would make it fault. A zero that belongs
	 * to something else only keeps the chunk mapped for nothing. Blocks are
	 * written by one at a time, and that one is here. */
	whole = chunk->encoding == LITIFUT_ENCODING_COMPACT ||
		!litifut_port_has_zero((const uint32_t *)(chunk + 1), (const uint32_t *)end);
	if (!litifut_chunk_close(chunk, end, whole && r->settings.sum)) {
		litifut_lose(litifut_chunk_events(chunk, end));
		r->full = LITIFUT_FULL;
	}
	/* Whether all words for bits are complete is not known here; see recorder/bits.c. */
	bits = chunk->kind == LITIFUT_CHUNK_BITS;
	if (bits || (whole && !first)) {
		litifut_ring_give(&r->file, place);
		place = UINT32_MAX;
	}
	litifut_pending(base, place, !first && (bits || !whole));
	if (!bits && whole && !first)
		litifut_unmap(base, r->chunk_mask + 1);
	return 0;
}

/* Of a chunk that was opened for nothing. */
static void litifut_chunk_give_back(uint32_t chunk)
{
	struct litifut_recorder *r = &litifut_recorder;

	if (litifut_chunk_is_first(&r->file, chunk)) {
		*(volatile uint16_t *)&((struct litifut_chunk_header *)chunk)->kind =
			LITIFUT_CHUNK_FREE;
		r->file.first_events = 0;
	} else if (litifut_system_calls_forbidden) {
		/* one at a time: another stays empty in the file */
		litifut_exchange(&r->spare_again, 0, chunk);
	} else {
		uint32_t place = ((struct litifut_chunk_header *)chunk)->used_bytes;

		litifut_unmap(chunk, r->chunk_mask + 1);
		litifut_ring_give(&r->file, place);
	}
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
		/* of a handler, where signals can't be blocked, or left by one that came while the
		 * thread's own chunk took its place */
		const struct litifut_thread *scratch = litifut_scratch_of(at);

		if (scratch)
			return !scratch->scratch_from && litifut_exchange(cursor, at, 0);
		if (!litifut_exchange(cursor, at, 0))
			return true;
		chunk = litifut_chunk_finish(at);
	}
	if (!chunk)
		chunk = litifut_chunk_next(kind, encoding);
	/* a handler may have got the last one, and left room in it */
	if (!chunk)
		return *(volatile uint32_t *)cursor;
	litifut_chunk_open(&r->file, chunk, kind, encoding, thread);
	/* Where a cursor is shared, another may have been quicker: our chunk
	 * stays an empty one in the file. */
	if (!litifut_exchange(cursor, 0, chunk + (uint32_t)sizeof(struct litifut_chunk_header)))
		litifut_chunk_give_back(chunk);
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
		if (!at && litifut_recorder.full == LITIFUT_FULL)
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
	litifut_write_at(litifut_trace_descriptor(&r->file), words, count * 4,
			 litifut_file_offset(&r->file, (uint32_t)place));
}

void litifut_fill(uint32_t *place, const uint32_t *words, uint32_t count)
{
	if (!litifut_recorder.settings.bulk_kb && !litifut_system_calls_forbidden) {
		litifut_fill_through_file(place, words, count);
		if (!(litifut_recorder.file.sink->flags & LITIFUT_TRACE_WRITE))
			return;
	}
	for (uint32_t i = 0; i < count; i++)
		((volatile uint32_t *)place)[i] = words[i];
}
