/* The walk over calls and samples that fills the rows of the regression. */
#ifndef LITIFUT_POSTPROC_ENERGY_REGRESSION_WALK_H
#define LITIFUT_POSTPROC_ENERGY_REGRESSION_WALK_H

#include "postproc/energy/regression.h"

/* Fills rows from all calls and samples. The caller has set the input, the columns, and where rows
 * go. */
enum litifut_status energy_regression_walk(struct energy_regression *r,
					   struct litifut_error *error);

/* Only a clock whose steps are shorter than half of a part of a hook separates the parts. */
bool energy_hooks_are_fine(const struct energy_resolve_input *input);

#endif
