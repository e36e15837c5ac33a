/* What the tracer itself takes of the time that it measures. */
#ifndef LITIFUT_TRACER_PROBE_H
#define LITIFUT_TRACER_PROBE_H

#include <stdint.h>

/* Ticks of the clock that an event takes, times 256; 0: not known. The clock has been chosen. */
uint32_t litifut_probe(void) __attribute__((visibility("hidden")));

#endif
