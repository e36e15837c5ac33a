/* Changepoints. Costs are kept as quadratics of the level, relative to sums over all points so
 * far, so that a new point costs nothing for the candidates that are there. */
#include "postproc/energy/changes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* Samples of a block of which the noise is estimated. Of the differences of blocks a quarter
 * is enough without a change between them: so much of a normal distribution lies within this. */
#define BLOCK 256
#define QUARTER_OF_NORMAL 0.31863936

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

void energy_changes_release(struct energy_changes *changes)
{
	free(changes->at);
	*changes = (struct energy_changes){0};
}

/* Large values would eat up the digits of their differences. */
static double middle(const double *values, size_t count, double *least, double *most)
{
	double sum = 0;

	*least = INFINITY;
	*most = -INFINITY;
	for (size_t i = 0; i < count; i++) {
		sum += values[i];
		*least = fmin(*least, values[i]);
		*most = fmax(*most, values[i]);
	}
	return count ? sum / (double)count : 0;
}

/* ---- FPOP ---- */

/* Where on the axis of levels one candidate is the best. */
struct piece {
	double left, right;
	double base; /* optimum up to the candidate, penalty, less its square sum */
	struct sums sums;
	uint32_t candidate;
};

struct pieces {
	struct piece *items;
	size_t count, capacity;
};

static bool keep(struct pieces *pieces, const struct piece *piece, double left, double right)
{
	if (!(right > left))
		return true;
	if (pieces->count) { /* the same candidate goes on */
		struct piece *last = &pieces->items[pieces->count - 1];
		if (last->candidate == piece->candidate && last->right >= left) {
			last->right = right;
			return true;
		}
	}
	if (pieces->count == pieces->capacity) {
		size_t wanted = pieces->capacity ? 2 * pieces->capacity : 64;
		struct piece *more = realloc(pieces->items, wanted * sizeof(*more));
		if (!more)
			return false;
		pieces->items = more;
		pieces->capacity = wanted;
	}
	pieces->items[pieces->count] = *piece;
	pieces->items[pieces->count].left = left;
	pieces->items[pieces->count++].right = right;
	return true;
}

static inline double at_level(const struct piece *piece, const struct sums *now, double level)
{
	double weight = now->weight - piece->sums.weight, value = now->value - piece->sums.value;

	return piece->base + now->square + level * (level * weight - 2 * value);
}

/* Leaves of each piece what is below `limit`, and gives the rest to a new candidate. */
static bool cut(const struct pieces *from, struct pieces *to, const struct sums *now, double limit,
		const struct piece *fresh)
{
	to->count = 0;
	for (size_t i = 0; i < from->count; i++) {
		const struct piece *piece = &from->items[i];
		bool left_in = at_level(piece, now, piece->left) <= limit;
		bool right_in = at_level(piece, now, piece->right) <= limit;
		double low = piece->left, high = piece->right;
		if (!left_in || !right_in) {
			double weight = now->weight - piece->sums.weight;
			double value = now->value - piece->sums.value;
			double rest = piece->base + now->square - limit;
			double inside = value * value - weight * rest;
			if (!(inside > 0)) {
				if (!keep(to, fresh, low, high))
					return false;
				continue;
			}
			double root = sqrt(inside);
			if (!left_in)
				low = fmin(high, fmax(low, (value - root) / weight));
			if (!right_in)
				high = fmax(low, fmin(high, (value + root) / weight));
		}
		if (!keep(to, fresh, piece->left, low) || !keep(to, piece, low, high) ||
		    !keep(to, fresh, high, piece->right))
			return false;
	}
	return true;
}

static double best_of(const struct pieces *pieces, const struct sums *now, uint32_t *candidate)
{
	double best = INFINITY;

	for (size_t i = 0; i < pieces->count; i++) {
		const struct piece *piece = &pieces->items[i];
		double level =
			(now->value - piece->sums.value) / (now->weight - piece->sums.weight);
		level = level < piece->left ? piece->left
					    : (level > piece->right ? piece->right : level);
		double here = at_level(piece, now, level);
		if (here < best) {
			best = here;
			*candidate = piece->candidate;
		}
	}
	return best;
}

bool energy_changes_fpop(const double *values, const double *weights, size_t count, double penalty,
			 struct energy_changes *changes)
{
	uint32_t *last = litifut_memory_array(count + 1, sizeof(*last));
	struct pieces lists[2] = {{0}};
	struct sums now = {0};
	double least, most, shift = middle(values, count, &least, &most), best = -penalty;
	bool good = last && count < UINT32_MAX;
	unsigned current = 0;

	*changes = (struct energy_changes){0};
	if (good)
		last[0] = 0;
	least -= shift;
	most -= shift;
	if (!(most > least)) { /* all the same: the axis needs some width */
		double width = fmax(1e-300, fabs(most) * 1e-9);
		most += width;
		least -= width;
	}
	for (size_t i = 0; good && i < count; i++) {
		const double limit = best + penalty;
		struct piece fresh = {
			.base = limit - now.square, .sums = now, .candidate = (uint32_t)i};
		struct pieces *to = &lists[!current];
		if (i == 0) {
			to->count = 0;
			good = keep(to, &fresh, least, most);
		} else {
			good = cut(&lists[current], to, &now, limit, &fresh);
		}
		current = !current;
		add(&now, values[i] - shift, weights ? weights[i] : 1);
		uint32_t candidate = 0;
		if (good)
			best = best_of(&lists[current], &now, &candidate);
		last[i + 1] = candidate;
	}
	good = good && way_back(last, count, changes);
	free(lists[0].items);
	free(lists[1].items);
	free(last);
	return good;
}

