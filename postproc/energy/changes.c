/* Changepoints. Costs are kept as quadratics of the level, relative to sums over all points so
 * far, so that a new point costs nothing for the candidates that are there. */
#include "postproc/energy/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "postproc/energy/points.h"

struct sums {
	double weight, value, square;
};

static inline void add(struct sums *sums, double value, double weight)
{
	sums->weight += weight;
	sums->value += weight * value;
	sums->square += weight * value * value;
}

/* Cost of one segment between two sums. */
static inline double cost(const struct sums *from, const struct sums *to)
{
	double weight = to->weight - from->weight, value = to->value - from->value;

	return weight > 0 ? fmax(0, to->square - from->square - value * value / weight) : 0;
}

void energy_changes_release(struct energy_changes *changes)
{
	free(changes->at);
	*changes = (struct energy_changes){0};
}

/* Large values would eat up the digits of their differences. */
struct range {
	double least, most, mean;
};

static struct range range_of(const double *values, size_t count)
{
	struct range range = {.least = INFINITY, .most = -INFINITY};
	double sum = 0;

	for (size_t i = 0; i < count; i++) {
		sum += values[i];
		range.least = fmin(range.least, values[i]);
		range.most = fmax(range.most, values[i]);
	}
	range.mean = count ? sum / (double)count : 0;
	return range;
}

/* ---- FPOP ---- */

/* Up to where on the axis of levels one candidate is the best: from where the piece before it ends.
 */
struct piece {
	double right;
	double base;          /* optimum up to the candidate, penalty, less its square sum */
	double weight, value; /* sums up to the candidate */
	uint32_t candidate;
};

struct pieces {
	struct piece *items;
	size_t count, capacity;
};

static bool room_for(struct pieces *pieces, size_t count)
{
	if (count <= pieces->capacity)
		return true;
	struct piece *more = realloc(pieces->items, 2 * count * sizeof(*more));
	if (!more)
		return false;
	pieces->items = more;
	pieces->capacity = 2 * count;
	return true;
}

/* The piece before it may be of the same candidate. */
static inline void give(struct pieces *pieces, const struct piece *piece, double right)
{
	struct piece *last = pieces->items + pieces->count;

	if (pieces->count && last[-1].candidate == piece->candidate) {
		last--;
	} else {
		*last = *piece;
		pieces->count++;
	}
	last->right = right;
}

/* Leaves of each piece what is below `limit`, and gives the rest to a new candidate. The axis
 * begins at `left`. `to` has room for twice as many pieces, and one. */
static void cut(const struct pieces *from, struct pieces *to, double left, const struct sums *now,
		double limit, const struct piece *fresh)
{
	to->count = 0;
	for (size_t i = 0; i < from->count; i++) {
		const struct piece *piece = &from->items[i];
		const double weight = now->weight - piece->weight;
		const double value = now->value - piece->value;
		const double rest = piece->base + now->square - limit;
		const double right = piece->right;
		const bool left_in = rest + left * (left * weight - 2 * value) <= 0;
		const bool right_in = rest + right * (right * weight - 2 * value) <= 0;
		double low = left, high = right;
		if (!left_in || !right_in) {
			const double inside = value * value - weight * rest;
			const double root = inside > 0 ? sqrt(inside) : 0;
			const double first = (value - root) / weight;
			const double last = (value + root) / weight;
			if (!(inside > 0)) {
				low = high;
			} else {
				if (!left_in && first > low)
					low = first < high ? first : high;
				if (!right_in && last < high)
					high = last > low ? last : low;
			}
		}
		if (low > left)
			give(to, fresh, low);
		if (high > low)
			give(to, piece, high);
		if (right > high)
			give(to, fresh, right);
		left = right;
	}
}

/* The least of all costs. Where a candidate costs least another one may be better, which then is
 * the one that is found. */
static double best_of(const struct pieces *pieces, const struct sums *now, uint32_t *candidate)
{
	double best = INFINITY;

	for (size_t i = 0; i < pieces->count; i++) {
		const struct piece *piece = &pieces->items[i];
		const double weight = now->weight - piece->weight;
		const double value = now->value - piece->value;
		const double here = piece->base + now->square - value * value / weight;
		if (here < best) {
			best = here;
			*candidate = piece->candidate;
		}
	}
	return best;
}

/* A candidate: where its segment begins, and the candidate before it on the best way to there. */
struct step {
	uint32_t start, before;
};

/* Most candidates are soon worse than others. Those from which no way leads to one that is left are
 * taken out when there is no more room, so that memory is needed for changes, not for points. */
