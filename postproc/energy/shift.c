/* The search tries shifts of the clock, regresses with each, and keeps the one that explains the
 * curve best. From there on shift and drift are unknowns of the regression. */
#include "postproc/energy/shift.h"

#include <math.h>

/* The shift is looked for so many samples to either side, at so many places in each. */
#define FARTHEST 2
#define TRIALS 4
/* Places to either side of the best one that are looked at more closely. */
#define NEAR 2
/* Samples that are enough to choose one of these places. */
#define SOME_SAMPLES 30000
/* Regressions from there on; each comes ten times as near. */
#define STEPS 4

/* Mean square that is left with a shift. */
static double left_with(struct energy_clock *clock, const struct energy_resolve_input *input,
			double shift, enum litifut_status *status, struct litifut_error *error)
{
	struct energy_resolved resolved;

	if (*status != LITIFUT_OK)
		return INFINITY;
	clock->shift = shift;
	*status = energy_resolve(&resolved, input, error);
	double left = energy_is_determined(&resolved) ? resolved.held : INFINITY;
	energy_resolved_release(&resolved);
	return left;
}

/* The best of so many places to either side, and what is left there. Calls that repeat make more
 * than one valley: none may lie between two places. */
static double best_place(struct energy_clock *clock, const struct energy_resolve_input *input,
			 int places, double *least, enum litifut_status *status,
			 struct litifut_error *error)
{
	const double start = clock->shift;
	double best = start;

	for (int i = -places; i <= places; i++) {
		const double shift = start + i * input->power->interval / TRIALS;
		const double left = left_with(clock, input, shift, status, error);
		if (left < *least) {
			*least = left;
			best = shift;
		}
	}
	clock->shift = start;
	return best;
}

/* By `shift` seconds, and `drift` seconds more or less at the ends of what is looked at. */
static void move(struct energy_clock *clock, const struct energy_result *result, double shift,
		 double drift)
{
	const double middle = (result->begin + result->end) / 2;
	const double half = (result->end - result->begin) / 2;

	clock->shift += shift;
	clock->drift += drift / half;
	for (size_t i = 0; i < clock->knot_count; i++)
		clock->knots[i].analyser += drift * (clock->knots[i].analyser - middle) / half;
}

/* Steps towards the clock with which the least is left, with a shift near to `origin`. Without
 * success the clock is as it was. */
static enum litifut_status approach(struct energy_clock *clock,
				    const struct energy_resolve_input *given, double origin,
				    struct litifut_error *error)
{
	const double interval = given->power->interval, start = clock->shift;
	struct energy_resolve_input input = *given;
	struct energy_resolved before, now;
	double drifted = 0;
	enum litifut_status status = energy_resolve(&before, &input, error);

	for (int i = 0; i < STEPS && status == LITIFUT_OK && energy_is_determined(&before); i++) {
		input.before = &before;
		status = energy_resolve(&now, &input, error);
		if (status == LITIFUT_OK && energy_is_determined(&now)) {
			const double shift = now.columns[now.shift].watts * interval;
			const double drift = now.columns[now.shift + 1].watts * interval;
			move(clock, input.result, shift, drift);
			drifted += drift;
		}
		energy_resolved_release(&before);
		before = now;
	}
	energy_resolved_release(&before);
	/* the least may lie beyond */
	if (!(fabs(clock->shift - start) < interval && fabs(drifted) < interval &&
	      fabs(clock->shift - origin) < (FARTHEST + 0.5) * interval))
		move(clock, input.result, start - clock->shift, -drifted);
	return status;
}

enum litifut_status energy_refine_shift(struct energy_clock *clock,
					const struct energy_resolve_input *input,
					struct litifut_error *error)
{
	const double start = clock->shift;
	const size_t most = input->most_samples;
	struct energy_resolve_input sure = *input;
	enum litifut_status status = LITIFUT_OK;

	sure.only_sure = true;
	sure.most_samples = most && most < SOME_SAMPLES ? most : SOME_SAMPLES;
	const double none = left_with(clock, &sure, start, &status, error);
	double least = none;
	if (!isfinite(none))
		return status;
	const double best = best_place(clock, &sure, FARTHEST * TRIALS, &least, &status, error);
	const double samples =
		(double)(input->power->count < sure.most_samples ? input->power->count
								 : sure.most_samples);
	/* a likelihood ratio of less says nothing */
	clock->shift = (none - least) * samples > 20 * least ? best : start;
	/* With few columns a valley beside the right one can be a little lower. */
	sure.for_clock = true;
	least = INFINITY;
	if (status == LITIFUT_OK)
		clock->shift = best_place(clock, &sure, NEAR, &least, &status, error);
	sure.most_samples = most;
	if (status == LITIFUT_OK)
		status = approach(clock, &sure, start, error);
	return status;
}
