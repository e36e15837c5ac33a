#ifndef LITIFUT_REWRITER_ARM_RETURN_KEPT_H
#define LITIFUT_REWRITER_ARM_RETURN_KEPT_H

#include "rewriter/image.h"

/* Does the function at the address, of T32 code, store its return address other than by a push,
 * before its first branch? */
bool litifut_arm_keeps_return(const struct litifut_image *image, uint32_t function);
/* Does an `sg` stand before the instruction at `address`? Then non-secure code comes there, and
 * only `bxns` goes back to it. */
bool litifut_arm_leaves_state(const struct litifut_image *image, uint32_t address);

#endif
