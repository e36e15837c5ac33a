#ifndef LITIFUT_REWRITER_ARM_POINTED_CALLEE_H
#define LITIFUT_REWRITER_ARM_POINTED_CALLEE_H

#include "rewriter/arch.h"

/* Where the T32 call or jump through a register at `site` leads, in the function at `function`, if
 * a literal, or movw and movt, puts that address into the register shortly before it, and no branch
 * of the function leads to in between; bit 0 as in the register. 0: not known. */
uint32_t litifut_arm_pointed_callee(const struct litifut_image *image,
				    const struct litifut_arch_context *context, uint32_t function,
				    uint32_t site);

/* The same of the first `bx' of that function for which it is known. */
uint32_t litifut_arm_pointed_jump(const struct litifut_image *image,
				  const struct litifut_arch_context *context, uint32_t function);

#endif
