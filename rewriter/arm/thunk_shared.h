/* Thunks that run on ARM CPUs of all kinds; thunk.c has those for ARMv7 and later. */
#ifndef LITIFUT_REWRITER_ARM_THUNK_SHARED_H
#define LITIFUT_REWRITER_ARM_THUNK_SHARED_H

#include "rewriter/arm/arm.h"

/* The most bytes of one. */
#define LITIFUT_ARM_THUNK_SHARED_BYTES_MAX 40

/* See the members of similar names in struct litifut_arch_thunks. The call is one that sets lr
 * itself, if it does. */
struct litifut_thunk litifut_arm_thunk_shared(const struct litifut_cramped_call *call);
unsigned litifut_arm_write_thunk_shared(const struct litifut_thunk *thunk, uint32_t address,
					const uint32_t *entries, uint8_t *code);
void litifut_arm_thunk_shared_frame(const struct litifut_thunk *thunk,
				    struct litifut_frame_code *frame);

#endif
