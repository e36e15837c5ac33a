/* The marks' intervals are alike but for one interrupt now and then (tracer/sink/spans/pin.c). So
 * the steps of the curve at all of them, added up, are many at one place only. Steps are limited
 * before they are added: one of a radio is larger than the load, but it is not there at each mark.
 */
#include "postproc/energy/load.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define MOST_MARKS 32    /* that are looked at to find the place */
#define LEAST_MARKS 8    /* fewer fit somewhere by chance */
#define WORST_DRIFT 3e-3 /* of a crystal or a resonator */
#define MOST_PLACES 1e7  /* of a search */
#define LEAST_RATIO 1.3  /* of the best place to the next one */
#define STEP_SAMPLES 4   /* on either side of an edge, at least */
#define MOST_PULSE 20e-3 /* seconds */

/* Lengths of a pulse that are tried; a longer one is found by each. */
static const double windows[] = {1e-3, 250e-6, 4e-3};

struct curve {
	const struct energy_power *power;
	double *sums; /* of all channels, up to each sample, W */
	double start, end;
};

static bool start_curve(struct curve *curve, const struct energy_power *power)
{
	curve->power = power;
	curve->start = energy_power_start(power);
	curve->end = energy_power_end(power);
	curve->sums = litifut_memory_array(power->count + 1, sizeof(*curve->sums));
	if (!curve->sums)
		return false;
	curve->sums[0] = 0;
	for (size_t i = 0; i < power->count; i++) {
		double sum = 0;
		for (unsigned k = 0; k < power->channels; k++)
			sum += power->watts[k][i];
		curve->sums[i + 1] = curve->sums[i] + sum;
	}
	return true;
}

