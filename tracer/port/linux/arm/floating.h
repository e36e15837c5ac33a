/* Which floating-point registers this CPU has, asked of the kernel. */
#ifndef LITIFUT_TRACER_FLOATING_H
#define LITIFUT_TRACER_FLOATING_H

#include <linux/auxvec.h>

#include "tracer/entry/guard.h"
/* This is part of each module, not of the recorder. */
#define LITIFUT_UNGATED
#include "tracer/port/linux/system.h"

#define LITIFUT_PORT_HWCAP_VFP (1u << 6)
#define LITIFUT_PORT_HWCAP_VFP_D32 (1u << 19)
#define LITIFUT_PORT_HWCAP_NEON (1u << 12)

static inline uint32_t litifut_port_floating(void)
{
	long descriptor = litifut_open("/proc/self/auxv", O_RDONLY, 0);
	uint32_t pair[2];
	uint32_t hwcap = 0;

	if (litifut_failed(descriptor))
		return LITIFUT_FLOATING_NONE;
	/* A pair at a time, as this is on the program's stack. The kernel's second pair is the one.
	 */
	while (!hwcap && LITIFUT_CALL3(read, descriptor, pair, sizeof(pair)) == (long)sizeof(pair))
		if (pair[0] == AT_HWCAP)
			hwcap = pair[1];
	litifut_close(descriptor);
	if (!(hwcap & LITIFUT_PORT_HWCAP_VFP))
		return LITIFUT_FLOATING_NONE;
	if (hwcap & (LITIFUT_PORT_HWCAP_VFP_D32 | LITIFUT_PORT_HWCAP_NEON))
		return LITIFUT_FLOATING_32;
	return LITIFUT_FLOATING_16;
}

#endif
