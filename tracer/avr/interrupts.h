/* Masks the interrupts of an AVR for a few instructions. Calls nest: each gives back what it
 * found. */
#ifndef LITIFUT_TRACER_AVR_INTERRUPTS_H
#define LITIFUT_TRACER_AVR_INTERRUPTS_H

#include <stdint.h>

typedef uint8_t litifut_interrupts; /* SREG */

static inline litifut_interrupts litifut_interrupts_off(void)
{
	litifut_interrupts status;

	__asm__ volatile("in %0, 0x3f\n\tcli" : "=r"(status)::"memory");
	return status;
}

static inline void litifut_interrupts_restore(litifut_interrupts status)
{
	__asm__ volatile("out 0x3f, %0" ::"r"(status) : "memory");
}

#endif
