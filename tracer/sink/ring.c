/* A ring of chunks. Each place in the file is in use, by a thread or for compact blocks, or
 * it may be taken; they are taken in turn, so the oldest chunk is overwritten. A chunk in
 * which a signal handler has interrupted a writer is never closed for good, and keeps its
 * place. Module records are not in the ring. */

#include "tracer/sink/ring.h"

#include <stddef.h>

#include "tracer/port/linux/memory.h"
#include "tracer/port/linux/system.h"
#include "tracer/recorder/shared.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/verbose.h"
#include "tracer/sink/sink.h"

#define LITIFUT_RING_LEAST 4 /* chunks */

/* A file that is written can't be a ring, but it does not get larger than that either. */
static void litifut_ring_refuse(struct litifut_trace_file *file)
{
	uint64_t bound = LITIFUT_HEADER_BYTES + ((uint64_t)litifut_recorder.settings.ring_kb << 10);

	if (!file->max_bytes || bound < file->max_bytes) {
		file->max_bytes = bound;
		file->header->max_bytes = bound;
	}
	litifut_tell("no ring, the oldest calls are kept: the file is not mapped (LITIFUT_FILE)",
		     "", 0);
}

void litifut_ring_start(struct litifut_trace_file *file)
{
	const struct litifut_recorder *r = &litifut_recorder;
	uint32_t kb = (r->chunk_mask + 1) >> 10;
	uint32_t places = 0;
	long table;

	if (file->ring) /* the parent's, in a forked child */
		litifut_unmap((uint32_t)file->ring, file->ring_places * 4);
	file->ring = NULL;
	file->ring_places = 0;
	if (!r->settings.ring_kb)
		return;
	if (file->sink->flags & LITIFUT_TRACE_WRITE) {
		litifut_ring_refuse(file);
		return;
	}
	for (uint32_t left = r->settings.ring_kb; left >= kb; left -= kb)
		places++;
	if (places < LITIFUT_RING_LEAST)
		places = LITIFUT_RING_LEAST;
	table = litifut_map_memory(places * 4);
	if (litifut_failed(table))
		return;
	file->ring = (uint32_t *)table;
	file->ring_places = places;
	/* a chunk that is not in the ring would stay, with a gap behind it */
	file->first_events = 1;
	file->header->first[1].bytes = 0;
	file->header->flags |= LITIFUT_TRACE_RING;
	file->max_bytes = 0;
	file->header->max_bytes = LITIFUT_HEADER_BYTES + (uint64_t)places * (r->chunk_mask + 1);
}

bool litifut_ring_take(struct litifut_trace_file *file, uint32_t *place)
{
	for (uint32_t tries = 0; tries < file->ring_places; tries++) {
		uint32_t next = *(volatile uint32_t *)&file->chunk_count;

		if (!litifut_exchange(&file->chunk_count, next,
				      next + 1 == file->ring_places ? 0 : next + 1))
			continue;
		if (litifut_exchange(&file->ring[next], 0, 1)) {
			*place = next;
			return true;
		}
	}
	return false;
}

void litifut_ring_give(struct litifut_trace_file *file, uint32_t place)
{
	if (place >= file->ring_places)
		return;
	litifut_port_barrier(litifut_recorder.features);
	*(volatile uint32_t *)&file->ring[place] = 0;
}
