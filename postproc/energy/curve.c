#include "postproc/energy/curve.h"

#include <math.h>
#include <stdlib.h>

/* A sample of so many watts, from one time to another one. */
static void add(struct energy_curve *curve, double *seconds, double from, double to, float watts)
{
	from = fmax(from - curve->from, 0);
	to = fmin(to - curve->from, curve->width * (double)curve->count);
	for (size_t i = (size_t)(from / curve->width); i < curve->count; i++) {
		double begin = fmax(from, (double)i * curve->width);
		double end = fmin(to, (double)(i + 1) * curve->width);
		if (!(end > begin))
			break;
		/* the ends of a sample that only rounding has put here do not count */
		if (end - begin < 1e-6 * curve->width)
			continue;
		curve->low[i] = fminf(curve->low[i], watts);
		curve->high[i] = fmaxf(curve->high[i], watts);
		curve->mean[i] += (double)watts * (end - begin);
		seconds[i] += end - begin;
	}
}

enum litifut_status energy_curve_make(struct energy_curve *curve, const struct energy_power *power,
				      unsigned channel, const struct energy_clock *clock,
				      double from, double to, size_t most,
				      struct litifut_error *error)
{
	double samples = fmax(1, (to - from) / power->interval);
	size_t hint = 0;

	*curve = (struct energy_curve){.from = from};
	curve->count = samples < (double)most ? (size_t)ceil(samples) : most;
	curve->width = fmax((to - from) / (double)curve->count, power->interval);
	curve->low = malloc(curve->count * sizeof(*curve->low));
	curve->high = malloc(curve->count * sizeof(*curve->high));
	curve->mean = calloc(curve->count, sizeof(*curve->mean));
	double *seconds = calloc(curve->count, sizeof(*seconds));
	if (!curve->low || !curve->high || !curve->mean || !seconds) {
		free(seconds);
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "not enough memory for the curve");
	}
	for (size_t i = 0; i < curve->count; i++) {
		curve->low[i] = INFINITY;
		curve->high[i] = -INFINITY;
	}
	for (size_t r = 0; r < power->run_count; r++) {
		const struct energy_run *run = &power->runs[r];
		double begin = energy_clock_unmap(clock, run->time, &hint);
		for (size_t i = 0; i < run->count; i++) {
			double end = energy_clock_unmap(
				clock, run->time + (double)(i + 1) * power->interval, &hint);
			if (end > from && begin < to)
				add(curve, seconds, begin, end,
				    power->watts[channel][run->first + i]);
			begin = end;
		}
	}
	for (size_t i = 0; i < curve->count; i++)
		curve->mean[i] /= seconds[i] > 0 ? seconds[i] : 1;
	free(seconds);
	return LITIFUT_OK;
}

void energy_curve_release(struct energy_curve *curve)
{
	free(curve->low);
	free(curve->high);
	free(curve->mean);
	*curve = (struct energy_curve){0};
}
