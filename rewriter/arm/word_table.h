/* Tables of words that switches in position-independent code read. */
#ifndef LITIFUT_REWRITER_ARM_WORD_TABLE_H
#define LITIFUT_REWRITER_ARM_WORD_TABLE_H

#include "rewriter/arm/arm.h"

/* Adds to `targets` where the words of `data` in `section` of `image` may lead as entries of such a
 * table. */
void litifut_arm_add_word_table(const struct litifut_image *image,
				const struct litifut_section *section,
				const struct litifut_code_range *data,
				struct litifut_targets *targets);

/* Does the T32 code before the words at `table` say that they are such a table? */
bool litifut_arm_begins_table(const struct litifut_section *section,
			      const struct litifut_symbol *function, uint32_t table);

#endif
