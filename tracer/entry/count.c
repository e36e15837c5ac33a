/* The entry of a module that is linked with LITIFUT_MODE=counts: a call that no thunk serves is
 * counted at its entry of the instruction DB, and not recorded. All else is as in other modules. */
#define LITIFUT_COUNTS
#include "tracer/entry/enter.c"
