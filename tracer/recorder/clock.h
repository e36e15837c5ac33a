/* The clock of timed events. */
#ifndef LITIFUT_TRACER_CLOCK_H
#define LITIFUT_TRACER_CLOCK_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

struct litifut_module;

/* Chooses the clock of a process whose first module is `module`. */
void litifut_clock_start(const struct litifut_module *module);
/* Its ticks a second; 0: they are nanoseconds, or it is not known. */
uint32_t litifut_clock_hertz(void);
/* The clock that was chosen, in its ticks. */
uint64_t litifut_clock_now(void);
/* CLOCK_MONOTONIC (1) or CLOCK_REALTIME (0) in nanoseconds. */
uint64_t litifut_nanoseconds(uint32_t clock);

#pragma GCC visibility pop

#endif
