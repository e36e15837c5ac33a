/* The tables of call sites in a trace: sums that the device has made. */
#ifndef LITIFUT_POSTPROC_SOURCES_TABLE_CHUNK_H
#define LITIFUT_POSTPROC_SOURCES_TABLE_CHUNK_H

#include "postproc/sources/trace.h"

static inline bool post_trace_has_tables(const struct post_trace *trace)
{
	return trace->table_count || trace->item_count || trace->unfolded_count;
}

/* Are its entries struct litifut_table_call, which table_calls.h reads? */
bool post_table_is_by_address(const struct post_trace *trace, const struct post_chunk *chunk);

/* Gives each entry with calls to `take`. Damage is reported, and the rest is read. */
void post_table_chunks_read(const struct post_trace *trace,
			    void (*take)(void *context, const struct post_table_item *item),
			    void *context, struct post_problems *problems);

#endif
