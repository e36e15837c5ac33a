/* Exception landing pads: code that only the unwinder jumps to. */
#ifndef LITIFUT_REWRITER_ARM_LANDING_PADS_H
#define LITIFUT_REWRITER_ARM_LANDING_PADS_H

#include "rewriter/image.h"
#include "rewriter/targets.h"

/* Adds the landing pads that .ARM.exidx of `image` leads to. What is damaged or
 * of another kind adds nothing. */
void litifut_arm_add_landing_pads(const struct litifut_image *image,
				  struct litifut_targets *targets);

#endif
