/* How much all traces in a folder take. */
#ifndef LITIFUT_TRACER_USAGE_H
#define LITIFUT_TRACER_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Adds `bytes` to what the traces in the folder take. False: that is more than LITIFUT_DIR_MB
 * allows. */
bool litifut_usage_add(uint32_t bytes);

#pragma GCC visibility pop

#endif
