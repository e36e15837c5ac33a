/* What holds on every way from the start of a function to a branch in it. */
#ifndef LITIFUT_REWRITER_ARM_FLOW_H
#define LITIFUT_REWRITER_ARM_FLOW_H

#include "rewriter/arm/arm.h"

enum litifut_arm_flow {
	LITIFUT_ARM_FLOW_INSIDE,   /* the branch can't leave the function for another, or may
				    * well stay in it */
	LITIFUT_ARM_FLOW_CALLERS,  /* lr and sp are as they were at the function's start */
	LITIFUT_ARM_FLOW_RESTORED, /* lr has been taken from the stack, as a function ends */
};

/* For a branch by a register, or one that loads the pc by it. */
enum litifut_arm_flow litifut_arm_flow_to(const struct litifut_image *image,
					  const struct litifut_arch_context *context,
					  const struct litifut_cramped_call *call);

#endif
