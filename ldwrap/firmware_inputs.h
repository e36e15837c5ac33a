/* Recognising the links of firmware by what goes into them. */
#ifndef LITIFUT_LDWRAP_FIRMWARE_INPUTS_H
#define LITIFUT_LDWRAP_FIRMWARE_INPUTS_H

#include "ldwrap/arguments.h"

/* Is the first ELF object among the inputs made for a CPU of firmware? Returns the name of
 * the runtime for it, static; NULL: it is not, or is not one that can be traced. */
const char *firmware_runtime(const struct arguments *arguments);

#endif
