/* How what is recorded gets into the file: a row for each way (LITIFUT_FILE). Each way has a file,
 * whose descriptor and offsets it gets. Its caller unmaps the memory that it gives. What a way
 * records whose `flags` have LITIFUT_TRACE_WRITE is saved when the trace ends; it has neither a
 * ring nor a control word, as both need shared memory. */
#ifndef LITIFUT_TRACER_SINK_H
#define LITIFUT_TRACER_SINK_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/recorder/settings.h"

struct litifut_trace_file;

struct litifut_sink {
	uint32_t flags; /* enum litifut_trace_flags, of its traces */
	/* Makes room for `size` bytes at `offset`; false: there is none. */
	bool (*room)(long descriptor, uint64_t offset, uint32_t size);
	/* Memory for these bytes, which ends at a multiple of `multiple`; 0 without memory. */
	uint32_t (*memory)(long descriptor, uint64_t offset, uint32_t size, uint32_t multiple);
	/* Sees to it that they are in the file; false: they are not. */
	bool (*save)(long descriptor, uint64_t offset, uint32_t address, uint32_t size);
};

#pragma GCC visibility push(hidden)

/* How large a new file may get: LITIFUT_MAX_MB, or a quarter of the room that there is on
 * its file system. 0: there is no bound. */
uint64_t litifut_sink_bound(long descriptor);
/* By enum litifut_file_way, from LITIFUT_FILE_MAP on. */
extern const struct litifut_sink litifut_sinks[];
static inline const struct litifut_sink *litifut_sink_of(enum litifut_file_way way)
{
	return &litifut_sinks[way - LITIFUT_FILE_MAP];
}
/* Gives a file the one that the settings ask for, or that its file system can be trusted with. */
void litifut_sink_choose(struct litifut_trace_file *file);

#pragma GCC visibility pop

#endif
