/* See the members of the same names in struct litifut_arch. */
#ifndef LITIFUT_REWRITER_ARM_THUNK_H
#define LITIFUT_REWRITER_ARM_THUNK_H

#include "rewriter/arm/arm.h"

const char *litifut_arm_refuses_thunks(const struct litifut_image *image);
const char *litifut_arm_refuses_counters(const struct litifut_image *image);
const char *litifut_arm_refuses_bits(const struct litifut_image *image);
/* Does the image say that it is for ARMv7 or later, with Thumb-2? */
bool litifut_arm_is_for_v7(const struct litifut_image *image);
struct litifut_thunk litifut_arm_thunk(const struct litifut_image *image,
				       const struct litifut_arch_context *context,
				       const struct litifut_cramped_call *call);
unsigned litifut_arm_write_thunk(const struct litifut_arch_context *context,
				 const struct litifut_thunk *thunk, uint32_t address,
				 const uint32_t *entries, uint8_t *code);
void litifut_arm_thunk_frame(const struct litifut_arch_context *context,
			     const struct litifut_thunk *thunk, struct litifut_frame_code *frame);

#endif
