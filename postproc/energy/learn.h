/* Finds the states that a peripheral goes through after calls, and those at which it stays until
 * the next one: the power that no function explains, averaged over the calls, in segments of one
 * level. */
#ifndef LITIFUT_POSTPROC_ENERGY_LEARN_H
#define LITIFUT_POSTPROC_ENERGY_LEARN_H

#include "postproc/energy/analysis.h"

/* Makes the machine of the returns of all functions that the patterns fit; there is at least one
 * pattern. A machine that `analysis` was run with is what is known of it so far. */
enum litifut_status energy_learn(struct energy_analysis *analysis, const char *const *patterns,
				 size_t pattern_count, struct energy_machines *machines,
				 struct litifut_error *error);

#endif
