/* The header of a trace file. */
#ifndef LITIFUT_TRACER_HEADER_H
#define LITIFUT_TRACER_HEADER_H

#include "tracer/sink/trace_file.h"

/* Fills the mapped header of a new trace file. */
void litifut_header_fill(const struct litifut_trace_file *file)
	__attribute__((visibility("hidden")));

#endif
