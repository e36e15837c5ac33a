/* The levels that fit the rows of the regression best. */
#ifndef LITIFUT_POSTPROC_ENERGY_REGRESSION_SOLVE_H
#define LITIFUT_POSTPROC_ENERGY_REGRESSION_SOLVE_H

#include "postproc/energy/resolved.h"

/* Finds the levels of `resolved`, and their errors, from its rows. False: there is not enough
 * memory. */
bool energy_regression_solve(struct energy_resolved *resolved,
			     const struct energy_resolve_input *input);

#endif
