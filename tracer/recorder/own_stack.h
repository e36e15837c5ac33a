/* Memory of the recorder to run on, so that the program's stack may be small. */
#ifndef LITIFUT_TRACER_OWN_STACK_H
#define LITIFUT_TRACER_OWN_STACK_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Calls `run` with `argument` on a stack of the recorder, with all signals blocked; on the
 * program's stack when there is no memory. */
void litifut_on_own_stack(void (*run)(void *argument), void *argument);
/* Maps the stacks of the process. */
bool litifut_own_stacks_start(void);

#pragma GCC visibility pop

#endif
