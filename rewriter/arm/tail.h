/* See the members of the same names in struct litifut_arch. */
#ifndef LITIFUT_REWRITER_ARM_TAIL_H
#define LITIFUT_REWRITER_ARM_TAIL_H

#include "rewriter/arm/arm.h"

uint32_t litifut_arm_behind_stub(const struct litifut_image *image,
				 struct litifut_instruction *branch);
bool litifut_arm_is_indirect_tail(const struct litifut_image *image,
				  const struct litifut_arch_context *context,
				  const struct litifut_cramped_call *call,
				  const struct litifut_targets *data);

/* Is the call a `ldr pc, [pc, #n]` from within its section? *value gets the word that
 * it loads, as it stands in the image. */
bool litifut_arm_literal(const struct litifut_cramped_call *call, uint32_t *value);

#endif
