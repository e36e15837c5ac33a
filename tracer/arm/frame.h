/* What tracer/arm/stub.S leaves on the stack for litifut_enter(). */
#ifndef LITIFUT_TRACER_FRAME_H
#define LITIFUT_TRACER_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/arm/next_pc.h"

struct litifut_frame {
	uint32_t registers[13];  /* r0-r12 */
	uint32_t return_address; /* the key in the instruction DB */
	uint32_t next_pc;        /* a `blx lr` comes with its callee here, as r14 */
	uint32_t link_register;  /* for the callee; a tail call's is not its key */
};

/* Call sites lie at multiples of 1 << this. */
#define LITIFUT_SITE_ALIGNMENT_BITS 1

static inline uint32_t litifut_frame_return_address(const struct litifut_frame *frame)
{
	return frame->return_address;
}

/* The registers of the first four arguments. */
static inline const uint32_t *litifut_frame_arguments(const struct litifut_frame *frame)
{
	return frame->registers;
}

/* As on MIPS, where code records bits by itself: here none does. */
static inline void litifut_frame_give_cursor(const uint32_t *arguments, uint32_t cursor)
{
	(void)arguments;
	(void)cursor;
}

static inline uint32_t litifut_frame_stack_pointer(const struct litifut_frame *frame)
{
	return (uint32_t)(frame + 1);
}

/* As litifut_arm_next_pc(). No call is made through sp. */
static inline uint32_t litifut_frame_next_pc(const struct litifut_frame *frame,
					     uint32_t instruction, uint32_t return_address,
					     uint32_t *kind)
{
	const uint32_t *registers = (const uint32_t *)frame; /* with r14 */

	return litifut_arm_next_pc(instruction, return_address, registers, kind);
}

/* The callee that a thunk's exit leads to; with `needless`, 0 for a direct call. The
 * exit of a tail call is its key. */
static inline uint32_t litifut_frame_exit(const struct litifut_frame *frame, bool needless,
					  uint32_t *kind)
{
	uint32_t exit = frame->next_pc;
	const uint16_t *code = (const uint16_t *)(exit & ~1u);
	/* of A32 code (rewriter/arm/thunk_shared.c) all of it */
	uint32_t instruction = exit & 1 ? code[0] : *(const uint32_t *)exit;
	uint32_t callee;

	/* of a return: bx lr; what lr holds says which */
	if (exit & 1 && instruction == 0x4770 && exit != frame->return_address) {
		*kind = LITIFUT_SITE_DIRECT;
		return 0;
	}
	/* no bx rN */
	if (needless && exit != frame->return_address && (instruction & 0xff87) != 0x4700 &&
	    (instruction & 0x0ffffff0) != 0x012fff10) {
		*kind = LITIFUT_SITE_DIRECT;
		return 0;
	}
	if (instruction == 0xe24dd004) { /* sub sp, sp, #4: the long way to a callee */
		*kind = LITIFUT_SITE_DIRECT;
		return exit + 20 + ((const uint32_t *)exit)[6];
	}
	/* to an A32 callee: b.n; then where it leads to: bx pc, nop, b */
	if (exit & 1 && instruction >> 11 == 0x1c) {
		code -= 4;
		instruction = code[2] | (uint32_t)code[3] << 16;
		exit = (uint32_t)code + 4;
	} else if (exit & 1 && instruction >= 0xe800) {
		instruction = instruction << 16 | code[1];
	}
	callee = litifut_arm_next_pc(instruction, exit + 4, frame->registers, kind);
	if (frame->next_pc != frame->return_address)
		*kind = *kind == LITIFUT_SITE_TAIL_INDIRECT ? LITIFUT_SITE_INDIRECT
							    : LITIFUT_SITE_DIRECT;
	return callee;
}

#endif
