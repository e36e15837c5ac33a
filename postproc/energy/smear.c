#include "postproc/energy/smear.h"

/* Behind a capacitor y + tau y' = x. Samples are means, so that tau y' is that of the values at the
 * two edges of a sample, each the mean of two neighbours. */
static void sharpen_run(float *watts, size_t count, double factor)
{
	float before = watts[0];

	for (size_t i = 0; i < count; i++) {
		const float here = watts[i];
		const float behind = i + 1 < count ? watts[i + 1] : here;

		watts[i] = (float)(here + factor * (behind - before) / 2);
		before = here;
	}
}

void energy_power_sharpen(struct energy_power *power, double tau)
{
	const double factor = power->interval > 0 ? tau / power->interval : 0;

	for (unsigned channel = 0; channel < power->channels; channel++)
		for (size_t i = 0; i < power->run_count; i++)
			if (power->runs[i].count)
				sharpen_run(power->watts[channel] + power->runs[i].first,
					    power->runs[i].count, factor);
}
