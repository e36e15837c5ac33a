/* Entries of .ARM.exidx for trampolines. */
#ifndef LITIFUT_REWRITER_ARM_UNWIND_H
#define LITIFUT_REWRITER_ARM_UNWIND_H

#include "rewriter/arch.h"

extern const struct litifut_unwind_table litifut_arm_unwind_table;

#endif
