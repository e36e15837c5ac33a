/* Stepping stones; see stone.c. The first is the member of the same name in
 * struct litifut_arch. */
#ifndef LITIFUT_REWRITER_ARM_STONE_H
#define LITIFUT_REWRITER_ARM_STONE_H

#include "rewriter/arm/arm.h"

/* How far from its call a stone is at most. */
#define LITIFUT_ARM_STONE_REACH 2048

bool litifut_arm_find_stone(const struct litifut_arch_context *context,
			    const struct litifut_code_range *ranges, size_t count,
			    const struct litifut_targets *targets,
			    const struct litifut_targets *taken, struct litifut_cramped_call *call);

/* The most instructions that a stone displaces. */
#define LITIFUT_ARM_STONE_INSTRUCTIONS 5

/* Writes for `call`, which has a stone, what replaces its own bytes and those of
 * the stone to `detour`; the call's trampoline stands at `address`. Writes the
 * trampoline of the stone, standing at `stone_address`, to `code`. Returns its
 * size, a multiple of 4; 0: out of reach. */
unsigned litifut_arm_stone_write(const struct litifut_cramped_call *call, uint32_t address,
				 uint32_t stone_address, uint8_t *code,
				 struct litifut_detour *detour);

#endif