/* The energy up to a time, J; in a hole it does not grow. */
static double energy_to(const struct curve *curve, double time)
{
	const struct energy_power *power = curve->power;
	size_t low = 0, high = power->run_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (power->runs[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	const struct energy_run *run = &power->runs[low];
	double place = (time - run->time) / power->interval;
	if (place <= 0)
		return curve->sums[run->first] * power->interval;
	if (place >= (double)run->count)
		return curve->sums[run->first + run->count] * power->interval;
	size_t whole = (size_t)place;
	const double *at = &curve->sums[run->first + whole];
	return (at[0] + (place - (double)whole) * (at[1] - at[0])) * power->interval;
}

/* How much more power there is after a time than before it. */
static double step_at(const struct curve *curve, double time, double length)
{
	double here = energy_to(curve, time);

	return (energy_to(curve, time + length) - here - (here - energy_to(curve, time - length))) /
	       length;
}

static int by_value(const void *left, const void *right)
{
	float a = *(const float *)left, b = *(const float *)right;

	return (a > b) - (a < b);
}

struct place {
	double score, second; /* the best, and the best of those that are not beside it */
	double offset, slope;
	double limit; /* of a step that is added, W */
};

/* Steps at all places, `spacing` apart. */
static float *steps_of(const struct curve *curve, double window, double spacing, size_t count)
{
	float *steps = litifut_memory_array(count, sizeof(*steps));

	for (size_t i = 0; steps && i < count; i++)
		steps[i] = (float)step_at(curve, curve->start + (double)i * spacing, window);
	return steps;
}

/* Adds the steps at all marks, for each offset and slope. */
static void try_places(const float *steps, size_t count, double spacing, const double *marks,
		       size_t mark_count, double window, float *scores, struct place *best)
{
	const double length = marks[mark_count - 1] - marks[0];
	const double finest = length > 0 ? window / length : WORST_DRIFT;
	const int slopes = (int)fmin(200, ceil(WORST_DRIFT / finest));
	double own = -INFINITY;

	*best = (struct place){.score = -INFINITY, .second = 0};
	for (size_t i = 0; i < count; i++)
		scores[i] = -INFINITY;
	for (int s = -slopes; s <= slopes; s++) {
		const double slope = s * finest;
		size_t places[MOST_MARKS];
		for (size_t i = 0; i < mark_count; i++)
			places[i] = (size_t)llround((marks[i] - marks[0]) * (1 + slope) / spacing);
		for (size_t at = 0; at + places[mark_count - 1] < count; at++) {
			float score = 0;
			for (size_t i = 0; i < mark_count; i++)
				score += steps[at + places[i]];
			scores[at] = fmaxf(scores[at], score);
			if ((double)score > own) {
				own = (double)score;
				best->offset = (double)at * spacing;
				best->slope = slope;
			}
		}
	}
	best->score = own;
	for (size_t at = 0; at < count; at++) {
		if (fabs((double)at * spacing - best->offset) > 3 * window)
			best->second = fmax(best->second, (double)scores[at]);
	}
}

/* Steps are limited to the usual ones, to more, and to nearly all: what is best depends on how
 * often the program itself switches something. */
static enum litifut_status search(const struct curve *curve, const double *marks, size_t mark_count,
				  double window, struct place *best)
{
	static const double parts[] = {0.5, 0.9, 0.99};
	const double spacing = window / 2;
	const double places = (curve->end - curve->start) / spacing;
	const size_t count = places < MOST_PLACES ? (size_t)places : 0;

	if (!count || 2 * spacing < 4 * curve->power->interval)
		return LITIFUT_OK;
	float *steps = steps_of(curve, window, spacing, count);
	float *sorted = litifut_memory_array(count, sizeof(*sorted));
	float *scores = litifut_memory_array(count, sizeof(*scores));
	if (!steps || !sorted || !scores) {
		free(steps);
		free(sorted);
		free(scores);
		return LITIFUT_ERROR_IO;
	}
	for (size_t i = 0; i < count; i++)
		sorted[i] = fabsf(steps[i]);
	qsort(sorted, count, sizeof(*sorted), by_value);
	/* from the largest limit to the least, so that the same numbers are limited again */
	for (size_t k = sizeof(parts) / sizeof(parts[0]); k-- > 0;) {
		const float limit = sorted[(size_t)(parts[k] * (double)(count - 1))];
		struct place found;
		for (size_t i = 0; i < count; i++)
			steps[i] = fmaxf(-limit, fminf(limit, steps[i]));
		try_places(steps, count, spacing, marks, mark_count, window, scores, &found);
		if (found.score > 0 &&
		    found.score * best->second > best->score * fmax(found.second, 0) &&
		    found.second > 0) {
			*best = found;
			best->limit = (double)limit;
		}
	}
	free(steps);
	free(sorted);
	free(scores);
	return LITIFUT_OK;
}

/* The place near `time` with the largest step. */
static double edge_near(const struct curve *curve, double time, double reach, double length,
			double sign, double *height)
{
	const double spacing = curve->power->interval / 4;
	double best = time;

	*height = -INFINITY;
	for (double at = time - reach; at <= time + reach; at += spacing) {
		double step = sign * step_at(curve, at, length);
		if (step > *height) {
			*height = step;
			best = at;
		}
	}
	return best;
}

static double median_of(float *values, size_t count)
{
	qsort(values, count, sizeof(*values), by_value);
	return count ? values[count / 2] : 0;
}

static double sum_of_steps(const struct curve *curve, const struct place *place,
			   const double *marks, size_t mark_count, double length)
{
	double sum = 0;

	for (size_t i = 0; i < mark_count; i++) {
		double at =
			curve->start + place->offset + (marks[i] - marks[0]) * (1 + place->slope);
		sum += fmax(-place->limit, fmin(place->limit, step_at(curve, at, length)));
	}
	return sum;
}

/* Finer and finer, and with more and more marks: from the place of the first ones to a line through
 * all. */
static void refine(const struct curve *curve, struct place *place, double window,
		   const double *marks, size_t mark_count)
{
	const double finest = curve->power->interval / 2;
	size_t used = mark_count < MOST_MARKS ? mark_count : MOST_MARKS;

	for (double around = window; around > finest || used < mark_count;) {
		const double length = fmax(STEP_SAMPLES * curve->power->interval, around);
		const double over = fmax(window, marks[used - 1] - marks[0]);
		const struct place middle = *place;
		double most = -INFINITY;
		for (int i = -4; i <= 4; i++) {
			for (int k = -4; k <= 4; k++) {
				struct place trial = middle;
				/* at the first mark, and at the last one */
				trial.offset += i * around / 4;
				trial.slope += (k - i) * around / 4 / over;
				double sum = sum_of_steps(curve, &trial, marks, used, length);
				if (sum > most) {
					most = sum;
					*place = trial;
				}
			}
		}
		if (used < mark_count) {
			/* twice as far the error of the slope is twice as large */
			used = 2 * used < mark_count ? 2 * used : mark_count;
			around = fmax(around / 2, 4 * finest);
		} else {
			around /= 2;
		}
	}
}

/* Each mark's edge beside the line; the clock may wander. */
static enum litifut_status follow(const struct curve *curve, const struct place *place,
				  double window, const double *marks, size_t mark_count,
				  double *edges, size_t *edge_count, double *step)
{
	const double interval = curve->power->interval;
	const double length = fmax(STEP_SAMPLES * interval, window / 8);
	float *heights = litifut_memory_array(2 * mark_count, sizeof(*heights));
	float *off = litifut_memory_array(mark_count, sizeof(*off));
	double offset = curve->start + place->offset - marks[0] * (1 + place->slope);
	size_t kept = 0;

	if (!heights || !off) {
		free(heights);
		free(off);
		return LITIFUT_ERROR_IO;
	}
	for (size_t i = 0; i < mark_count; i++) {
		const double wanted = marks[i] * (1 + place->slope) + offset;
		double height;
		edges[i] = edge_near(curve, wanted, STEP_SAMPLES * interval, length, 1, &height);
		heights[i] = heights[mark_count + i] = (float)height;
		off[i] = (float)fabs(edges[i] - wanted);
		offset += 0.1 * (edges[i] - wanted);
	}
	/* half of a normal distribution lies within 0.6745 of its middle */
	*step = fmax(interval, sqrt(12) / 0.6745 * median_of(off, mark_count));
	const double usual = median_of(heights + mark_count, mark_count);
	for (size_t i = 0; i < mark_count; i++) {
		if (heights[i] > 0.5 * usual && heights[i] < 2 * usual)
			edges[kept++] = edges[i];
	}
	*edge_count = kept;
	free(heights);
	free(off);
	return LITIFUT_OK;
}

enum litifut_status energy_load_find(struct energy_load *load, const struct energy_power *power,
				     const double *marks, size_t mark_count, double *edges,
				     size_t *edge_count, struct litifut_error *error)
{
	const size_t used = mark_count < MOST_MARKS ? mark_count : MOST_MARKS;
	struct curve curve = {0};
	struct place best = {.score = 1, .second = 1};
	double window = 0;
	enum litifut_status status = LITIFUT_OK;

	*load = (struct energy_load){0};
	if (mark_count < LEAST_MARKS)
		return litifut_error_set(
			error, LITIFUT_ERROR_MISSING, NULL, NULL, LITIFUT_NO_ADDRESS,
			"the trace has %zu marks: %d are needed to find them in the "
			"curve (--sync power)",
			mark_count, LEAST_MARKS);
	if (!start_curve(&curve, power))
		status = LITIFUT_ERROR_IO;
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]) && status == LITIFUT_OK; i++) {
		const struct place before = best;
		status = search(&curve, marks, used, windows[i], &best);
		if (best.score != before.score || best.second != before.second)
			window = windows[i];
	}
	load->certainty = best.second > 0 ? best.score / best.second : 0;
	if (status == LITIFUT_OK && load->certainty >= LEAST_RATIO)
		refine(&curve, &best, window, marks, mark_count);
	if (status == LITIFUT_OK && load->certainty >= LEAST_RATIO)
		status = follow(&curve, &best, window, marks, mark_count, edges, edge_count,
				&load->step);
	free(curve.sums);
	if (status != LITIFUT_OK)
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "not enough memory for the marks");
	if (load->certainty < LEAST_RATIO)
		return litifut_error_set(
			error, LITIFUT_ERROR_FORMAT, NULL, NULL, LITIFUT_NO_ADDRESS,
			"the curve does not show the marks: the best place is only "
			"%.2f times as good as another one (%.1f is needed); a larger "
			"load, more marks, or --sync PIN",
			load->certainty, LEAST_RATIO);
	return LITIFUT_OK;
}

