/* The noise of single samples where one function runs for long: what no model of functions can
 * explain. */
#ifndef LITIFUT_POSTPROC_ENERGY_SETTLED_H
#define LITIFUT_POSTPROC_ENERGY_SETTLED_H

#include "postproc/energy/resolve.h"

/* `noise`: W; 0 where there are too few such samples. */
enum litifut_status energy_settled_noise(const struct energy_resolve_input *input, double *noise,
					 struct litifut_error *error);

#endif
