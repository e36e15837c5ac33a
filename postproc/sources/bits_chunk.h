/* Chunks of LITIFUT_MODE=paths, as far as they can be read without the code. */
#ifndef LITIFUT_POSTPROC_SOURCES_BITS_CHUNK_H
#define LITIFUT_POSTPROC_SOURCES_BITS_CHUNK_H

#include <stddef.h>

#include "postproc/sources/trace.h"

/* How many threads have recorded branches. A thread may use the rest of a chunk of one that has
 * ended. `ids` gets at most `most` of them, in the order of their first chunks. */
size_t post_bits_threads(const struct post_trace *trace, uint32_t *ids, size_t most);

#endif
