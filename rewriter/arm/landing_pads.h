/* Exception landing pads: code that only the unwinder jumps to. */
#ifndef LITIFUT_REWRITER_ARM_LANDING_PADS_H
#define LITIFUT_REWRITER_ARM_LANDING_PADS_H

#include "rewriter/landing_pads.h"

/* Takes the records that .ARM.exidx of `image` leads to. What is damaged or of another kind
 * has none. */
void litifut_arm_landing_pads(const struct litifut_image *image, litifut_take_region *take,
			      void *context);

#endif
