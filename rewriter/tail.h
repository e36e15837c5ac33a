/* Which branches are calls that end a function, "tail calls"? */
#ifndef LITIFUT_REWRITER_TAIL_H
#define LITIFUT_REWRITER_TAIL_H

#include <stdbool.h>
#include <stdint.h>

#include "rewriter/arch.h"
#include "rewriter/image.h"

/* True when `branch`, a LITIFUT_CLASS_BRANCH_DIRECT in `function` (may be NULL:
 * code without a name), goes to the start of another function or to a PLT
 * entry. The cold part of a function is not another function. Changes `branch` to
 * what it was before the linker, see behind_stub in struct litifut_arch. */
bool litifut_tail_is_direct(const struct litifut_image *image, const struct litifut_arch *arch,
			    const struct litifut_symbol *function,
			    struct litifut_instruction *branch);

#endif
