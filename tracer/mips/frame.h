/* What tracer/mips/stub.S leaves on the stack for litifut_enter(). */
#ifndef LITIFUT_TRACER_FRAME_H
#define LITIFUT_TRACER_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/mips/next_pc.h"

struct litifut_frame {
	uint32_t registers[32]; /* by number; only those that C code may change are filled,
				   the others when `complete` is set */
	uint32_t hi;
	uint32_t lo;
	uint32_t complete;
	uint32_t spare;
};

/* The register of a jalr that comes without an entry in the DB: $t9. */
#define LITIFUT_CALL_REGISTER 25

/* Call sites lie at multiples of 1 << this. */
#define LITIFUT_SITE_ALIGNMENT_BITS 2

static inline uint32_t litifut_frame_return_address(const struct litifut_frame *frame)
{
	return frame->registers[31];
}

/* The registers of the first four arguments. */
static inline const uint32_t *litifut_frame_arguments(const struct litifut_frame *frame)
{
	return frame->registers + 4;
}

static inline uint32_t litifut_frame_stack_pointer(const struct litifut_frame *frame)
{
	return (uint32_t)(frame + 1);
}

/* As litifut_mips_next_pc(); 0 as well when the callee is in a register that is
 * not in the frame yet: the stub then completes it and asks again. */
static inline uint32_t litifut_frame_next_pc(const struct litifut_frame *frame,
					     uint32_t instruction, uint32_t return_address,
					     uint32_t *kind)
{
	uint32_t rs = instruction >> 21 & 31;
	uint32_t next = litifut_mips_next_pc(instruction, return_address, frame->registers, kind);

	if ((*kind == LITIFUT_SITE_INDIRECT || *kind == LITIFUT_SITE_TAIL_INDIRECT) &&
	    !frame->complete && ((rs >= 16 && rs <= 23) || rs == 29 || rs == 30))
		return 0;
	return next;
}

/* From the exit of a thunk to where its call of litifut_thunk_call returns. */
#define LITIFUT_EXIT_DISTANCE 20

/* The callee that a thunk's exit, a `j` or `b`, leads to. */
static inline uint32_t litifut_frame_exit(const struct litifut_frame *frame, bool needless,
					  uint32_t *kind)
{
	uint32_t exit = frame->registers[1] - LITIFUT_EXIT_DISTANCE;
	uint32_t instruction = *(const uint32_t *)exit;

	(void)needless; /* the stub goes there */
	*kind = LITIFUT_SITE_DIRECT;
	if (instruction == 0x03e00008) /* of a return: jr $31; what that holds says which */
		return frame->registers[31];
	if (instruction >> 26 == 2) /* j */
		return ((exit + 4) & 0xf0000000) | (instruction & 0x03ffffff) << 2;
	return exit + 4 + ((((instruction & 0xffff) ^ 0x8000) - 0x8000) << 2);
}

#endif
