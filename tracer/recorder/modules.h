/* What the trace says of modules. */
#ifndef LITIFUT_TRACER_MODULES_H
#define LITIFUT_TRACER_MODULES_H

struct litifut_module;

#pragma GCC visibility push(hidden)

/* Puts a record of `module` into the trace. */
void litifut_module_announce(struct litifut_module *module);
/* Puts records of all modules into a new trace of the same process, or of its child. */
void litifut_modules_announce_again(void);

#pragma GCC visibility pop

#endif
