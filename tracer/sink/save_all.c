/* All that is in open chunks, where chunks are written. */

#include <stddef.h>

#include "tracer/recorder/armed.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table.h"
#include "tracer/recorder/thread.h"
#include "tracer/sink/chunks.h"
#include "tracer/sink/sink.h"

/* What is in the chunk that a cursor is in. */
static void litifut_save_to(uint32_t cursor)
{
	struct litifut_recorder *r = &litifut_recorder;
	uint32_t chunk;

	if (!(cursor & r->chunk_mask))
		return;
	chunk = litifut_chunk_of(cursor);
	litifut_save(&r->file, chunk, cursor - chunk);
}

static void litifut_save_of(const struct litifut_thread *thread)
{
	if (thread->scratch_from)
		litifut_save_to(thread->kept);
	else if (thread->cursor)
		litifut_save_to(thread->cursor);
	else if (thread->armed && thread->chunk) /* it has ended */
		litifut_save(&litifut_recorder.file, thread->chunk,
			     litifut_cursor_recover(thread) - thread->chunk);
}

void litifut_save_all(void)
{
	struct litifut_recorder *r = &litifut_recorder;

	if (!(r->file.sink->flags & LITIFUT_TRACE_WRITE))
		return;
	/* so that all cursors are where they can be read */
	litifut_threads_disarm();
	for (const struct litifut_thread *thread = r->thread_list; thread; thread = thread->next)
		litifut_save_of(thread);
	litifut_tables_save();
	litifut_save_to(r->compact);
	if (r->metadata - (uint32_t)r->file.header >
	    LITIFUT_FIRST_METADATA + LITIFUT_FIRST_METADATA_BYTES)
		litifut_save_to(r->metadata);
	litifut_save(&r->file, (uint32_t)r->file.header,
		     LITIFUT_FIRST_METADATA + LITIFUT_FIRST_METADATA_BYTES);
}