/* ---- PELT ---- */

bool energy_changes_pelt(const double *values, const double *weights, size_t count, double penalty,
			 struct energy_changes *changes)
{
	uint32_t *last = malloc((count + 1) * sizeof(*last));
	uint32_t *candidates = malloc((count + 1) * sizeof(*candidates));
	struct sums *sums = malloc((count + 1) * sizeof(*sums));
	double *best = malloc((count + 1) * sizeof(*best));
	double least, most, shift = middle(values, count, &least, &most);
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

struct points {
	double *values, *weights;
	size_t *starts; /* first sample of each */
	size_t count;
};

static void add_point(struct points *points, const float *values, size_t from, size_t to)
{
	double sum = 0;

	if (to <= from)
		return;
	for (size_t i = from; i < to; i++)
		sum += values[i];
	points->values[points->count] = sum / (double)(to - from);
	points->weights[points->count] = (double)(to - from);
	points->starts[points->count++] = from;
}

static bool alloc_points(struct points *points, size_t count)
{
	*points = (struct points){litifut_memory_array(count + 1, sizeof(double)),
				  litifut_memory_array(count + 1, sizeof(double)),
				  litifut_memory_array(count + 1, sizeof(size_t)), 0};
	return points->values && points->weights && points->starts;
}

static void free_points(struct points *points)
{
	free(points->values);
	free(points->weights);
	free(points->starts);
}

/* Single samples for a bin on each side of a change, one point for what lies between. */
static void fine_points(struct points *points, const float *values, size_t count, unsigned width,
			const struct energy_changes *bins)
{
	size_t at = 0;

	for (size_t i = 0; i < bins->count; i++) {
		size_t change = bins->at[i] * width;
		size_t from = change - width > at || change < width ? change - width : at;
		size_t to = change + width < count ? change + width : count;
		if (change < width || from < at)
			from = at;
		add_point(points, values, at, from);
		for (; from < to; from++)
			add_point(points, values, from, from + 1);
		at = to > at ? to : at;
	}
	add_point(points, values, at, count);
}

bool energy_changes_two_levels(const float *values, size_t count, unsigned width, double penalty,
			       struct energy_changes *changes)
{
	struct energy_changes bins = {0};
	struct points coarse, fine = {0};
	const size_t bin_count = count / width;

	*changes = (struct energy_changes){0};
	if (width < 1 || bin_count < 1)
		width = 1;
	bool good = alloc_points(&coarse, count / width + 1);
	for (size_t at = 0; good && at < count; at += width)
		add_point(&coarse, values, at, at + width < count ? at + width : count);
	good = good && energy_changes_fpop(coarse.values, coarse.weights, coarse.count, penalty,
					   width > 1 ? &bins : changes);
	free_points(&coarse);
	if (width > 1 && good) {
		good = alloc_points(&fine, bins.count * (2 * width + 1) + 1);
		if (good)
			fine_points(&fine, values, count, width, &bins);
		good = good &&
		       energy_changes_fpop(fine.values, fine.weights, fine.count, penalty, changes);
		for (size_t i = 0; good && i < changes->count; i++)
			changes->at[i] = fine.starts[changes->at[i]];
		free_points(&fine);
	}
	energy_changes_release(&bins);
	return good;
}

void energy_changes_merge(const float *values, size_t count, double step,
			  struct energy_changes *changes)
{
	size_t kept = 0, start = 0;
	double sum = 0, length = 0;

	/* `sum` is of the segment before change `i` */
	for (size_t i = start; i < (changes->count ? changes->at[0] : 0); i++) {
		sum += values[i];
		length++;
	}
	for (size_t i = 0; i < changes->count; i++) {
		size_t end = i + 1 < changes->count ? changes->at[i + 1] : count;
		double next = 0, next_length = (double)(end - changes->at[i]);
		for (size_t k = changes->at[i]; k < end; k++)
			next += values[k];
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

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

static double noise_of_blocks(const float *values, size_t count, size_t block)
{
	size_t blocks = count / block;
	/* of a very long recording a part is enough */
	size_t skip = blocks > 200000 ? blocks / 100000 : 1;
	double *steps = malloc((blocks / skip + 1) * sizeof(*steps));
	size_t found = 0;

	if (!steps || blocks < 2) {
		free(steps);
		return 0;
	}
	for (size_t i = 0; i + 1 < blocks; i += skip) {
		double difference = 0;
		const float *at = values + i * block;
		for (size_t k = 0; k < block; k++)
			difference += (double)at[block + k] - at[k];
		steps[found++] = fabs(difference) / (double)block;
	}
	qsort(steps, found, sizeof(*steps), by_value);
	double quarter = steps[found / 4];
	free(steps);
	return quarter / QUARTER_OF_NORMAL / sqrt(2) * sqrt((double)block);
}

double energy_noise(const float *values, size_t count)
{
	size_t block = BLOCK;

	while (block > 1 && count / block < 40)
		block /= 2;
	return noise_of_blocks(values, count, block);
}

double energy_sample_noise(const float *values, size_t count)
{
	return noise_of_blocks(values, count, 1);
}

double energy_changes_penalty(double noise, size_t count)
{
	return 2 * noise * noise * log((double)(count > 2 ? count : 2));
}
