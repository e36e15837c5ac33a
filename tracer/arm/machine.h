/* What the kernel's name for the machine says about the CPU, where nothing else can be had.
 * Pure, so that it is tested on the build machine. */
#ifndef LITIFUT_TRACER_ARM_MACHINE_H
#define LITIFUT_TRACER_ARM_MACHINE_H

#include <stdbool.h>

/* "armv5tejl", "armv6l", "armv7l", "armv8b", "aarch64": from ARMv7 on, TPIDRURO, LDREX and
 * STREX can be used, and the kernel's helper page may be missing. On an older CPU the page
 * is there, but for kernels that are made for ARMv6K alone and without it. */
static inline bool litifut_arm_is_modern(const char *machine)
{
	if (machine[0] != 'a')
		return false;
	if (machine[1] == 'a')
		return true;
	return machine[1] == 'r' && machine[2] == 'm' && machine[3] == 'v' &&
	       ((machine[4] >= '7' && machine[4] <= '9') ||
		(machine[4] == '1' && machine[5] >= '0'));
}

#endif
