/* Masks the interrupts of a Cortex-M for a few instructions. Calls nest: each gives back what it
 * found. */
#ifndef LITIFUT_TRACER_ARM_INTERRUPTS_H
#define LITIFUT_TRACER_ARM_INTERRUPTS_H

#include <stdint.h>

typedef uint32_t litifut_interrupts;

static inline litifut_interrupts litifut_interrupts_off(void)
{
	litifut_interrupts masked;

	__asm__ volatile("mrs %0, PRIMASK\n\tcpsid i" : "=r"(masked)::"memory");
	return masked;
}

static inline void litifut_interrupts_restore(litifut_interrupts masked)
{
	__asm__ volatile("msr PRIMASK, %0" ::"r"(masked) : "memory");
}

#endif
