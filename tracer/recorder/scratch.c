/* A thread that records nothing, because recording is off or the trace is full, has a
 * scratch chunk: memory of LITIFUT_THUNK_STOP_BYTES that is filled as any chunk is, and
 * again from its start when it is full. So a call costs as much as a recorded one, and
 * neither thunks nor litifut_record_trace() ask whether it is recorded. What would have
 * been recorded is counted before it is overwritten. */

#include "tracer/recorder/scratch.h"

#include <litifut/thunk_abi.h>
#include <litifut/trace_format.h>
#include <stddef.h>
#include <stdint.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/bits.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/event_count.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/thread.h"
#include "tracer/recorder/verbose.h"
#include "tracer/recorder/words.h"
#include "tracer/sink/chunks.h"

/* Not at the start, which is a multiple of LITIFUT_THUNK_STOP_BYTES. */
#define LITIFUT_SCRATCH_START 16

static uint32_t litifut_events_between(uint32_t from, uint32_t to)
{
	const struct litifut_recorder *r = &litifut_recorder;
	const uint32_t *word = (const uint32_t *)from;
	const uint32_t *end = (const uint32_t *)to;
	bool timed = r->clock != LITIFUT_CLOCK_NONE;
	uint32_t eights = timed || r->fast != LITIFUT_FAST_THUNKS ? 0 : (to - from) / 32;
	uint32_t events = litifut_port_events(word, eights);

	word += 8 * eights;
	return events + litifut_events_in_words(word, end, timed);
}

/* Counts the events of a scratch chunk up to `to`; whoever comes first does it. */
static void litifut_scratch_count(struct litifut_thread *thread, uint32_t to)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_trace_header *header = r->file.header;
	uint32_t from = *(volatile uint32_t *)&thread->scratch_from;
	uint32_t events;
	uint64_t now;

	if (!from || from == to || to - from >= LITIFUT_THUNK_STOP_BYTES || !thread->loses ||
	    !litifut_exchange(&thread->scratch_from, from, to))
		return;
	/* what stands in a word of bits is not known without the code of the program */
	events = litifut_is_bits() ? (to - from) / 4 : litifut_events_between(from, to);
	now = r->clock == LITIFUT_CLOCK_NONE ? 0 : litifut_clock_now();
	thread->lost += events;
	litifut_lose(events);
	if (!header->lost_from)
		header->lost_from = thread->lost_from;
	header->lost_to = now;
}

/* Puts the cursor of `thread`, the calling one, to `at`. Signals are blocked. */
static void litifut_cursor_set(struct litifut_thread *thread, uint32_t at)
{
	litifut_thread_disarm(thread);
	*(uint32_t *)(at - 4) = LITIFUT_BITS_NONE; /* bits stand before the cursor */
	*(volatile uint32_t *)&thread->cursor = at;
	thread->chunk = litifut_chunk_of(at - 1);
}

static uint32_t litifut_scratch_map(void)
{
	return litifut_map_before(-1, 0, LITIFUT_THUNK_STOP_BYTES, litifut_recorder.chunk_mask + 1);
}

/* One that all threads without memory share, as without any each of their calls or branches would
 * take the long way. It is read to count events only, which is then not exact. */
void litifut_scratch_start(void)
{
	if (!litifut_recorder.last_scratch)
		litifut_recorder.last_scratch = litifut_scratch_map();
}

/* For as many threads as a confined process is likely to make. */
#define LITIFUT_SCRATCH_SPARES 8

void litifut_scratch_prepare(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	for (struct litifut_thread *thread = r->thread_list; thread; thread = thread->next)
		if (thread->id && !thread->scratch)
			thread->scratch = litifut_scratch_map();
	for (unsigned i = 0; i < LITIFUT_SCRATCH_SPARES; i++) {
		uint32_t chunk = litifut_scratch_map();

		if (!chunk)
			break;
		*(uint32_t *)chunk = r->spare_scratch;
		r->spare_scratch = chunk;
	}
}

/* 0: there is none. */
static uint32_t litifut_scratch_spare(void)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t chunk;

	do
		chunk = *(volatile uint32_t *)&r->spare_scratch;
	while (chunk && !litifut_exchange(&r->spare_scratch, chunk, *(uint32_t *)chunk));
	return chunk;
}

