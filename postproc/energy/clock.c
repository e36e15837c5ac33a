/* Fitting a clock by marks. Pairing is by the intervals between marks, so that missing and
 * doubled edges cost only themselves. */
#include "postproc/energy/clock.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An oscillator of resistor and capacitor is off by less. */
#define WORST_DRIFT 0.05
/* Starts of a pairing that are tried, of each kind. */
#define STARTS 6
#define FARTHEST 64
#define MOST_EDGES 20000

struct pair {
	double device, analyser;
	bool out;
};

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double median_of(double *values, size_t count)
{
	if (!count)
		return 0;
	qsort(values, count, sizeof(*values), by_value);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* From a first pair and a slope, pair after pair: the next edge is looked for where the last
 * pairs say that it is. Gives how many were found. */
static size_t follow(const double *marks, size_t mark_count, const double *edges, size_t edge_count,
		     size_t mark, size_t edge, double slope, double step, struct pair *pairs)
{
	size_t count = 0, at = edge;

	pairs[count++] = (struct pair){marks[mark], edges[edge], false};
	for (size_t i = mark + 1; i < mark_count; i++) {
		const struct pair *last = &pairs[count - 1];
		/* the slope over some ten pairs; the first ones say little */
		if (count >= 3) {
			const struct pair *before = &pairs[count > 10 ? count - 11 : 0];
			double over = last->device - before->device;
			if (over > 0 && over * 1e-3 > step)
				slope = (last->analyser - before->analyser) / over;
		}
		double elapsed = marks[i] - last->device;
		double wanted = last->analyser + slope * elapsed;
		double tolerance = 2 * step + elapsed * (count < 3 ? 0.02 : 0.002);
		while (at + 1 < edge_count && edges[at + 1] < wanted - tolerance)
			at++;
		size_t best = SIZE_MAX;
		for (size_t k = at + 1; k < edge_count && edges[k] <= wanted + tolerance; k++) {
			if (best == SIZE_MAX ||
			    fabs(edges[k] - wanted) < fabs(edges[best] - wanted))
				best = k;
		}
		if (best == SIZE_MAX)
			continue;
		pairs[count++] = (struct pair){marks[i], edges[best], false};
		at = best;
	}
	return count;
}

/* Least squares over the pairs that are not out, round their means. */
static void line(const struct pair *pairs, size_t count, double *slope, double *device,
		 double *analyser)
{
	double products = 0, squares = 0, used = 0;

	*device = *analyser = 0;
	for (size_t i = 0; i < count; i++) {
		if (!pairs[i].out) {
			*device += pairs[i].device;
			*analyser += pairs[i].analyser;
			used++;
		}
	}
	*device /= used;
	*analyser /= used;
	for (size_t i = 0; i < count; i++) {
		double x = pairs[i].device - *device;
		if (!pairs[i].out) {
			products += x * (pairs[i].analyser - *analyser);
			squares += x * x;
		}
	}
	*slope = squares > 0 ? products / squares : 1;
}

static double rms_of(const struct pair *pairs, size_t count)
{
	double slope, device, analyser, sum = 0, used = 0;

	line(pairs, count, &slope, &device, &analyser);
	for (size_t i = 0; i < count; i++) {
		double rest = pairs[i].analyser - analyser - slope * (pairs[i].device - device);
		if (!pairs[i].out) {
			sum += rest * rest;
			used++;
		}
	}
	return used ? sqrt(sum / used) : 0;
}

/* The best pairing: the most pairs, and among these the straightest. */
static size_t pair_up(const double *marks, size_t mark_count, const double *edges,
		      size_t edge_count, double step, struct pair *best, struct pair *trial,
		      bool *ambiguous)
{
	size_t best_count = 0, second_count = 0;
	double best_rms = INFINITY, second_rms = INFINITY, best_offset = 0;
	/* How many may be missing in front of the first pair. */
	const size_t reach = FARTHEST + (edge_count > mark_count ? edge_count - mark_count
								 : mark_count - edge_count);

	for (size_t mark = 0; mark < mark_count && mark < STARTS; mark++) {
		size_t from = mark > reach ? mark - reach : 0;
		for (size_t edge = from; edge < edge_count && edge <= mark + reach; edge++) {
			for (size_t ahead = 1; ahead <= 3; ahead++) {
				for (size_t skip = 1; skip <= 3; skip++) {
					if (mark + ahead >= mark_count || edge + skip >= edge_count)
						continue;
					double between = marks[mark + ahead] - marks[mark];
					double slope = (edges[edge + skip] - edges[edge]) / between;
					double loose = WORST_DRIFT + 2 * step / between;
					if (!(fabs(slope - 1) <= loose))
						continue;
					if (fabs(slope - 1) < 2 * step / between)
						slope = 1;
					size_t count = follow(marks, mark_count, edges, edge_count,
							      mark, edge, slope, step, trial);
					if (count + 1 < best_count || count < 2)
						continue;
					double rms = rms_of(trial, count);
					double offset = trial[0].analyser - trial[0].device;
					bool better = count > best_count ||
						      (count == best_count && rms < best_rms);
					bool same = best_count && fabs(offset - best_offset) <
									  4 * step + 0.01 * between;
					if (better) {
						if (!same) {
							second_count = best_count;
							second_rms = best_rms;
						}
						best_count = count;
						best_rms = rms;
						best_offset = offset;
						memcpy(best, trial, count * sizeof(*trial));
					} else if (!same && count >= second_count) {
						second_count = count;
						second_rms = rms;
					}
				}
			}
		}
	}
	*ambiguous = best_count > 1 && second_count + 1 >= best_count &&
		     second_rms < 2 * best_rms + step;
	return best_count;
}

/* Edges that bounced or were taken for another one lie off the line, or, where the clock
 * wanders, off their neighbours. */
static void drop_outliers(struct pair *pairs, size_t count, double step)
{
	double *rest = malloc(count * sizeof(*rest)), *sorted = malloc(count * sizeof(*sorted));

	if (rest && sorted && count >= 4) {
		for (size_t i = 0; i < count; i++) {
			size_t a = i ? i - 1 : 1, b = i + 1 < count ? i + 1 : count - 2;
			double slope = (pairs[b].analyser - pairs[a].analyser) /
				       (pairs[b].device - pairs[a].device);
			rest[i] = pairs[i].analyser - pairs[a].analyser -
				  slope * (pairs[i].device - pairs[a].device);
			sorted[i] = fabs(rest[i]);
		}
		double usual = median_of(sorted, count);
		double limit = fmax(3 * step, 8 * usual);
		for (size_t i = 0; i < count; i++) {
			/* A wrong one makes its neighbours look wrong as well: only the worst of
			 * three goes. */
			bool worst = (!i || fabs(rest[i]) >= fabs(rest[i - 1])) &&
				     (i + 1 == count || fabs(rest[i]) >= fabs(rest[i + 1]));
			pairs[i].out = worst && fabs(rest[i]) > limit;
		}
		/* One at an end has a neighbour on one side only, but the line fits both. */
		for (int round = 0; round < 2; round++) {
			double slope, device, analyser;
			line(pairs, count, &slope, &device, &analyser);
			for (size_t i = 0; i < count; i++) {
				rest[i] = pairs[i].analyser - analyser -
					  slope * (pairs[i].device - device);
				sorted[i] = fabs(rest[i]);
			}
			limit = fmax(3 * step, 10 * median_of(sorted, count));
			for (size_t i = 0; i < count; i++)
				pairs[i].out |= fabs(rest[i]) > limit;
		}
	}
	free(rest);
	free(sorted);
}

/* ---- a clock that wanders: phase and frequency by a Kalman smoother ---- */

struct state {
	double time, phase, frequency;
	double p00, p01, p11;
};

/* Predicts over `length`; the frequency is a random walk of density `wander`^2. */
static struct state predict(const struct state *state, double length, double wander)
{
	double q = wander * wander;
	struct state next = *state;

	next.phase += state->frequency * length;
	next.p00 = state->p00 + 2 * length * state->p01 + length * length * state->p11 +
		   q * length * length * length / 3;
	next.p01 = state->p01 + length * state->p11 + q * length * length / 2;
	next.p11 = state->p11 + q * length;
	return next;
}

/* Forward pass; gives the logarithm of the likelihood. */
static double filter(const struct pair *pairs, size_t count, double slope, double noise,
		     double wander, struct state *states)
{
	struct state state = {.p00 = 1, .p11 = 1e-2};
	double likelihood = 0;

	state.phase = pairs[0].analyser - slope * pairs[0].device;
	for (size_t i = 0; i < count; i++) {
		if (i)
			state = predict(&state, pairs[i].device - pairs[i - 1].device, wander);
		double rest = pairs[i].analyser - slope * pairs[i].device - state.phase;
		double variance = state.p00 + noise * noise;
		double gain0 = state.p00 / variance, gain1 = state.p01 / variance;
		if (i > 1)
			likelihood -= 0.5 * (rest * rest / variance + log(variance));
		state.phase += gain0 * rest;
		state.frequency += gain1 * rest;
		state.p11 -= gain1 * state.p01;
		state.p01 -= gain0 * state.p01;
		state.p00 -= gain0 * state.p00;
		states[i] = state;
	}
	return likelihood;
}

/* Backward pass (Rauch, Tung, Striebel). */
static void smooth(const struct pair *pairs, size_t count, double wander, struct state *states)
{
	for (size_t i = count - 1; i-- > 0;) {
		double length = pairs[i + 1].device - pairs[i].device;
		struct state *here = &states[i];
		const struct state *next = &states[i + 1];
		struct state ahead = predict(here, length, wander);
		double determinant = ahead.p00 * ahead.p11 - ahead.p01 * ahead.p01;
		if (!(determinant > 0))
			continue;
		/* gain = P F' ahead^-1 */
		double a = here->p00 + length * here->p01, b = here->p01;
		double c = here->p01 + length * here->p11, d = here->p11;
		double g00 = (a * ahead.p11 - b * ahead.p01) / determinant;
		double g01 = (b * ahead.p00 - a * ahead.p01) / determinant;
		double g10 = (c * ahead.p11 - d * ahead.p01) / determinant;
		double g11 = (d * ahead.p00 - c * ahead.p01) / determinant;
		double phase = next->phase - ahead.phase;
		double frequency = next->frequency - ahead.frequency;
		double e00 = next->p00 - ahead.p00, e01 = next->p01 - ahead.p01,
		       e11 = next->p11 - ahead.p11;
		here->phase += g00 * phase + g01 * frequency;
		here->frequency += g10 * phase + g11 * frequency;
		here->p00 += g00 * (g00 * e00 + g01 * e01) + g01 * (g00 * e01 + g01 * e11);
		here->p01 += g00 * (g10 * e00 + g11 * e01) + g01 * (g10 * e01 + g11 * e11);
		here->p11 += g10 * (g10 * e00 + g11 * e01) + g11 * (g10 * e01 + g11 * e11);
	}
}

/* Is it better than the line by more than chance? Then fills the knots. */
static bool fit_smooth(struct energy_clock *clock, const struct pair *pairs, size_t count,
		       double slope, double noise)
{
	struct state *states = malloc(count * sizeof(*states));
	double best = -INFINITY, wander = 0, still;

	if (!states)
		return false;
	still = filter(pairs, count, slope, noise, 1e-12, states);
	for (double trial = 1e-9; trial < 2e-3; trial *= 1.7783) {
		double likelihood = filter(pairs, count, slope, noise, trial, states);
		if (likelihood > best) {
			best = likelihood;
			wander = trial;
		}
	}
	if (best < still + 6) {
		free(states);
		return false;
	}
	filter(pairs, count, slope, noise, wander, states);
	smooth(pairs, count, wander, states);
	double variance = 0, rest = 0;
	for (size_t i = 0; i < count; i++) {
		clock->knots[i].device = pairs[i].device;
		clock->knots[i].analyser = slope * pairs[i].device + states[i].phase;
		double off = pairs[i].analyser - clock->knots[i].analyser;
		variance += fmax(0, states[i].p00) / (double)count;
		rest += off * off / (double)count;
	}
	clock->knot_count = count;
	clock->smoothed = true;
	clock->uncertainty = sqrt(variance);
	clock->rms = sqrt(rest);
	free(states);
	return true;
}

static enum litifut_status no_memory(struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
				 "not enough memory for the marks");
}