struct steps {
	struct step *items; /* the first one is the begin; each is behind the one before it */
	uint32_t *moved;
	uint32_t count, capacity;
};

#define FIRST_STEPS 32768

static bool more_steps(struct steps *steps, uint32_t wanted)
{
	struct step *items = litifut_memory_resized(steps->items, wanted, sizeof(*items));

	if (items)
		steps->items = items;
	uint32_t *moved = litifut_memory_resized(steps->moved, wanted, sizeof(*moved));
	if (moved)
		steps->moved = moved;
	steps->capacity = wanted;
	return items && moved;
}

/* Keeps what lies on a way to some piece; `last` is the candidate of one. */
static bool tidy(struct steps *steps, struct pieces *pieces, uint32_t *last)
{
	uint32_t kept = 1;

	memset(steps->moved, 0, steps->count * sizeof(*steps->moved));
	for (size_t i = 0; i < pieces->count; i++) {
		for (uint32_t at = pieces->items[i].candidate; at && !steps->moved[at];
		     at = steps->items[at].before)
			steps->moved[at] = 1;
	}
	for (uint32_t i = 1; i < steps->count; i++) {
		if (!steps->moved[i])
			continue;
		steps->items[kept].start = steps->items[i].start;
		steps->items[kept].before = steps->moved[steps->items[i].before];
		steps->moved[i] = kept++;
	}
	for (size_t i = 0; i < pieces->count; i++)
		pieces->items[i].candidate = steps->moved[pieces->items[i].candidate];
	*last = steps->moved[*last];
	steps->count = kept;
	return kept <= steps->capacity / 4 * 3 ||
	       more_steps(steps, steps->capacity + steps->capacity / 2);
}

static bool steps_back(const struct steps *steps, uint32_t last, struct energy_changes *changes)
{
	size_t found = 0;

	for (uint32_t at = last; at; at = steps->items[at].before)
		found++;
	*changes = (struct energy_changes){NULL, found};
	changes->at = malloc((found ? found : 1) * sizeof(*changes->at));
	if (!changes->at)
		return false;
	for (uint32_t at = last; at; at = steps->items[at].before)
		changes->at[--found] = steps->items[at].start;
	return true;
}

static bool fpop(struct energy_points *points, struct range range, double penalty,
		 struct energy_changes *changes)
{
	struct steps steps = {0};
	struct pieces lists[2] = {{0}};
	struct sums now = {0};
	struct energy_point some[ENERGY_SOME_POINTS];
	double best = -penalty;
	uint32_t last = 0; /* of the best way */
	unsigned current = 0;
	bool good = points->count < UINT32_MAX && more_steps(&steps, FIRST_STEPS);

	*changes = (struct energy_changes){0};
	range.least -= range.mean;
	range.most -= range.mean;
	if (!(range.most > range.least)) { /* all the same: the axis needs some width */
		double width = fmax(1e-300, fabs(range.most) * 1e-9);
		range.most += width;
		range.least -= width;
	}
	for (size_t count; good && (count = points->next(points, some));) {
		for (size_t i = 0; i < count; i++) {
			const double limit = best + penalty;
			const struct pieces *from = &lists[current];
			struct pieces *to = &lists[!current];
			if (steps.count == steps.capacity)
				good = tidy(&steps, &lists[current], &last);
			good = good && room_for(to, 2 * from->count + 1);
			if (!good)
				break;
			const struct piece fresh = {.base = limit - now.square,
						    .weight = now.weight,
						    .value = now.value,
						    .candidate = steps.count};
			steps.items[steps.count++] = (struct step){some[i].start, last};
			if (from->count)
				cut(from, to, range.least, &now, limit, &fresh);
			else
				give(to, &fresh, range.most);
			current = !current;
			add(&now, some[i].value - range.mean, some[i].weight);
			best = best_of(to, &now, &last);
		}
	}
	good = good && steps_back(&steps, last, changes);
	free(lists[0].items);
	free(lists[1].items);
	free(steps.items);
	free(steps.moved);
	return good;
}

bool energy_changes_fpop(const double *values, const double *weights, size_t count, double penalty,
			 struct energy_changes *changes)
{
	struct energy_points points = {
		.next = energy_points_given, .count = count, .values = values, .weights = weights};

	return fpop(&points, range_of(values, count), penalty, changes);
}

/* ---- PELT ---- */

