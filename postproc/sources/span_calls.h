/* The events of a firmware that records calls without returns (LITIFUT_MODE=stream), as the chunks
 * of a trace: all calls in the order in which they were made, in one thread for each run of the
 * device. */
#ifndef LITIFUT_POSTPROC_SOURCES_SPAN_CALLS_H
#define LITIFUT_POSTPROC_SOURCES_SPAN_CALLS_H

#include "postproc/sources/image.h"
#include "postproc/sources/span_events.h"
#include "postproc/sources/trace.h"

/* Gives `trace`, which has a header already, its chunks. Returns how many calls were left out, as
 * the ELF file does not have their sites. */
uint64_t post_span_calls_make(const struct post_span_events *events, const struct post_image *image,
			      struct post_trace *trace);

#endif
