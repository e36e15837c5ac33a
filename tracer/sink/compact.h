/* The compact form of a full chunk of events. */
#ifndef LITIFUT_TRACER_COMPACT_H
#define LITIFUT_TRACER_COMPACT_H

#include <stdbool.h>
#include <stdint.h>

#include <litifut/compact.h>
#include <litifut/trace_format.h>

/* Data of a block, in the process's one scratch memory. */
struct litifut_compacted {
	struct litifut_compact_size size;
	const uint8_t *front;
	const uint8_t *back;
};

#pragma GCC visibility push(hidden)

/* Encodes the `count` words of a full chunk of events. False when that can't be done: a
 * slot in it is still to be filled, another thread is at this, or it would not be
 * smaller. When true, litifut_compact_end() must follow. */
bool litifut_compact_begin(const struct litifut_chunk_header *chunk, uint32_t count,
			   struct litifut_compacted *result);
void litifut_compact_end(void);

#pragma GCC visibility pop

#endif
