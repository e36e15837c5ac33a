#include "postproc/energy/level.h"

#include <math.h>

/* Takes out what peripherals draw in samples from `from` on, which `values` holds. */
static void subtract(struct energy_level_maker *maker, const struct energy_run *run, size_t from,
		     size_t count)
{
	const double interval = maker->power->interval;
	const double end = (double)(from + count);
	double at = (double)from; /* in samples of the run */

	while (at < end) {
		const double until =
			(energy_active_until(&maker->active, run->time + at * interval) -
			 run->time) /
			interval;
		/* as closely as numbers of this size allow */
		const double to = fmin(end, fmax(until, at + 1e-6));
		for (unsigned k = 0; k < maker->active.count; k++) {
			const struct energy_occupation *item =
				&maker->active.all->items[maker->active.items[k]];
			for (size_t i = (size_t)at; (double)i < to; i++)
				maker->values[i - from] -=
					(float)(item->watts *
						(fmin(to, (double)i + 1) - fmax(at, (double)i)));
		}
		at = to;
	}
}

static void make(struct energy_level_maker *maker, size_t from)
{
	const struct energy_power *power = maker->power;

	if (from < maker->first) { /* from the begin again */
		maker->run = 0;
		maker->active = (struct energy_active){.all = maker->active.all};
	}
	while (power->runs[maker->run].first + power->runs[maker->run].count <= from)
		maker->run++;
	const struct energy_run *run = &power->runs[maker->run];
	const size_t left = run->first + run->count - from;
	maker->first = from;
	maker->count = left < ENERGY_LEVEL_SAMPLES ? left : ENERGY_LEVEL_SAMPLES;
	for (size_t i = 0; i < maker->count; i++) {
		maker->values[i] = 0;
		for (unsigned k = 0; k < power->channels; k++)
			maker->values[i] += power->watts[k][from + i];
	}
	if (maker->active.all)
		subtract(maker, run, from - run->first, maker->count);
}

static const float *samples_from(void *context, size_t from, size_t *count)
{
	struct energy_level_maker *maker = context;

	if (from < maker->first || from >= maker->first + maker->count)
		make(maker, from);
	*count = maker->first + maker->count - from;
	return maker->values + (from - maker->first);
}

struct energy_samples energy_level_samples(struct energy_level_maker *maker,
					   const struct energy_power *power,
					   const struct energy_occupations *occupations)
{
	maker->power = power;
	maker->active = (struct energy_active){.all = occupations->count ? occupations : NULL};
	maker->run = maker->first = maker->count = 0;
	if (power->channels == 1 && !occupations->count)
		return energy_samples_of(power->watts[0], power->count);
	return (struct energy_samples){
		.count = power->count, .make = samples_from, .context = maker};
}
