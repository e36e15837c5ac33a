/* The end of a trace. */
#ifndef LITIFUT_TRACER_FINISH_H
#define LITIFUT_TRACER_FINISH_H

/* All that makes the trace complete so far, and copies it. */
void litifut_trace_snapshot(void) __attribute__((visibility("hidden")));
/* The same, and recording has stopped. */
void litifut_trace_finish(void) __attribute__((visibility("hidden")));

#endif
