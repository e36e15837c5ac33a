#include "postproc/energy/smear.h"

#include <math.h>

/* Behind a capacitor each sample keeps a part of the one before: y[i] = kept y[i - 1] + (1 - kept)
 * x[i]. An analyser that averages sees half a sample more of delay, which the shift of the clock
 * takes in. */
static void sharpen_run(float *watts, size_t count, double kept)
{
	double before = watts[0];

	for (size_t i = 0; i < count; i++) {
		const double here = watts[i];

		watts[i] = (float)((here - kept * before) / (1 - kept));
		before = here;
	}
}

void energy_power_sharpen(struct energy_power *power, double tau)
{
	if (!(tau > 0))
		return;
	power->kept = exp(-power->interval / tau);
	for (unsigned channel = 0; channel < power->channels; channel++)
		for (size_t i = 0; i < power->run_count; i++)
			if (power->runs[i].count)
				sharpen_run(power->watts[channel] + power->runs[i].first,
					    power->runs[i].count, power->kept);
}
