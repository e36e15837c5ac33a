/* Which module an address belonged to. Events are folded later than they are recorded, and a
 * library may have been unloaded meanwhile, and another one loaded in its place. Each unloading
 * begins another epoch. */
#ifndef LITIFUT_TRACER_EPOCHS_H
#define LITIFUT_TRACER_EPOCHS_H

#include <litifut/module_format.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Notes that this module is unloaded, with which the current epoch ends. The dynamic linker lets
 * one thread at a time do that. */
void litifut_epoch_end(const struct litifut_module *module);
/* Has the module at this address, if there was one in the epoch `from`, stayed up to the epoch
 * `to`? */
bool litifut_code_stays(uint32_t address, uint32_t from, uint32_t to);
/* A number for the module that was at this address in an epoch; 0: there was none. It is the same
 * when the same file is loaded at the same place again. Where there was no module in that
 * epoch but one came later, it is that one's number. */
uint32_t litifut_code_in(uint32_t address, uint32_t epoch);

#pragma GCC visibility pop

#endif
