/* Flags of edges (LITIFUT_MODE=coverage). */
#ifndef LITIFUT_TRACER_FLAGS_H
#define LITIFUT_TRACER_FLAGS_H

#include <litifut/module_format.h>
#include <stdbool.h>

#include "tracer/recorder/verbose.h"

#pragma GCC visibility push(hidden)

/* Makes the module's room for flags a part of the trace. What was there goes with it, unless
 * `anew`: then it is another process's. */
void litifut_flags_open(const struct litifut_module *module, bool anew);
/* In a child that has no trace: its flags do not get into that of its parent. */
void litifut_flags_part(void);
/* Sees to it that the flags of the module, of all modules, are in the trace. */
void litifut_flags_save_module(const struct litifut_module *module);
/* After that, of a module that goes: gives back the memory that is written to the trace, if the
 * trace is not mapped. */
void litifut_flags_close(const struct litifut_module *module);
void litifut_flags_save(void);
/* Is all that is recorded in mapped memory, and nothing to be done with the trace when the program
 * ends? */
bool litifut_ends_quietly(void);

#pragma GCC visibility pop

/* Says that the module has flags which do not get into the trace. */
static inline void litifut_flags_refuse(const struct litifut_module *module)
{
	litifut_tell("what is executed is not recorded, since the program was linked with "
		     "another LITIFUT_MODE: ",
		     module->name, 0);
}

#endif
