/* The stack pointer of tasks of a Cortex-M, which a kernel exchanges in an interrupt handler. */
#ifndef LITIFUT_REWRITER_ARM_TASKS_H
#define LITIFUT_REWRITER_ARM_TASKS_H

#include <stdint.h>

/* Is the wide instruction `mrs rN, PSP` (1) or `msr PSP, rN` (2)? 0: neither. DDI 0403E B5.2. */
static inline unsigned litifut_arm_task_access(uint32_t instruction)
{
	return (instruction & 0xfffff0ff) == 0xf3ef8009   ? 1
	       : (instruction & 0xfff0ffff) == 0xf3808809 ? 2
							  : 0;
}

#endif
