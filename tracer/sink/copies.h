/* Copies of the files of a trace. */
#ifndef LITIFUT_TRACER_COPIES_H
#define LITIFUT_TRACER_COPIES_H

#include "tracer/sink/trace_file.h"

#pragma GCC visibility push(hidden)

/* Writes /proc/self/maps beside the trace. */
void litifut_maps_write(const struct litifut_trace_file *file);
/* Copies trace and maps to LITIFUT_COPY_TO. Several threads may be at it at once; the
 * newest copy stays. */
void litifut_files_carry(void);

#pragma GCC visibility pop

#endif
