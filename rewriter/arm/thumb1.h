/* Calls of T32 code without Thumb-2, see thumb1.c. */
#ifndef LITIFUT_REWRITER_ARM_THUMB1_H
#define LITIFUT_REWRITER_ARM_THUMB1_H

#include <stdbool.h>
#include <stdint.h>

#include "rewriter/arm/arm.h"
#include "rewriter/arm/trampoline.h"

/* Can this instruction, which stands before a 16-bit `blx rN`, be done after a bl
 * in its place? */
bool litifut_arm_thumb1_displaceable(const struct litifut_arm_displaced *displaced);

/* Writes the trampoline, standing at `address` (4-byte aligned), to `code`: does
 * what the displaced instruction did and goes on to the A32 code at `entry`. Writes
 * the bl that replaces that instruction and the call to `site`. Returns the size of
 * the trampoline, a multiple of 4; 0: out of reach. */
unsigned litifut_arm_thumb1_write(const struct litifut_arm_displaced *displaced, uint32_t address,
				  uint32_t entry, uint8_t *code, uint8_t *site);

/* See the member of the same name in struct litifut_arch. */
unsigned litifut_arm_judge_target(const struct litifut_image *image,
				  const struct litifut_arch_context *context,
				  const struct litifut_section *section,
				  const struct litifut_code_range *range,
				  const struct litifut_symbol *function,
				  struct litifut_instruction *call);

#endif
