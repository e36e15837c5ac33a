/* Exception landing pads: code that only the unwinder jumps to. */
#ifndef LITIFUT_REWRITER_ARM_LANDING_PADS_H
#define LITIFUT_REWRITER_ARM_LANDING_PADS_H

#include "rewriter/landing_pads.h"

/* Takes the records that .ARM.exidx of `image` leads to. What is damaged or of another kind
 * has none. */
void litifut_arm_landing_pads(const struct litifut_image *image, litifut_take_region *take,
			      void *context);

/* Adds the personality routines that stand in the same tables: no other pointer need lead there. */
void litifut_arm_personalities(const struct litifut_image *image, struct litifut_targets *targets);

#endif
