/* Thunks that find no cursor any more. */
#ifndef LITIFUT_TRACER_WITHDRAW_H
#define LITIFUT_TRACER_WITHDRAW_H

#include <stdint.h>

struct litifut_module;

#pragma GCC visibility push(hidden)

/* From here on no code of the process looks for a cursor through the thread pointer. */
void litifut_thunks_withdraw(void);
/* The same of a module that comes later, if it has been done. */
void litifut_thunks_withdraw_new(struct litifut_module *module);

#pragma GCC visibility pop

#endif
