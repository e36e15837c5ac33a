/* Chunks of the trace file. */
#ifndef LITIFUT_TRACER_CHUNKS_H
#define LITIFUT_TRACER_CHUNKS_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/sink/trace_file.h"

struct litifut_chunk_header;

#pragma GCC visibility push(hidden)

/* Sees to it that `bytes` of the header or of an open chunk are in the file. False: they
 * are not. */
bool litifut_save(struct litifut_trace_file *file, uint32_t address, uint32_t bytes);
/* False: there was no room after all for what has been saved. */
bool litifut_settle(struct litifut_trace_file *file);
/* What litifut_save() does, for the header and for all that is in open chunks. What is not in the
 * file then is counted as lost, until it is. */
void litifut_save_all(void);
/* The same for the words of a chunk up to `end`. Gives the events in them if they are not, or
 * if it is known that the file system does not keep them. */
uint32_t litifut_save_events(uint32_t chunk, uint32_t end, bool settles);
/* How many events there are in a chunk up to `end`. */
uint32_t litifut_chunk_events(const struct litifut_chunk_header *chunk, uint32_t end);
/* Reserves `bytes` in the chunk under `*cursor`, in another one of this kind, encoding
 * and owner when they do not fit. NULL: there is no room. */
uint32_t *litifut_reserve(uint32_t *cursor, uint32_t bytes, uint32_t kind, uint32_t encoding,
			  uint32_t thread);
/* Puts `count` words at a reserved place, front to back. */
void litifut_fill(uint32_t *place, const uint32_t *words, uint32_t count);
/* Zeroes words up to `end`; there are a multiple of eight of them. */
void litifut_clear(uint32_t *word, const uint32_t *end);
/* The chunk of the process's trace that holds `address`, one of a word of it. */
uint32_t litifut_chunk_of(uint32_t address);
/* Room for one more chunk of a file: the first one, or one at its end, mapped at a multiple of its
 * size; 0 when there is none, and then `*trouble` says why. Its place in the file is left in
 * `used_bytes`, which has no other use in an open chunk. `small`: it may be smaller. */
uint32_t litifut_chunk_map(struct litifut_trace_file *file, bool small, const char **trouble);
/* Is this chunk one of those within the first bytes of a file? They stay mapped. */
bool litifut_chunk_is_first(const struct litifut_trace_file *file, uint32_t base);
/* Fills the header of an empty chunk of a file. The kind comes last: before it, readers
 * take the chunk for a free one. */
void litifut_chunk_open(struct litifut_trace_file *file, uint32_t base, uint32_t kind,
			uint32_t encoding, uint32_t thread);

#pragma GCC visibility pop

#endif
