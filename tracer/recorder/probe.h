/* What the tracer itself takes of the time that it measures. */
#ifndef LITIFUT_TRACER_PROBE_H
#define LITIFUT_TRACER_PROBE_H

#include <stdint.h>

struct litifut_module;

/* Ticks of the clock that an event of the process's first module takes, times 256; 0: not known.
 * The clock has been chosen. */
uint32_t litifut_probe(const struct litifut_module *module) __attribute__((visibility("hidden")));

#endif
