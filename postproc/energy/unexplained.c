#include "postproc/energy/unexplained.h"

#include <math.h>
#include <stdlib.h>

#include "common/memory.h"
#include "postproc/energy/level.h"

/* Samples of the first of two levels of the search. */
#define BIN 16

/* What --min-step is by default: a part of the range. */
static double usual_step(const struct energy_samples *level)
{
	float least = INFINITY, most = -INFINITY;

	for (size_t at = 0, count; at < level->count; at += count) {
		const float *values = energy_samples_from(level, at, level->count, &count);
		for (size_t i = 0; i < count; i++) {
			least = values[i] < least ? values[i] : least;
			most = values[i] > most ? values[i] : most;
		}
	}
	return 0.01 * (double)(most - least);
}

/* Sample by sample, by the method of the paper. */
static bool pelt(const struct energy_samples *level, double penalty, struct energy_changes *changes)
{
	double *values = litifut_memory_array(level->count + 1, sizeof(*values));

	for (size_t at = 0, count; values && at < level->count; at += count) {
		const float *some = energy_samples_from(level, at, level->count, &count);
		for (size_t i = 0; i < count; i++)
			values[at + i] = some[i];
	}
	bool good = values && energy_changes_pelt(values, NULL, level->count, penalty, changes);
	free(values);
	return good;
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
	struct energy_level_maker maker;
	const struct energy_samples level =
		energy_level_samples(&maker, power, &analysis->occupations);
	enum litifut_status status = LITIFUT_OK;
	double *borders = borders_of(&analysis->occupations);

	analysis->advice = calloc(analysis->result.function_count + 1, sizeof(*analysis->advice));
	bool good = borders && analysis->advice;
	double penalty = energy_changes_penalty(analysis->noise, power->count) *
			 (settings->penalty > 0 ? settings->penalty : 1);
	if (good && settings->pelt)
		good = pelt(&level, penalty, &changes);
	else if (good)
		good = energy_changes_two_levels(&level, BIN, penalty, &changes);
	if (good) {
		double step = settings->min_step > 0 ? settings->min_step : usual_step(&level);
		energy_changes_merge(&level, step, &changes);
		analysis->changes = changes.count;
		struct energy_advise_input input = {.power = power,
						    .level = &level,
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
	return status;
}
