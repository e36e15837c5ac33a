/* By how much are the marks' times of the clock and those of the curve apart? */
#ifndef LITIFUT_POSTPROC_ENERGY_SHIFT_H
#define LITIFUT_POSTPROC_ENERGY_SHIFT_H

#include "postproc/energy/resolve.h"

/* The shift of the clock, within two samples, and the drift, with which the regression leaves the
 * least. Sets `clock->shift` and its `uncertainty`, and moves the knots; they stay as they are
 * where that is not determined. `input` uses this clock. */
enum litifut_status energy_refine_shift(struct energy_clock *clock,
					const struct energy_resolve_input *input,
					struct litifut_error *error);

#endif
