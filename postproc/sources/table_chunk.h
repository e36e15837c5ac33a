/* The tables of call sites in a trace: sums that the device has made. */
#ifndef LITIFUT_POSTPROC_SOURCES_TABLE_CHUNK_H
#define LITIFUT_POSTPROC_SOURCES_TABLE_CHUNK_H

#include "postproc/sources/trace.h"

/* What became of the calls of one site, to one callee if it is an indirect one. */
struct post_table_item {
	uint32_t module; /* serial */
	uint32_t site;   /* index within the module */
	uint32_t thread;
	uint32_t callee; /* run-time, of an indirect call; 0: the site knows it */
	uint64_t count;
	uint64_t minimum, maximum; /* ticks; minimum > maximum: no call was timed */
	uint64_t sum, self;
	uint64_t hertz; /* 0: unknown */
};

/* Gives each entry with calls to `take`. Damage is reported, and the rest is read. */
void post_table_chunks_read(const struct post_trace *trace,
			    void (*take)(void *context, const struct post_table_item *item),
			    void *context, struct post_problems *problems);

#endif
