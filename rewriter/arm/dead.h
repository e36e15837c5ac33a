/* Registers and flags that hold nothing which is still to be read. */
#ifndef LITIFUT_REWRITER_ARM_DEAD_H
#define LITIFUT_REWRITER_ARM_DEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "rewriter/image.h"

/* Those that are looked for: r0 to r3, lr and the flags, as <cpu/arm/uses.h> has them. */
#define LITIFUT_ARM_DEAD_MOST (0x400fu | 0x70000u)

/* Which of them are written before they are read on every way on from `address`, in the function at
 * [start, end) of the section. What a callee, a caller or code that is not known may read counts as
 * read. */
uint32_t litifut_arm_dead(const struct litifut_section *section, uint32_t start, uint32_t end,
			  bool thumb, uint32_t address);

#endif
