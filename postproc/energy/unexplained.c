#include "postproc/energy/unexplained.h"

#include <math.h>
#include <stdlib.h>

#include "common/memory.h"

/* Samples of the first of two levels of the search. */
#define BIN 16

/* The curve without what peripherals drew. */
static float *without_peripherals(const struct energy_analysis *analysis)
{
	const struct energy_power *power = &analysis->power;
	float *level = litifut_memory_array(power->count + 1, sizeof(*level));

	if (!level)
		return NULL;
	for (size_t i = 0; i < power->count; i++) {
		level[i] = 0;
		for (unsigned k = 0; k < power->channels; k++)
			level[i] += power->watts[k][i];
	}
	size_t first = 0; /* run that reaches the occupation; both are by time */
	for (size_t k = 0; k < analysis->occupations.count; k++) {
		const struct energy_occupation *item = &analysis->occupations.items[k];
		while (first < power->run_count &&
		       power->runs[first].time +
				       (double)power->runs[first].count * power->interval <=
			       item->from)
			first++;
		for (size_t run = first; run < power->run_count && power->runs[run].time < item->to;
		     run++) {
			const struct energy_run *r = &power->runs[run];
			double from = (item->from - r->time) / power->interval;
			double to = (item->to - r->time) / power->interval;
			if (to <= 0 || from >= (double)r->count)
				continue;
			from = fmax(0, from);
			to = fmin((double)r->count, to);
			for (size_t at = (size_t)from; at < r->count && (double)at < to; at++)
				level[r->first + at] -=
					(float)(item->watts * (fmin(to, (double)at + 1) -
							       fmax(from, (double)at)));
		}
	}
	return level;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* When peripherals changed their state, by time; NULL: no memory. */
static double *borders_of(const struct energy_occupations *occupations)
{
	double *borders = malloc((2 * occupations->count + 1) * sizeof(*borders));

	for (size_t i = 0; i < occupations->count && borders; i++) {
		borders[2 * i] = occupations->items[i].from;
		borders[2 * i + 1] = occupations->items[i].to;
	}
	if (borders && occupations->count)
		qsort(borders, 2 * occupations->count, sizeof(*borders), by_value);
	return borders;
}

enum litifut_status energy_find_changes(struct energy_analysis *analysis,
					const struct energy_settings *settings,
					struct litifut_error *error)
{
	const struct energy_power *power = &analysis->power;
	struct energy_changes changes = {0};
	float *level = without_peripherals(analysis);
	enum litifut_status status = LITIFUT_OK;
	double *borders = borders_of(&analysis->occupations);
	bool good = level && borders;

	analysis->advice = calloc(analysis->result.function_count + 1, sizeof(*analysis->advice));
	good = good && analysis->advice;
	double penalty = energy_changes_penalty(analysis->noise, power->count) *
			 (settings->penalty > 0 ? settings->penalty : 1);
	if (good && settings->pelt) {
		double *values = litifut_memory_array(power->count + 1, sizeof(*values));
		good = values != NULL;
		for (size_t i = 0; good && i < power->count; i++)
			values[i] = level[i];
		good = good && energy_changes_pelt(values, NULL, power->count, penalty, &changes);
		free(values);
	} else if (good) {
		good = energy_changes_two_levels(level, power->count, BIN, penalty, &changes);
	}
	if (good) {
		float least = INFINITY, most = -INFINITY;
		for (size_t i = 0; i < power->count; i++) {
			least = fminf(least, level[i]);
			most = fmaxf(most, level[i]);
		}
		double step = settings->min_step > 0 ? settings->min_step : 0.01 * (most - least);
		energy_changes_merge(level, power->count, step, &changes);
		analysis->changes = changes.count;
		struct energy_advise_input input = {.power = power,
						    .level = level,
						    .changes = &changes,
						    .borders = borders,
						    .border_count = 2 * analysis->occupations.count,
						    .events = &analysis->events,
						    .clock = &analysis->clock,
						    .hook = &analysis->hook,
						    .result = &analysis->result,
						    .machines = &analysis->machines,
						    .names = analysis->names,
						    .threshold = settings->threshold,
						    .budget = settings->budget};
		status = energy_advise(&input, analysis->advice, &analysis->explained, error);
	} else {
		status = litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					   "not enough memory for the changes");
	}
	energy_changes_release(&changes);
	free(borders);
	free(level);
	return status;
}
