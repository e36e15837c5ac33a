/* What tracer/mips/stub.S leaves on the stack for litifut_enter(). */
#ifndef LITIFUT_TRACER_FRAME_H
#define LITIFUT_TRACER_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "tracer/mips/next_pc.h"

struct litifut_frame {
	const uint32_t *kept;    /* 16 to 23, 29, 30, which C code keeps; NULL: not stored */
	uint32_t registers[15];  /* 1 to 15 */
	uint32_t t8;             /* 24 */
	uint32_t t9;             /* 25 */
	uint32_t gp;             /* 28 */
	uint32_t return_address; /* 31 */
	uint32_t hi;
	uint32_t lo;
};

_Static_assert(sizeof(struct litifut_frame) == 88, "FRAME in stub.S");

/* A general register by its number; 0 for one that is not stored. */
static inline uint32_t litifut_frame_register(const struct litifut_frame *frame, uint32_t number)
{
	if (number >= 1 && number <= 15)
		return frame->registers[number - 1];
	if (frame->kept && number >= 16 && number <= 23)
		return frame->kept[number - 16];
	if (frame->kept && (number == 29 || number == 30))
		return frame->kept[number - 21];
	switch (number) {
	case 24:
		return frame->t8;
	case 25:
		return frame->t9;
	case 28:
		return frame->gp;
	case 31:
		return frame->return_address;
	default:
		return 0;
	}
}

/* The register of a jalr that comes without an entry in the DB: $t9. */
#define LITIFUT_CALL_REGISTER 25

/* Call sites lie at multiples of 1 << this. */
#define LITIFUT_SITE_ALIGNMENT_BITS 2

static inline uint32_t litifut_frame_return_address(const struct litifut_frame *frame)
{
	return frame->return_address;
}

/* The registers of the first four arguments. */
static inline const uint32_t *litifut_frame_arguments(const struct litifut_frame *frame)
{
	return frame->registers + 3;
}

/* LITIFUT_MODE=paths: to the code that has called (bits.S), of the cursor behind the word for bits
 * that was begun for it. `arguments` is what litifut_frame_arguments() has returned. */
static inline void litifut_frame_give_cursor(const uint32_t *arguments, uint32_t cursor)
{
	((volatile uint32_t *)(uintptr_t)arguments)[-3] = cursor; /* $at */
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
	uint32_t target = 0;

	if (instruction >> 26 == 0) /* SPECIAL: jr, jalr */
		target = litifut_frame_register(frame, instruction >> 21 & 31);
	return litifut_mips_next_pc(instruction, return_address, target, kind);
}

/* From the exit of a thunk to where its call of litifut_thunk_call returns. */
#define LITIFUT_EXIT_DISTANCE 20

/* The callee that a thunk's exit, a `j` or `b`, leads to. */
static inline uint32_t litifut_frame_exit(const struct litifut_frame *frame, bool needless,
					  uint32_t *kind)
{
	uint32_t exit = litifut_frame_register(frame, 1) - LITIFUT_EXIT_DISTANCE;
	uint32_t instruction = *(const uint32_t *)exit;

	(void)needless; /* the stub goes there */
	*kind = LITIFUT_SITE_DIRECT;
	if (instruction == 0x03e00008) /* of a return: jr $31; what that holds says which */
		return frame->return_address;
	if (instruction >> 26 == 2) /* j */
		return ((exit + 4) & 0xf0000000) | (instruction & 0x03ffffff) << 2;
	return exit + 4 + ((((instruction & 0xffff) ^ 0x8000) - 0x8000) << 2);
}

#endif
