/* The functions that the kernel maps into each process (vDSO). */
#ifndef LITIFUT_TRACER_VDSO_H
#define LITIFUT_TRACER_VDSO_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* The address of a function in the vDSO; 0 when the kernel gives none, or none that is
 * faster than the system call (it takes the name away then). */
uint32_t litifut_vdso_function(const char *name);

#pragma GCC visibility pop

#endif
