/* Energy between two times, for times that do not decrease. Inside a sample the power is
 * taken as constant; where samples are missing the energy is not known, which is not zero. */
#ifndef LITIFUT_POSTPROC_ENERGY_INTEGRAL_H
#define LITIFUT_POSTPROC_ENERGY_INTEGRAL_H

#include "postproc/energy/power.h"

struct energy_integral {
	const struct energy_power *power;
	double time;  /* up to which it has been integrated */
	size_t run;   /* in which `time` lies, or which follows it */
	size_t index; /* of the sample of that run in which it lies */
};

/* From the start of the recording on. */
void energy_integral_start(struct energy_integral *integral, const struct energy_power *power);

/* Adds the energy up to `until` to `joules` (one for each channel). Returns for how many
 * seconds of that time there is no sample. */
double energy_integral_to(struct energy_integral *integral, double until, double *joules);

#endif