static enum litifut_status fit_pairs(struct energy_clock *clock, struct pair *pairs, size_t count,
				     double step, struct litifut_error *error)
{
	double slope, device, analyser;
	size_t kept = 0;

	drop_outliers(pairs, count, step);
	for (size_t i = 0; i < count; i++) {
		if (!pairs[i].out)
			pairs[kept++] = pairs[i];
	}
	clock->used = kept;
	clock->outliers = count - kept;
	line(pairs, kept, &slope, &device, &analyser);
	clock->drift = slope - 1;
	clock->rms = rms_of(pairs, kept);
	clock->knots = malloc((kept > 2 ? kept : 2) * sizeof(*clock->knots));
	if (!clock->knots)
		return no_memory(error);
	/* An edge lies anywhere in its step. */
	double noise = step / sqrt(12);
	if (kept >= 8 && clock->rms > 1.3 * noise && fit_smooth(clock, pairs, kept, slope, noise))
		return LITIFUT_OK;
	clock->knots[0] = (struct energy_knot){device - 1, analyser - slope};
	clock->knots[1] = (struct energy_knot){device + 1, analyser + slope};
	clock->knot_count = 2;
	/* at the ends of the line it is twice that of the middle */
	clock->uncertainty = fmax(noise, clock->rms) * 1.5 / sqrt((double)kept);
	return LITIFUT_OK;
}

