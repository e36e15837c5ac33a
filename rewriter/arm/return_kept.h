#ifndef LITIFUT_REWRITER_ARM_RETURN_KEPT_H
#define LITIFUT_REWRITER_ARM_RETURN_KEPT_H

#include "rewriter/image.h"

/* Does the function at the address, of T32 code, store its return address other than by a push,
 * before its first branch? */
bool litifut_arm_keeps_return(const struct litifut_image *image, uint32_t function);

#endif
