/* Instructions in code that were assembled as numbers. */
#ifndef LITIFUT_REWRITER_ARM_NUMBERS_H
#define LITIFUT_REWRITER_ARM_NUMBERS_H

#include <stddef.h>

#include "rewriter/arch.h"

/* Makes code of the `*count` ranges of the section that are such data, each one range with those
 * around it. */
void litifut_arm_join_numbers(const struct litifut_image *image,
			      const struct litifut_section *section,
			      struct litifut_code_range *ranges, size_t *count);

#endif