enum litifut_status energy_clock_fit(struct energy_clock *clock, const double *marks,
				     size_t mark_count, const double *edges, size_t edge_count,
				     double step, struct litifut_error *error)
{
	*clock = (struct energy_clock){.marks = mark_count, .edges = edge_count};
	if (mark_count < 2 || edge_count < 2)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, NULL, NULL,
					 LITIFUT_NO_ADDRESS,
					 "the trace has %zu marks of the pin, the power file has "
					 "%zu rising edges: two of "
					 "each are needed",
					 mark_count, edge_count);
	if (edge_count > MOST_EDGES)
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, NULL, NULL,
					 LITIFUT_NO_ADDRESS,
					 "the pin rises %zu times, which is not a pin for marks; "
					 "another one? (--sync)",
					 edge_count);
	struct pair *pairs = malloc(mark_count * sizeof(*pairs));
	struct pair *trial = malloc(mark_count * sizeof(*trial));
	enum litifut_status status;

	if (!pairs || !trial) {
		status = no_memory(error);
	} else {
		size_t count = pair_up(marks, mark_count, edges, edge_count, step, pairs, trial,
				       &clock->ambiguous);
		if (count < 2)
			status = litifut_error_set(error, LITIFUT_ERROR_FORMAT, NULL, NULL,
						   LITIFUT_NO_ADDRESS,
						   "the %zu marks of the trace do not fit to the "
						   "%zu rising edges in the "
						   "power file: not the same run, another pin, or "
						   "pulses shorter than two "
						   "samples",
						   mark_count, edge_count);
		else
			status = fit_pairs(clock, pairs, count, step, error);
	}
	free(pairs);
	free(trial);
	return status;
}

