/* Chunks of the trace file. */
#ifndef LITIFUT_TRACER_CHUNKS_H
#define LITIFUT_TRACER_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/sink/trace_file.h"

#pragma GCC visibility push(hidden)

/* Reserves `bytes` in the chunk under `*cursor`, in another one of this kind, encoding
 * and owner when they do not fit. NULL: there is no room. */
uint32_t *litifut_reserve(uint32_t *cursor, uint32_t bytes, uint32_t kind, uint32_t encoding,
			  uint32_t thread);
/* Puts `count` words at a reserved place, front to back. */
void litifut_fill(uint32_t *place, const uint32_t *words, uint32_t count);
/* Room for one more chunk at the end of a file, mapped at a multiple of its size; 0
 * when there is none, and then `*trouble` tells why. Its place in the file is left in
 * `used_bytes`, which has no other use in an open chunk. */
uint32_t litifut_chunk_map(struct litifut_trace_file *file, const char **trouble);
/* Fills the header of an empty chunk of a file. The kind comes last: before it, readers
 * take the chunk for a free one. */
void litifut_chunk_open(struct litifut_trace_file *file, uint32_t base, uint32_t kind,
			uint32_t encoding, uint32_t thread);

#pragma GCC visibility pop

#endif
