/* The kernel emulates the floating-point registers where the CPU has none. */
#ifndef LITIFUT_TRACER_FLOATING_H
#define LITIFUT_TRACER_FLOATING_H

#include "tracer/enter.h"

static inline uint32_t litifut_port_floating(void)
{
	return LITIFUT_FLOATING_16;
}

#endif
