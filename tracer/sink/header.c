/* The header of a trace file. */

#include "tracer/sink/header.h"

#include "tracer/port/linux/system.h"
#include "tracer/recorder/clock.h"
#include "tracer/recorder/state.h"
#include "tracer/recorder/table_words.h"
#include "tracer/recorder/text.h"
#include "tracer/sink/sink.h"

void litifut_header_fill(const struct litifut_trace_file *file)
{
	struct litifut_recorder *r = &litifut_recorder;
	struct litifut_trace_header *header = file->header;

	header->byte_order = LITIFUT_BYTE_ORDER_MARK;
	header->version_major = LITIFUT_TRACE_VERSION_MAJOR;
	header->version_minor = LITIFUT_TRACE_VERSION_MINOR;
	header->header_bytes = LITIFUT_HEADER_BYTES;
	header->chunk_bytes = r->chunk_mask + 1;
	header->machine = LITIFUT_PORT_MACHINE;
	header->word_bytes = 4;
	header->pid = file->process;
	header->parent_pid = (uint32_t)LITIFUT_CALL0(getppid);
	header->clock = r->clock;
	header->wrong_settings = r->settings.wrong;
	if (r->settings.unknown[0]) /* the file is new, and zero */
		litifut_copy(header->unknown_settings, r->settings.unknown,
			     sizeof(header->unknown_settings));
	header->clock_hertz = litifut_clock_hertz();
	header->event_cost = r->event_cost;
	header->mode = r->mode;
	header->family = litifut_is_flags() ? LITIFUT_FAMILY_NONE : litifut_family();
	header->max_bytes = file->max_bytes;
	header->first[0].offset = LITIFUT_FIRST_METADATA;
	header->first[0].bytes = LITIFUT_FIRST_METADATA_BYTES;
	header->first[1].offset = LITIFUT_FIRST_EVENTS;
	header->first[1].bytes = LITIFUT_FIRST_EVENTS_BYTES;
	header->flags = file->sink->flags | (r->settings.sum ? LITIFUT_TRACE_SUMMED : 0) |
			(r->settings.copy_to[0] ? LITIFUT_TRACE_COPIED : 0) |
			LITIFUT_PORT_TRACE_FLAGS | (r->settings.dedup ? LITIFUT_TRACE_DEDUP : 0);
	header->state = LITIFUT_TRACE_RUNNING;
	header->start_realtime_ns = litifut_nanoseconds(0);
	header->start_monotonic_ns = litifut_nanoseconds(1);
	litifut_copy(header->program, r->program, sizeof(header->program));
	litifut_port_barrier(r->features);
	litifut_copy(header->magic, LITIFUT_TRACE_MAGIC, sizeof(header->magic));
}
