/* Samples of which not all need to be in memory at once: they are made piece by piece, in their
 * order, as often as they are asked for. */
#ifndef LITIFUT_POSTPROC_ENERGY_SAMPLES_H
#define LITIFUT_POSTPROC_ENERGY_SAMPLES_H

#include <stddef.h>

struct energy_samples {
	size_t count;
	const float *values; /* all of them; NULL: `make` makes them */
	/* Some samples from `from` on, one at least, and how many. They are there until the next
	 * call. */
	const float *(*make)(void *context, size_t from, size_t *count);
	void *context;
};

static inline struct energy_samples energy_samples_of(const float *values, size_t count)
{
	return (struct energy_samples){.count = count, .values = values};
}

/* Samples that follow each other from `from` on, and before `to`; `count`: how many there are. */
static inline const float *energy_samples_from(const struct energy_samples *samples, size_t from,
					       size_t to, size_t *count)
{
	const float *values;

	*count = samples->count - from;
	if (samples->values)
		values = samples->values + from;
	else
		values = samples->make(samples->context, from, count);
	if (*count > to - from)
		*count = to - from;
	return values;
}

/* Of samples [from, to) together. */
static inline double energy_samples_sum(const struct energy_samples *samples, size_t from,
					size_t to)
{
	double sum = 0;

	while (from < to) {
		size_t count;
		const float *values = energy_samples_from(samples, from, to, &count);
		for (size_t i = 0; i < count; i++)
			sum += values[i];
		from += count;
	}
	return sum;
}

#endif
