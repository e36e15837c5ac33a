/* Entries of .ARM.exidx for trampolines. */
#ifndef LITIFUT_REWRITER_ARM_UNWIND_H
#define LITIFUT_REWRITER_ARM_UNWIND_H

#include "rewriter/arch.h"

extern const struct litifut_unwind_table litifut_arm_unwind_table;

/* What the word `data`, which stands at `place` in .ARM.exidx of `image` and says how
 * to unwind a function, becomes at `to` for code that has been moved out of that
 * function: the same, without what it says of exceptions. */
uint32_t litifut_arm_moved_unwind_data(const struct litifut_image *image, uint32_t data,
				       uint32_t place, uint32_t to);

#endif
