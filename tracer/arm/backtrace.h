/* How unwinders get through the code that the rewriter makes beside the tracer. */
#ifndef LITIFUT_TRACER_ARM_BACKTRACE_H
#define LITIFUT_TRACER_ARM_BACKTRACE_H

#include <stdint.h>

/* A personality routine ("Exception Handling ABI for the Arm Architecture", 7.3). `block` is the
 * unwinder's struct _Unwind_Control_Block, `context` its registers. */
int litifut_backtrace(int state, const uint32_t *block, uint32_t *context);

#endif