void litifut_scratch_enter(struct litifut_thread *thread)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t cursor;

	if (thread->scratch_from || thread->hold & LITIFUT_HOLD_SHARED ||
	    (r->fast < LITIFUT_FAST_WORDS && !litifut_is_bits()))
		return;
	if (!thread->scratch)
		thread->scratch = litifut_system_calls_forbidden ? litifut_scratch_spare()
								 : litifut_scratch_map();
	if (!thread->scratch && !litifut_system_calls_forbidden)
		thread->scratch = r->last_scratch;
	if (!thread->scratch)
		return;
	thread->loses = r->recording;
	/* Where signals can't be blocked, a handler may have been quicker, or another stack that a
	 * handler changes to: then it stays as that has left it. */
	if (!litifut_exchange(&thread->scratch_from, 0, thread->scratch + LITIFUT_SCRATCH_START))
		return;
	litifut_thread_disarm(thread);
	do
		cursor = *(volatile uint32_t *)&thread->cursor;
	while (!litifut_exchange(&thread->cursor, cursor, 0));
	/* a handler came behind that */
	if (litifut_scratch_of(cursor)) {
		litifut_exchange(&thread->cursor, 0, cursor);
		return;
	}
	thread->kept = cursor & r->chunk_mask ? cursor : 0;
	if (!thread->lost && r->clock != LITIFUT_CLOCK_NONE)
		thread->lost_from = litifut_clock_now();
	litifut_cursor_set(thread, thread->scratch + LITIFUT_SCRATCH_START);
}

void litifut_scratch_drop(struct litifut_thread *thread)
{
	if (!thread->scratch_from)
		return;
	thread->scratch_from = 0;
	thread->cursor = thread->kept;
	thread->chunk = thread->kept ? litifut_chunk_of(thread->kept - 1) : 0;
	thread->kept = 0;
	thread->time_high = UINT32_MAX; /* the next event records the whole clock */
}

/* Records in the stream what it misses, and the header of a chunk that begins with that. */
static void litifut_tell_lost(struct litifut_thread *thread)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t words[2] = {LITIFUT_CONTROL_WORD(LITIFUT_WORD_LOST, 1), thread->lost};
	struct litifut_chunk_header *chunk;

	if (!litifut_put(thread, words, 2))
		return;
	chunk = (struct litifut_chunk_header *)*(volatile uint32_t *)&thread->chunk;
	/* where signals can't be blocked, a handler may have come back to the scratch chunk */
	if (!chunk || (uint32_t)chunk == litifut_chunk_of(thread->scratch) ||
	    *(volatile uint32_t *)&thread->scratch_from)
		return;
	if (!chunk->lost) {
		chunk->lost = thread->lost;
		chunk->lost_from = thread->lost_from;
		chunk->lost_to = r->clock == LITIFUT_CLOCK_NONE ? 0 : litifut_clock_now();
	}
	thread->lost = 0;
	litifut_tell("recording goes on", "", 0);
}

bool litifut_thread_records(struct litifut_thread *thread)
{
	struct litifut_recorder *r = &litifut_recorder;

	if (!thread->scratch_from) {
		if (r->recording)
			return true;
		litifut_scratch_enter(thread);
		return false;
	}
	litifut_scratch_count(thread, *litifut_thread_cursor(thread));
	if (!r->recording) {
		thread->loses = 0;
	} else if (!litifut_system_calls_forbidden || r->full != LITIFUT_FULL || thread->kept) {
		/* else there will never be another chunk */
		bool kept = thread->kept != 0;

		litifut_thread_disarm(thread);
		litifut_scratch_drop(thread);
		if (r->full && litifut_is_written(r->file.header))
			r->full = LITIFUT_FULL_RETRY;
		if (kept || litifut_put(thread, NULL, 0)) {
			if (thread->lost)
				litifut_tell_lost(thread);
			return true;
		}
		litifut_scratch_enter(thread);
	}
	thread->scratch_from = thread->scratch + LITIFUT_SCRATCH_START;
	litifut_cursor_set(thread, thread->scratch_from);
	/* or each event would take the long way once the clock has gone far enough */
	if (r->clock != LITIFUT_CLOCK_NONE)
		thread->time_high = (uint32_t)(litifut_clock_now() >> 30);
	return false;
}

void litifut_scratch_leave(struct litifut_thread *thread)
{
	litifut_thread_disarm(thread);
	litifut_scratch_count(thread, thread->cursor);
	litifut_scratch_drop(thread);
}

void litifut_scratch_count_all(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	if (!r->full)
		return;
	litifut_threads_disarm();
	/* Where a thread that has ended had come to is not known any more. */
	for (struct litifut_thread *thread = r->thread_list; thread; thread = thread->next)
		if (thread->cursor)
			litifut_scratch_count(thread, thread->cursor);
}
