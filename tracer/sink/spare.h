/* Chunks that were mapped in advance, for a process that may make no system calls. */
#ifndef LITIFUT_TRACER_SPARE_H
#define LITIFUT_TRACER_SPARE_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The address of one of them, which belongs to the caller from now on; 0: none is left. */
uint32_t litifut_spare_chunk(void);

#pragma GCC visibility pop

#endif
