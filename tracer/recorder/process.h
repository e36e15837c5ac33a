/* The trace of this process: started at its first event, anew after fork. */
#ifndef LITIFUT_TRACER_PROCESS_H
#define LITIFUT_TRACER_PROCESS_H

#include <stdbool.h>

struct litifut_module;

/* True when this process has a trace to record to; starts one if need be, for
 * `module`. */
bool litifut_process_ready(const struct litifut_module *module)
	__attribute__((visibility("hidden")));

#endif
