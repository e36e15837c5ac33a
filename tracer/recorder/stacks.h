/* Where the stacks of the recorder are (own_stack.c), and that of the program. */
#ifndef LITIFUT_TRACER_STACKS_H
#define LITIFUT_TRACER_STACKS_H

#include <stdint.h>

#include "tracer/recorder/state.h"

#define LITIFUT_OWN_STACKS 8
#define LITIFUT_OWN_STACK_BYTES 16384

/* The number of the stack that holds this address; LITIFUT_OWN_STACKS or more: none. */
static inline uint32_t litifut_own_stack_of(uint32_t address)
{
	return (address - litifut_recorder.own_stacks) / LITIFUT_OWN_STACK_BYTES;
}

/* The stack pointer of the calling thread, or what it was when the thread took a stack of the
 * recorder: below all that the program has on its stack. */
static inline uint32_t litifut_program_stack(void)
{
	uint32_t here = (uint32_t)__builtin_frame_address(0);
	uint32_t number = litifut_own_stack_of(here);

	/* the lowest word of a stack is never reached by what runs on it */
	return number < LITIFUT_OWN_STACKS ? *(uint32_t *)(litifut_recorder.own_stacks +
							   number * LITIFUT_OWN_STACK_BYTES)
					   : here;
}

#endif