/* The positions on the best way back from the end. */
static bool way_back(const uint32_t *last, size_t count, struct energy_changes *changes)
{
	size_t found = 0;

	for (size_t at = count; at && last[at]; at = last[at])
		found++;
	*changes = (struct energy_changes){NULL, found};
	changes->at = malloc((found ? found : 1) * sizeof(*changes->at));
	if (!changes->at)
		return false;
	for (size_t at = count; at && last[at]; at = last[at])
		changes->at[--found] = last[at];
	return true;
}

bool energy_changes_pelt(const double *values, const double *weights, size_t count, double penalty,
			 struct energy_changes *changes)
{
	uint32_t *last = malloc((count + 1) * sizeof(*last));
	uint32_t *candidates = malloc((count + 1) * sizeof(*candidates));
	struct sums *sums = malloc((count + 1) * sizeof(*sums));
	double *best = malloc((count + 1) * sizeof(*best));
	const double shift = range_of(values, count).mean;
	bool good = last && candidates && sums && best && count < UINT32_MAX;
	size_t kept = 0;

	*changes = (struct energy_changes){0};
	if (good) {
		last[0] = 0;
		sums[0] = (struct sums){0};
		best[0] = -penalty;
	}
	for (size_t i = 0; good && i < count; i++) {
		sums[i + 1] = sums[i];
		add(&sums[i + 1], values[i] - shift, weights ? weights[i] : 1);
		candidates[kept++] = (uint32_t)i;
		best[i + 1] = INFINITY;
		for (size_t k = 0; k < kept; k++) {
			uint32_t from = candidates[k];
			double here = best[from] + cost(&sums[from], &sums[i + 1]) + penalty;
			if (here < best[i + 1]) {
				best[i + 1] = here;
				last[i + 1] = from;
			}
		}
		size_t left = 0;
		for (size_t k = 0; k < kept; k++) {
			uint32_t from = candidates[k];
			if (best[from] + cost(&sums[from], &sums[i + 1]) <= best[i + 1])
				candidates[left++] = from;
		}
		kept = left;
	}
	good = good && way_back(last, count, changes);
	free(last);
	free(candidates);
	free(sums);
	free(best);
	return good;
}

/* ---- two levels ---- */

static struct range range_of_samples(const struct energy_samples *samples)
{
	struct range range = {.least = INFINITY, .most = -INFINITY};
	float least = INFINITY, most = -INFINITY;

	for (size_t at = 0, count; at < samples->count; at += count) {
		const float *values = energy_samples_from(samples, at, samples->count, &count);
		double sum = 0;
		for (size_t i = 0; i < count; i++) {
			sum += values[i];
			least = values[i] < least ? values[i] : least;
			most = values[i] > most ? values[i] : most;
		}
		range.mean += sum / (double)samples->count;
	}
	range.least = least;
	range.most = most;
	return range;
}

bool energy_changes_two_levels(const struct energy_samples *samples, unsigned width, double penalty,
			       struct energy_changes *changes)
{
	const struct range range = range_of_samples(samples);
	struct energy_changes bins = {0};

	if (width < 1 || samples->count / width < 1)
		width = 1;
	struct energy_points coarse = {.next = energy_points_coarse,
				       .count = samples->count,
				       .samples = samples,
				       .width = width};
	bool good = fpop(&coarse, range, penalty, width > 1 ? &bins : changes);
	if (width > 1) {
		struct energy_points fine = {.next = energy_points_fine,
					     .count = samples->count,
					     .samples = samples,
					     .width = width,
					     .bins = bins.at,
					     .bin_count = bins.count};
		*changes = (struct energy_changes){0};
		good = good && fpop(&fine, range, penalty, changes);
	}
	energy_changes_release(&bins);
	return good;
}

void energy_changes_merge(const struct energy_samples *samples, double step,
			  struct energy_changes *changes)
{
	/* `sum` is of the segment before change `i` */
	double length = changes->count ? (double)changes->at[0] : 0;
	double sum = changes->count ? energy_samples_sum(samples, 0, changes->at[0]) : 0;
	size_t kept = 0;

	for (size_t i = 0; i < changes->count; i++) {
		const size_t end = i + 1 < changes->count ? changes->at[i + 1] : samples->count;
		const double next = energy_samples_sum(samples, changes->at[i], end);
		const double next_length = (double)(end - changes->at[i]);
		if (fabs(next / next_length - sum / length) >= step) {
			changes->at[kept++] = changes->at[i];
			sum = next;
			length = next_length;
		} else {
			sum += next;
			length += next_length;
		}
	}
	changes->count = kept;
}

double energy_changes_penalty(double noise, size_t count)
{
	return 2 * noise * noise * log((double)(count > 2 ? count : 2));
}
