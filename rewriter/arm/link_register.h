/* Is what the link register holds at some place of no use? */
#ifndef LITIFUT_REWRITER_ARM_LINK_REGISTER_H
#define LITIFUT_REWRITER_ARM_LINK_REGISTER_H

#include <stdbool.h>
#include <stdint.h>

#include "rewriter/arm/arm.h"

/* True when every way on from `address`, the return address of the call at `call`, in the function
 * at [start, end) of `section`, writes lr before it reads it. False as well when that is not
 * known. */
bool litifut_arm_link_is_free(const struct litifut_section *section, uint32_t start, uint32_t end,
			      bool thumb, uint32_t call, uint32_t address);

#endif