enum litifut_status energy_clock_line(struct energy_clock *clock, const struct energy_knot *pairs,
				      size_t count, struct litifut_error *error)
{
	*clock =
		(struct energy_clock){.marks = count, .edges = count, .used = count, .given = true};
	clock->knots = malloc((count > 2 ? count : 2) * sizeof(*clock->knots));
	if (!clock->knots)
		return no_memory(error);
	clock->knot_count = 2;
	clock->knots[0] = pairs[0];
	clock->knots[1] =
		count > 1 ? pairs[1]
			  : (struct energy_knot){pairs[0].device + 1, pairs[0].analyser + 1};
	for (size_t i = 2; i < count; i++)
		clock->knots[clock->knot_count++] = pairs[i];
	for (size_t i = 1; i < clock->knot_count; i++) {
		if (!(clock->knots[i].device > clock->knots[i - 1].device) ||
		    !(clock->knots[i].analyser > clock->knots[i - 1].analyser))
			return litifut_error_set(error, LITIFUT_ERROR_FORMAT, NULL, NULL,
						 LITIFUT_NO_ADDRESS,
						 "pairs of times (--at) must increase");
	}
	clock->drift = (clock->knots[1].analyser - clock->knots[0].analyser) /
			       (clock->knots[1].device - clock->knots[0].device) -
		       1;
	return LITIFUT_OK;
}

void energy_clock_release(struct energy_clock *clock)
{
	free(clock->knots);
	*clock = (struct energy_clock){0};
}

double energy_clock_map(const struct energy_clock *clock, double device, size_t *hint)
{
	const struct energy_knot *knots = clock->knots;

	while (*hint + 2 < clock->knot_count && device >= knots[*hint + 1].device)
		(*hint)++;
	const struct energy_knot *a = &knots[*hint], *b = a + 1;
	return a->analyser + clock->shift +
	       (device - a->device) * ((b->analyser - a->analyser) / (b->device - a->device));
}

double energy_clock_unmap(const struct energy_clock *clock, double analyser, size_t *hint)
{
	const struct energy_knot *knots = clock->knots;

	analyser -= clock->shift;
	while (*hint + 2 < clock->knot_count && analyser >= knots[*hint + 1].analyser)
		(*hint)++;
	const struct energy_knot *a = &knots[*hint], *b = a + 1;
	return a->device +
	       (analyser - a->analyser) * ((b->device - a->device) / (b->analyser - a->analyser));
}

const char *energy_clock_describe(const struct energy_clock *clock, char *text, size_t size)
{
	if (clock->given) {
		snprintf(text, size, "by %zu given %s (--at), drift %.1f ppm, shift %+.2f us",
			 clock->used, clock->used == 1 ? "pair of times" : "pairs of times",
			 clock->drift * 1e6, clock->shift * 1e6);
		return text;
	}
	int length = snprintf(text, size,
			      "%zu of %zu marks used, %zu outliers, drift %.1f ppm%s, residual "
			      "%.3g us rms, shift %+.2f us",
			      clock->used, clock->marks, clock->outliers, clock->drift * 1e6,
			      clock->smoothed ? ", wanders (smoothed)" : "", clock->rms * 1e6,
			      clock->shift * 1e6);

	if (clock->ambiguous && length > 0 && (size_t)length < size)
		snprintf(text + length, size - (size_t)length,
			 "; another pairing of marks and edges fits about as well");
	return text;
}
