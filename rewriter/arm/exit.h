/* See the members of the same names in struct litifut_arch. */
#ifndef LITIFUT_REWRITER_ARM_EXIT_H
#define LITIFUT_REWRITER_ARM_EXIT_H

#include "rewriter/arm/arm.h"
#include "rewriter/exits.h"

/* The most bytes of the trampoline of a return point, without that of its stone. */
#define LITIFUT_ARM_EXIT_BYTES_MAX 64

unsigned litifut_arm_judge_exit(const struct litifut_exit_place *place, struct litifut_exit *exit);
bool litifut_arm_write_exit(const struct litifut_arch_context *context,
			    const struct litifut_cramped_call *call,
			    const struct litifut_exit *exit, uint32_t address,
			    const struct litifut_exit_ways *ways, struct litifut_exit_code *code);

bool litifut_arm_lead_branch(const struct litifut_arch_context *context,
			     enum litifut_code_state state, uint32_t address, unsigned length,
			     uint32_t target, uint8_t *code);

#endif
