/* The end of a trace. */
#ifndef LITIFUT_TRACER_FINISH_H
#define LITIFUT_TRACER_FINISH_H

/* All that makes the trace complete so far; it goes on. */
void litifut_trace_finish(void) __attribute__((visibility("hidden")));

#endif
