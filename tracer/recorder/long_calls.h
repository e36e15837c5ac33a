/* How long calls take, for the triggers of LITIFUT_TRIGGER that ask for it (`stop:f>10ms`); in
 * recorder-args-ARCH.o only. */
#ifndef LITIFUT_TRACER_LONG_CALLS_H
#define LITIFUT_TRACER_LONG_CALLS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* A call begins now, which is made with this stack pointer. */
void litifut_long_call_begin(uint32_t stack_pointer);
/* It has returned: the nanoseconds that it took; 0: they are not known. */
uint64_t litifut_long_call_end(uint32_t stack_pointer);

#pragma GCC visibility pop

#endif