/* ---- taking it out ---- */

/* Takes a level out from one time to another. */
static void subtract(struct energy_power *power, unsigned channel, double from, double to,
		     double watts)
{
	for (size_t r = 0; r < power->run_count; r++) {
		const struct energy_run *run = &power->runs[r];
		double first = (from - run->time) / power->interval;
		double last = (to - run->time) / power->interval;
		if (last <= 0 || first >= (double)run->count)
			continue;
		first = fmax(0, first);
		last = fmin((double)run->count, last);
		for (size_t i = (size_t)first; (double)i < last; i++) {
			double part = fmin(last, (double)i + 1) - fmax(first, (double)i);
			power->watts[channel][run->first + i] -= (float)(part * watts);
		}
	}
}

/* How long a pulse is: where the mean of all curves from the mark on falls as it has risen. */
static double usual_length(const struct curve *curve, const struct energy_clock *clock,
			   const double *marks, size_t mark_count, double window)
{
	const double interval = curve->power->interval;
	double most = 0, best = 0, shortest = MOST_PULSE;
	size_t hint = 0;

	for (size_t i = 1; i < mark_count; i++)
		shortest = fmin(shortest, 0.9 * (marks[i] - marks[i - 1]));
	for (double length = window; length < shortest; length += interval) {
		double sum = 0;
		hint = 0;
		for (size_t i = 0; i < mark_count; i++)
			sum -= step_at(curve, energy_clock_map(clock, marks[i], &hint) + length,
				       window);
		if (sum > most) {
			most = sum;
			best = length;
		}
	}
	return best;
}

