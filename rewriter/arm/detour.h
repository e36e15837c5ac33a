/* See the members of the same names in struct litifut_arch. */
#ifndef LITIFUT_REWRITER_ARM_DETOUR_H
#define LITIFUT_REWRITER_ARM_DETOUR_H

#include "rewriter/arm/arm.h"

void litifut_arm_add_targets(const struct litifut_image *image,
			     const struct litifut_arch_context *context,
			     const struct litifut_section *section,
			     const struct litifut_code_range *ranges, size_t count,
			     struct litifut_targets *targets);
void litifut_arm_write_gate(const struct litifut_arch_context *context, uint32_t address,
			    const uint32_t *entries, uint8_t *code);
bool litifut_arm_can_detour(const struct litifut_arch_context *context,
			    const struct litifut_cramped_call *call,
			    const struct litifut_targets *targets);
bool litifut_arm_write_detour(const struct litifut_arch_context *context,
			      const struct litifut_cramped_call *call, uint32_t address,
			      const struct litifut_gate *gate, uint8_t *trampoline,
			      struct litifut_detour *detour);

#endif
