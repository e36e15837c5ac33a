/* The search tries shifts of the clock, regresses with each, and keeps the one that explains the
 * curve best. */
#include "postproc/energy/shift.h"

#include <math.h>

/* The shift is looked for so many samples to either side, at so many places in each. */
#define FARTHEST 2
#define TRIALS 4

/* Mean square that is left with a shift. */
static double left_with(struct energy_clock *clock, const struct energy_resolve_input *input,
			double shift, enum litifut_status *status, struct litifut_error *error)
{
	struct energy_resolved resolved;

	if (*status != LITIFUT_OK)
		return INFINITY;
	clock->shift = shift;
	*status = energy_resolve(&resolved, input, error);
	double left = energy_is_determined(&resolved) ? resolved.residual : INFINITY;
	energy_resolved_release(&resolved);
	return left;
}

enum litifut_status energy_refine_shift(struct energy_clock *clock,
					const struct energy_resolve_input *input,
					struct litifut_error *error)
{
	const double interval = input->power->interval, start = clock->shift;
	struct energy_resolve_input coarse = *input, sure;
	enum litifut_status status = LITIFUT_OK;
	double best = start, least, none, step = interval / TRIALS;

	coarse.coarse = true;
	sure = coarse;
	sure.only_sure = true;
	const double all = left_with(clock, &coarse, start, &status, error);
	none = least = left_with(clock, &sure, start, &status, error);
	if (!isfinite(none))
		return status;
	/* calls that repeat make more than one valley: none may lie between two trials */
	for (int i = -FARTHEST * TRIALS; i <= FARTHEST * TRIALS; i++) {
		const double shift = start + i * interval / TRIALS;
		double left = i ? left_with(clock, &sure, shift, &status, error) : none;
		if (left < least) {
			least = left;
			best = shift;
		}
	}
	/* a parabola through three points, closer and closer */
	for (int round = 0; round < 4 && status == LITIFUT_OK; round++) {
		step /= 2;
		double before = left_with(clock, &sure, best - step, &status, error);
		double after = left_with(clock, &sure, best + step, &status, error);
		double bend = before - 2 * least + after;
		double move = bend > 0 ? 0.5 * step * (before - after) / bend : 0;
		move = fmax(-step, fmin(step, move));
		double left = left_with(clock, &sure, best + move, &status, error);
		double to = best;
		if (left < least) {
			least = left;
			to = best + move;
		}
		if (before < least || after < least) {
			least = fmin(before, after);
			to = before < after ? best - step : best + step;
		}
		best = to;
	}
	/* The least may lie beyond. And where the peripherals' states speak against it, they were
	 * learned with the clock as it is. */
	if (fabs(best - start) > FARTHEST * interval ||
	    left_with(clock, &coarse, best, &status, error) > all)
		best = start;
	clock->shift = best;
	double samples = (double)(input->most_samples ? input->most_samples : input->power->count);
	/* a likelihood ratio of less says nothing */
	if (!((none - least) * samples > 20 * fmax(least, input->noise * input->noise)))
		clock->shift = start;
	return status;
}
