/* A power curve by the clock of the trace, thinned out to buckets of one width: the least and the
 * most power in each, so that a peak of one sample stays visible, and the mean. */
#ifndef LITIFUT_POSTPROC_ENERGY_CURVE_H
#define LITIFUT_POSTPROC_ENERGY_CURVE_H

#include "postproc/energy/clock.h"
#include "postproc/energy/power.h"

struct energy_curve {
	size_t count;
	double from, width; /* seconds of the device's clock */
	float *low, *high;  /* W; low > high: no sample lies there */
	double *mean;       /* W, over the time in which there are samples */
};

/* The samples of a channel from the device's time `from` to `to`, in at most `most` buckets, which
 * are never shorter than a sample. To be released in every case. */
enum litifut_status energy_curve_make(struct energy_curve *curve, const struct energy_power *power,
				      unsigned channel, const struct energy_clock *clock,
				      double from, double to, size_t most,
				      struct litifut_error *error);

void energy_curve_release(struct energy_curve *curve);

#endif