static unsigned channel_of(const struct energy_power *power, const struct energy_clock *clock,
			   const double *marks, size_t mark_count, double window)
{
	double most = -INFINITY;
	unsigned best = 0;

	for (unsigned k = 0; k < power->channels && power->channels > 1; k++) {
		struct energy_power one = *power;
		struct curve curve = {0};
		double sum = 0;
		size_t hint = 0;
		one.channels = 1;
		one.watts[0] = power->watts[k];
		if (!start_curve(&curve, &one))
			break;
		for (size_t i = 0; i < mark_count; i++)
			sum += step_at(&curve, energy_clock_map(clock, marks[i], &hint), window);
		free(curve.sums);
		if (sum > most) {
			most = sum;
			best = k;
		}
	}
	return best;
}

enum litifut_status energy_load_take_out(struct energy_load *load, struct energy_power *power,
					 const struct energy_clock *clock, const double *marks,
					 size_t mark_count, struct litifut_error *error)
{
	const double window = STEP_SAMPLES * power->interval;
	struct curve curve = {0};
	float *heights = litifut_memory_array(2 * mark_count, sizeof(*heights));
	double *ends = litifut_memory_array(mark_count, sizeof(*ends));
	size_t hint = 0;

	if (!heights || !ends || !start_curve(&curve, power)) {
		free(heights);
		free(ends);
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "not enough memory for the marks");
	}
	load->seconds = usual_length(&curve, clock, marks, mark_count, window);
	load->pulses = mark_count;
	load->channel = channel_of(power, clock, marks, mark_count, window);
	/* beside an edge the handler runs that has made it, and draws something else */
	const double level = fmax(window, load->seconds / 4);
	for (size_t i = 0; i < mark_count; i++) {
		double from = energy_clock_map(clock, marks[i], &hint), height;
		/* the interrupt that ends it may have to wait */
		ends[i] = edge_near(&curve, from + load->seconds, 3 * window, window, -1, &height);
		heights[2 * i] = (float)step_at(&curve, from, level);
		heights[2 * i + 1] = (float)-step_at(&curve, ends[i], level);
	}
	load->watts = median_of(heights, 2 * mark_count);
	hint = 0;
	for (size_t i = 0; i < mark_count; i++)
		subtract(power, load->channel, energy_clock_map(clock, marks[i], &hint), ends[i],
			 load->watts);
	free(curve.sums);
	free(heights);
	free(ends);
	return LITIFUT_OK;
}
