/* See the members of the same names in struct litifut_arch. */
#ifndef LITIFUT_REWRITER_ARM_TAIL_H
#define LITIFUT_REWRITER_ARM_TAIL_H

#include "rewriter/arm/arm.h"

bool litifut_arm_is_veneer(const char *name);
uint32_t litifut_arm_behind_stub(const struct litifut_image *image,
				 struct litifut_instruction *branch);
bool litifut_arm_is_indirect_tail(const struct litifut_arch_context *context,
				  const struct litifut_cramped_call *call,
				  const struct litifut_targets *data);

#endif
