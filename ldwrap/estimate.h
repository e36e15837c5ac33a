/* How much room a link will need, guessed from its inputs before it is made. */
#ifndef LITIFUT_LDWRAP_ESTIMATE_H
#define LITIFUT_LDWRAP_ESTIMATE_H

#include "ldwrap/arguments.h"
#include "rewriter/rewriter.h"

/* Adds to `plan`, which names the CPU, the call sites, DB entries and
 * trampolines that the code in the inputs is likely to have. Archive members
 * count if the link will load them. A wrong guess costs a second link or some
 * unused bytes in the file, nothing else. */
void estimate_room(const struct arguments *arguments, struct litifut_rewrite_plan *plan);

#endif
