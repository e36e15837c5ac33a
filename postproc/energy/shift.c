/* The search tries shifts of the clock, regresses with each, and keeps the one that explains the
 * curve best. The drift is an unknown of the regression. The shift can not be one: what is known of
 * the levels within a hook or a short function comes from the same samples, and moves with it. */
#include "postproc/energy/shift.h"

#include <math.h>

#include "postproc/energy/settled.h"

/* The shift is looked for so many samples to either side, at so many places in each. */
#define FARTHEST 2
#define TRIALS 4
/* Samples that are enough to choose one of these places. */
#define SOME_SAMPLES 30000
/* From there on, places to either side and in a sample, and how often their distance is halved. */
#define NEAR 2
#define NEAR_TRIALS 8
#define HALVINGS 2
/* Regressions for the drift; each comes several times as near. */
#define STEPS 2

struct search {
	struct energy_clock *clock;
	struct energy_resolve_input input;
	double drifted; /* at the ends of the time, seconds */
	enum litifut_status status;
	struct litifut_error *error;
};

/* Mean square that is left with a shift. */
static double left_with(struct search *search, double shift)
{
	struct energy_resolved resolved;

	if (search->status != LITIFUT_OK)
		return INFINITY;
	search->clock->shift = shift;
	search->status = energy_resolve(&resolved, &search->input, search->error);
	double left = energy_is_determined(&resolved) ? resolved.held : INFINITY;
	energy_resolved_release(&resolved);
	return left;
}

/* The best of so many places to either side, and what is left there. */
static void best_place(struct search *search, int places, double distance, double *least)
{
	const double start = search->clock->shift;
	double best = start;

	for (int i = -places; i <= places; i++) {
		const double shift = start + i * distance;
		const double left = i || !isfinite(*least) ? left_with(search, shift) : *least;
		if (left < *least) {
			*least = left;
			best = shift;
		}
	}
	search->clock->shift = best;
}

/* By `drift` seconds more or less at the ends of what is looked at. */
static void turn(struct energy_clock *clock, const struct energy_result *result, double drift)
{
	const double middle = (result->begin + result->end) / 2;
	const double half = (result->end - result->begin) / 2;

	clock->drift += drift / half;
	for (size_t i = 0; i < clock->knot_count; i++)
		clock->knots[i].analyser += drift * (clock->knots[i].analyser - middle) / half;
}

/* Steps towards the drift with which the least is left. */
static void straighten(struct search *search)
{
	const double interval = search->input.power->interval;
	struct energy_resolve_input input = search->input;
	struct energy_resolved before, now;

	if (search->status != LITIFUT_OK)
		return;
	search->status = energy_resolve(&before, &input, search->error);
	for (int i = 0; i < STEPS && search->status == LITIFUT_OK && energy_is_determined(&before);
	     i++) {
		input.before = &before;
		search->status = energy_resolve(&now, &input, search->error);
		if (search->status == LITIFUT_OK && energy_is_determined(&now)) {
			const double drift = now.columns[now.shift + 1].watts * interval;
			turn(search->clock, input.result, drift);
			search->drifted += drift;
		}
		energy_resolved_release(&before);
		before = now;
	}
	energy_resolved_release(&before);
}

/* Between three places, by what is left at them, and how far from there the shift may be.
 *
 * What is left at the right shift is not noise alone. The levels of a program are not quite those
 * of the columns, in the same way with each call, so that more samples do not make the shift more
 * certain. What decides about it are the parts of hooks, as they are the same in all functions: as
 * many numbers as there are parts, each with its share of what is left but not noise. */
static void settle(struct search *search, double distance, double middle)
{
	struct energy_clock *clock = search->clock;
	const double best = clock->shift;
	const double before = left_with(search, best - distance);
	const double behind = left_with(search, best + distance);
	const double bend = before - 2 * middle + behind;
	double noise;

	clock->shift = best;
	if (search->status == LITIFUT_OK)
		search->status = energy_settled_noise(&search->input, &noise, search->error);
	if (search->status != LITIFUT_OK || !(bend > 0) || !isfinite(bend))
		return;
	const double moved = distance * (before - behind) / bend / 2;
	const double least = fmax(0, middle - (before - behind) * (before - behind) / bend / 8);
	const double samples = (double)search->input.power->count;
	const double misfit = fmax(0, least - noise * noise) / (2 * ENERGY_CLOCK_PARTS);
	clock->shift = best + fmax(-distance, fmin(distance, moved));
	clock->uncertainty = distance * sqrt(2 * (misfit + least / samples) / bend);
}

enum litifut_status energy_refine_shift(struct energy_clock *clock,
					const struct energy_resolve_input *given,
					struct litifut_error *error)
{
	const double start = clock->shift, interval = given->power->interval;
	const size_t most = given->most_samples;
	struct search search = {.clock = clock, .input = *given, .error = error};

	search.input.only_sure = true;
	search.input.most_samples = most && most < SOME_SAMPLES ? most : SOME_SAMPLES;
	const double none = left_with(&search, start);
	double least = none;
	if (!isfinite(none))
		return search.status;
	best_place(&search, FARTHEST * TRIALS, interval / TRIALS, &least);
	const double samples = (double)(given->power->count < search.input.most_samples
						? given->power->count
						: search.input.most_samples);
	/* a likelihood ratio of less says nothing */
	if (!((none - least) * samples > 20 * least))
		clock->shift = start;
	/* With few columns a valley beside the right one can be lower. */
	search.input.for_clock = true;
	search.input.most_samples = most;
	straighten(&search);
	least = INFINITY;
	double distance = interval / NEAR_TRIALS;
	best_place(&search, NEAR, distance, &least);
	for (int i = 0; i < HALVINGS; i++)
		best_place(&search, 1, distance /= 2, &least);
	settle(&search, distance, least);
	straighten(&search);
	/* The least may lie beyond: then the clock is as it was. */
	if (!(fabs(search.drifted) < interval &&
	      fabs(clock->shift - start) < (FARTHEST + 0.5) * interval)) {
		turn(clock, given->result, -search.drifted);
		clock->shift = start;
	}
	return search.status;
}
