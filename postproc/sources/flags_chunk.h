/* Reading the flags of edges, or the counters of calls, of a trace. */
#ifndef LITIFUT_POSTPROC_SOURCES_FLAGS_CHUNK_H
#define LITIFUT_POSTPROC_SOURCES_FLAGS_CHUNK_H

#include "postproc/sources/trace.h"

/* A piece of the room for flags of a module. */
struct post_flags_piece {
	uint32_t module; /* serial */
	uint32_t first;  /* offset in the room of the first byte of `bytes` */
	bool counts;     /* they are counters, not flags */
	const uint8_t *bytes;
	size_t count;
};

/* Hands out all pieces. Damage is reported to `problems`. */
void post_flags_chunks_read(const struct post_trace *trace,
			    void (*take)(void *context, const struct post_flags_piece *piece),
			    void *context, struct post_problems *problems);

#endif
