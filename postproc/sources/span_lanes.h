/* The events of a firmware that records spans, as the chunks of a trace: the same words as those
 * of a Linux program, one lane for each stack of calls.
 *
 * A firmware does not say which task runs. But the stack pointer of a return is that of its call,
 * and a call is made by the function that the call above it has entered. What follows from
 * neither, because code that is not traced has made the call or because a task makes its first
 * one, is a separate lane, unless the stack pointer is just below that of the last call.
 * An interrupt is in the lane that it has interrupted. */
#ifndef LITIFUT_POSTPROC_SOURCES_SPAN_LANES_H
#define LITIFUT_POSTPROC_SOURCES_SPAN_LANES_H

#include "postproc/sources/image.h"
#include "postproc/sources/span_events.h"
#include "postproc/sources/trace.h"

/* Events that could not be placed. */
struct post_span_losses {
	uint64_t returns; /* of calls that are not known */
	uint64_t unknown; /* calls of sites that the ELF file has not */
};

/* Gives `trace`, which has a header already, its chunks. */
void post_span_lanes_make(const struct post_span_events *events, const struct post_image *image,
			  struct post_trace *trace, struct post_span_losses *losses);

#endif
