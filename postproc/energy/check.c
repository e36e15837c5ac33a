/* `litifut-post energy check` prints what was understood of a power file, so that its user can see
 * whether the recording can be used. */
#include <math.h>

#include "postproc/energy/noise.h"
#include "postproc/energy/output.h"

void energy_check(FILE *file, const struct energy_power *power, const char *path)
{
	char text[512];

	fprintf(file, "%s\n", energy_power_describe(power, path, text, sizeof(text)));
	for (unsigned k = 0; k < power->channels; k++) {
		double sum = 0;
		for (size_t i = 0; i < power->count; i++)
			sum += power->watts[k][i];
		char mean[32], noise[32];
		fprintf(file, "channel %u%s%s: mean %s, noise %s a sample\n", k + 1,
			power->channel_names[k][0] ? ", " : "", power->channel_names[k],
			energy_quantity(sum / (double)power->count, "W", mean, 32),
			energy_quantity(energy_noise(power->watts[k], power->count), "W", noise,
					32));
	}
	for (unsigned pin = 0; pin < power->pins; pin++) {
		size_t edges = 0;
		double shortest = INFINITY, rise = NAN;
		for (size_t i = 1; i < power->change_count; i++) {
			bool now = power->changes[i].levels >> pin & 1;
			bool before = power->changes[i - 1].levels >> pin & 1;
			if (now && !before) {
				edges++;
				rise = power->changes[i].time;
			} else if (before && !now && !isnan(rise)) {
				shortest = fmin(shortest, power->changes[i].time - rise);
			}
		}
		if (edges)
			fprintf(file, "pin %s: rises %zu times, shortest pulse %s%s\n",
				power->pin_names[pin], edges,
				energy_quantity(shortest, "s", text, 32),
				shortest < 2 * power->interval
					? ": too short, two samples are needed"
					: "");
	}
}
