/* Finds the states that a peripheral goes through after a call: the power that no function
 * explains, averaged over all of these calls, in segments of one level. */
#ifndef LITIFUT_POSTPROC_ENERGY_LEARN_H
#define LITIFUT_POSTPROC_ENERGY_LEARN_H

#include "postproc/energy/analysis.h"

/* `analysis` has been run without machines. Makes the machine of `function`'s returns. */
enum litifut_status energy_learn(struct energy_analysis *analysis, const char *function,
				 struct energy_machines *machines, struct litifut_error *error);

#endif
