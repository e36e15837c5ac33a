/* Where chunks are written: all that is in open ones, and what is lost if that has no room. */

#include <litifut/trace_format.h>
#include <stddef.h>

#include "tracer/port/linux/files.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/armed.h"
#include "tracer/recorder/event_count.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table.h"
#include "tracer/recorder/thread.h"
#include "tracer/sink/chunks.h"
#include "tracer/sink/sink.h"

bool litifut_settle(struct litifut_trace_file *file)
{
	return !file->settles ||
	       !litifut_failed(LITIFUT_CALL1(fdatasync, litifut_trace_descriptor(file)));
}

uint32_t litifut_chunk_events(const struct litifut_chunk_header *chunk, uint32_t end)
{
	const uint32_t *from = (const uint32_t *)(chunk + 1);

	/* what stands in a word of bits is not known without the code of the program */
	if (chunk->kind == LITIFUT_CHUNK_BITS)
		return (uint32_t)((const uint32_t *)end - from);
	if (chunk->kind != LITIFUT_CHUNK_EVENTS || chunk->encoding != LITIFUT_ENCODING_WORDS)
		return 0;
	return litifut_events_in_words(from, (const uint32_t *)end,
				       chunk->flags & LITIFUT_CHUNK_TIMED);
}

uint32_t litifut_save_events(uint32_t chunk, uint32_t end, bool settles)
{
	return settles && litifut_save(&litifut_recorder.file, chunk, end - chunk)
		       ? 0
		       : litifut_chunk_events((const struct litifut_chunk_header *)chunk, end);
}

/* What is in the chunk that a cursor is in. */
static uint32_t litifut_save_to(uint32_t cursor, bool settles)
{
	return cursor & litifut_recorder.chunk_mask
		       ? litifut_save_events(litifut_chunk_of(cursor), cursor, settles)
		       : 0;
}

static uint32_t litifut_save_of(const struct litifut_thread *thread, bool settles)
{
	if (thread->scratch_from)
		return litifut_save_to(thread->kept, settles);
	if (thread->cursor)
		return litifut_save_to(thread->cursor, settles);
	if (thread->armed && thread->chunk) /* it has ended */
		return litifut_save_events(thread->chunk, litifut_cursor_recover(thread), settles);
	return 0;
}

/* Those of before that are in the file now, or in chunks that are closed, are not counted any more.
 */
static void litifut_count_unsaved(uint32_t events)
{
	struct litifut_recorder *r = &litifut_recorder;
	const uint32_t more = events - r->unsaved;

	litifut_add(&r->unsaved, more);
	litifut_lose(more);
}

/* As litifut_settle() says. */
static bool litifut_save_open(bool settles)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t unsaved = 0;
	bool saved;

	for (const struct litifut_thread *thread = r->thread_list; thread; thread = thread->next)
		unsaved += litifut_save_of(thread, settles);
	unsaved += litifut_tables_save(settles);
	litifut_save_to(r->compact, settles);
	if (r->metadata - (uint32_t)r->file.header >
	    LITIFUT_FIRST_METADATA + LITIFUT_FIRST_METADATA_BYTES)
		litifut_save_to(r->metadata, settles);
	litifut_count_unsaved(unsaved);
	/* The header is saved by itself: it has room even where what follows it has none. */
	saved = litifut_save(&r->file, (uint32_t)r->file.header, sizeof(*r->file.header));
	litifut_save(&r->file, (uint32_t)r->file.header + LITIFUT_FIRST_METADATA,
		     LITIFUT_FIRST_METADATA_BYTES);
	/* NFS reports an error once, and maybe to a later write. */
	return (saved || !r->file.settles) && litifut_settle(&r->file);
}

void litifut_save_all(void)
{
	if (!(litifut_recorder.file.sink->flags & LITIFUT_TRACE_WRITE))
		return;
	/* so that all cursors are where they can be read */
	litifut_threads_disarm();
	if (!litifut_save_open(true))
		litifut_save_open(false);
}
