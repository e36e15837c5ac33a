/* Where the power changes, after what peripherals drew was taken out, and what that says of the
 * functions. */
#ifndef LITIFUT_POSTPROC_ENERGY_UNEXPLAINED_H
#define LITIFUT_POSTPROC_ENERGY_UNEXPLAINED_H

#include "postproc/energy/analysis.h"

/* Fills `advice`, `changes` and `explained` of an analysis that has all the rest. */
enum litifut_status energy_find_changes(struct energy_analysis *analysis,
					const struct energy_settings *settings,
					struct litifut_error *error);

#endif
