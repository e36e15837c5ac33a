/* What the trace says of modules. */
#ifndef LITIFUT_TRACER_MODULES_H
#define LITIFUT_TRACER_MODULES_H

struct litifut_module;

#pragma GCC visibility push(hidden)

/* Tells the trace of `module`. */
void litifut_module_announce(struct litifut_module *module);
/* Tells a new trace of the same process, or of its child, of all modules. */
void litifut_modules_announce_again(void);

#pragma GCC visibility pop

#endif
