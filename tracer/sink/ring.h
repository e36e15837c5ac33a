/* LITIFUT_RING_KB: the newest chunks are kept, and take the places of the oldest. */
#ifndef LITIFUT_TRACER_RING_H
#define LITIFUT_TRACER_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/sink/trace_file.h"

#pragma GCC visibility push(hidden)

/* Makes a new trace a ring when the settings ask for one and its chunks are mapped. */
void litifut_ring_start(struct litifut_trace_file *file);
/* The place in the file for the next chunk; false: all are in use. */
bool litifut_ring_take(struct litifut_trace_file *file, uint32_t *place);
/* The chunk at `place` is closed: a later one may have it. */
void litifut_ring_give(struct litifut_trace_file *file, uint32_t place);

#pragma GCC visibility pop

#endif
