/* The clocks of traces. */
#ifndef LITIFUT_POSTPROC_MODEL_CLOCK_H
#define LITIFUT_POSTPROC_MODEL_CLOCK_H

#include "postproc/model/session.h"

/* Do the events of this process carry a time? */
bool post_clock_runs(const struct post_process *process);

/* Ticks a second of the times of a process; 0: unknown, or it has none. */
uint64_t post_clock_hertz(const struct post_process *process);

/* Clock ticks of an event as nanoseconds on the monotonic clock, which all
 * processes of a device share. A cycle counter is anchored at the start of its
 * process; without a known frequency a tick counts as a nanosecond. */
uint64_t post_clock_ns(const struct post_process *process, uint64_t ticks);

#endif
