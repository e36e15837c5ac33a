/* What libc does before a fork. */
#ifndef LITIFUT_TRACER_FORK_H
#define LITIFUT_TRACER_FORK_H

#include <stdbool.h>

struct litifut_module;

#pragma GCC visibility push(hidden)

/* Sees to it that no thunk stores anything in a child of fork before the recorder has
 * seen it. Called while a module starts, when libc can be. False: that can't be had,
 * and no thread may be armed. */
bool litifut_fork_start(const struct litifut_module *module);
/* Undoes it when `module` is unloaded and the recorder with it. */
void litifut_fork_end(const struct litifut_module *module);

#pragma GCC visibility pop

#endif
