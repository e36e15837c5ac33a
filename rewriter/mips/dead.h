/* Registers that hold nothing which is still to be read. */
#ifndef LITIFUT_REWRITER_MIPS_DEAD_H
#define LITIFUT_REWRITER_MIPS_DEAD_H

#include "rewriter/mips/mips.h"

/* Those that are looked for: v0, v1, a0 to a3, t0 to t9 and ra, as <cpu/mips/uses.h> has them. */
#define LITIFUT_MIPS_DEAD_MOST 0x8300fffcu

/* Which of them are written before they are read on every way on from `address`, in the function at
 * [start, end) of the section. What a callee, a caller or code that is not known may read counts as
 * read. */
uint32_t litifut_mips_dead(const struct litifut_arch_context *context,
			   const struct litifut_section *section, uint32_t start, uint32_t end,
			   uint32_t address);

#endif
