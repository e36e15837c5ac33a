/* Changepoints: FPOP, PELT and a search over all segmentations find the same least cost; the curve
 * in which they are looked for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/energy/changes.h"
#include "postproc/energy/level.h"
#include "postproc/energy/noise.h"

static uint64_t seed;

static double uniform(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (double)(seed >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * M_PI * uniform());
}

/* Sum of squares of values [from, to) round their mean. */
static double segment(const double *values, const double *weights, size_t from, size_t to)
{
	double weight = 0, mean = 0, sum = 0;

	for (size_t i = from; i < to; i++) {
		weight += weights[i];
		mean += weights[i] * values[i];
	}
	mean /= weight;
	for (size_t i = from; i < to; i++)
		sum += weights[i] * (values[i] - mean) * (values[i] - mean);
	return sum;
}

static double cost(const double *values, const double *weights, size_t count, double penalty,
		   const struct energy_changes *changes)
{
	double sum = 0;
	size_t from = 0;

	for (size_t i = 0; i <= changes->count; i++) {
		size_t to = i < changes->count ? changes->at[i] : count;
		assert_true(to > from && to <= count);
		sum += segment(values, weights, from, to) + (i ? penalty : 0);
		from = to;
	}
	return sum;
}

/* Every last segment for every end: quadratic, and nothing is left out. */
static double optimum(const double *values, const double *weights, size_t count, double penalty)
{
	double *best = malloc((count + 1) * sizeof(*best));
	double result;

	assert_non_null(best);
	best[0] = -penalty;
	for (size_t to = 1; to <= count; to++) {
		double weight = 0, mean = values[to - 1], sum = 0;
		best[to] = INFINITY;
		for (size_t from = to; from-- > 0;) { /* Welford, from the end */
			double step = values[from] - mean;
			weight += weights[from];
			mean += step * weights[from] / weight;
			sum += weights[from] * step * (values[from] - mean);
			best[to] = fmin(best[to], best[from] + sum + penalty);
		}
	}
	result = best[count];
	free(best);
	return result;
}

static void same_optimum(void **state)
{
	static double values[400], weights[400];

	(void)state;
	for (uint64_t trial = 1; trial <= 3000; trial++) {
		struct energy_changes fpop, pelt;
		seed = trial;
		size_t count = 1 + (size_t)(uniform() * (trial % 10 ? 60 : 400));
		double offset = trial % 7 ? 0 : 1e6, level = offset,
		       spread = pow(10, 3 * uniform() - 2);
		bool rounded = uniform() < 0.3;
		for (size_t i = 0; i < count; i++) {
			if (uniform() < 0.1)
				level = offset + 10 * uniform();
			values[i] = level + spread * normal();
			if (rounded)
				values[i] = round(values[i]);
			weights[i] = trial % 3 ? 1 : 1 + floor(9 * uniform());
		}
		double penalty = spread * spread * pow(10, 4 * uniform() - 1);
		double least = optimum(values, weights, count, penalty);
		assert_true(energy_changes_fpop(values, weights, count, penalty, &fpop));
		assert_true(energy_changes_pelt(values, weights, count, penalty, &pelt));
		double a = cost(values, weights, count, penalty, &fpop);
		double b = cost(values, weights, count, penalty, &pelt);
		double tolerance = 1e-9 * (fabs(least) + penalty + offset / 1e3) + 1e-12;
		if (fabs(a - least) > tolerance || fabs(b - least) > tolerance)
			fail_msg("trial %d: %.12g, FPOP %.12g, PELT %.12g", (int)trial, least, a,
				 b);
		energy_changes_release(&fpop);
		energy_changes_release(&pelt);
	}
}

static void odd_series(void **state)
{
	static const double series[][4] = {
		{5, 5, 5, 5}, {0, 0, 0, 0}, {1e30, -1e30, 1e30, -1e30}, {1, 1, 2, 2}};
	struct energy_changes changes;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		for (size_t count = 0; count <= 4; count++) {
			assert_true(energy_changes_fpop(series[i], NULL, count, 0.1, &changes));
			if (i < 2)
				assert_int_equal(changes.count, 0);
			if (i == 3 && count == 4) {
				assert_int_equal(changes.count, 1);
				assert_int_equal(changes.at[0], 2);
			}
			energy_changes_release(&changes);
		}
	}
}

/* A million samples with a change about each thousand, and their true places. */
static float *make(size_t count, double correlation, size_t *truth, size_t *changes)
{
	float *values = malloc(count * sizeof(*values));
	double level = 0, colour = 0;

	assert_non_null(values);
	*changes = 0;
	for (size_t i = 0; i < count; i++) {
		if (i && uniform() < 1e-4) {
			level += uniform() < 0.5 ? 1.5 + uniform() : -1.5 - uniform();
			truth[(*changes)++] = i;
		}
		colour = correlation * colour + sqrt(1 - correlation * correlation) * normal();
		values[i] = (float)(level + 0.5 * colour);
	}
	return values;
}

static void two_levels(void **state)
{
	const size_t count = 300000;
	static size_t truth[1000];
	size_t planted;

	(void)state;
	for (unsigned width = 4; width <= 64; width *= 2) {
		struct energy_changes changes;
		seed = width;
		float *values = make(count, 0, truth, &planted);
		const struct energy_samples samples = energy_samples_of(values, count);
		double noise = energy_noise(values, count);
		assert_true(noise > 0.45 && noise < 0.6);
		assert_true(energy_changes_two_levels(
			&samples, width, energy_changes_penalty(noise, count), &changes));
		size_t exact = 0;
		for (size_t i = 0; i < planted; i++) {
			for (size_t k = 0; k < changes.count; k++)
				exact += changes.at[k] + 2 >= truth[i] &&
					 changes.at[k] <= truth[i] + 2;
		}
		assert_true(exact * 10 >= planted * 8);
		assert_true(changes.count <= planted + 1);
		energy_changes_release(&changes);
		free(values);
	}
}

/* Noise that is alike from sample to sample: the usual estimate finds thousands of changes. */
static void coloured_noise(void **state)
{
	const size_t count = 200000;
	static size_t truth[1000];
	struct energy_changes changes;
	size_t planted;

	(void)state;
	seed = 5;
	float *values = make(count, 0.9, truth, &planted);
	const struct energy_samples samples = energy_samples_of(values, count);
	double noise = energy_noise(values, count), differences = 0;
	for (size_t i = 1; i < count; i++)
		differences += pow((double)values[i] - values[i - 1], 2) / 2 / (double)count;
	assert_true(energy_changes_two_levels(&samples, 16, energy_changes_penalty(noise, count),
					      &changes));
	assert_true(changes.count <= planted + 1 && changes.count * 2 >= planted);
	energy_changes_release(&changes);
	assert_true(energy_changes_two_levels(
		&samples, 16, energy_changes_penalty(sqrt(differences), count), &changes));
	assert_true(changes.count > 100 * planted);
	energy_changes_release(&changes);
	free(values);
}

/* More changes than there is room for at first. */
static void many_changes(void **state)
{
	enum { COUNT = 400000, LENGTH = 5 };
	float *values = malloc(COUNT * sizeof(*values));
	struct energy_changes changes;

	(void)state;
	assert_non_null(values);
	seed = 7;
	for (size_t i = 0; i < COUNT; i++)
		values[i] = (float)((double)(i / LENGTH % 3) + 0.01 * normal());
	const struct energy_samples samples = energy_samples_of(values, COUNT);
	for (unsigned width = 1; width <= 4; width += 3) {
		assert_true(energy_changes_two_levels(&samples, width, 0.01, &changes));
		assert_int_equal(changes.count, COUNT / LENGTH - 1);
		for (size_t i = 0; i < changes.count; i++)
			assert_int_equal(changes.at[i], LENGTH * (i + 1));
		energy_changes_release(&changes);
	}
	free(values);
}

/* The noise is the same from sums of blocks. */
static void noise_of_sums(void **state)
{
	enum { COUNT = 100000 };
	static size_t truth[1000];
	static double sums[COUNT];
	size_t planted;

	(void)state;
	seed = 9;
	float *values = make(COUNT, 0.5, truth, &planted);
	const size_t block = energy_noise_block(COUNT);
	for (size_t i = 0; i < COUNT; i++)
		sums[i / block] += values[i];
	const double noise = energy_noise(values, COUNT);
	assert_true(fabs(energy_noise_of_sums(sums, COUNT / block, block) - noise) < 1e-9 * noise);
	assert_true(energy_noise_of_sums(sums, 1, block) == 0);
	free(values);
}

/* What peripherals drew is taken out of the curve, in whatever pieces it is asked for. */
static void level_without_peripherals(void **state)
{
	enum { COUNT = 20000, ITEMS = 50 };
	static float watts[2][COUNT];
	static double wanted[COUNT];
	struct energy_run runs[] = {{1, 0, 7000}, {1.1, 7000, 13000}};
	const struct energy_power power = {.count = COUNT,
					   .interval = 1e-5,
					   .channels = 2,
					   .watts = {watts[0], watts[1]},
					   .runs = runs,
					   .run_count = 2};
	static struct energy_occupation items[ITEMS];
	struct energy_occupations occupations = {.items = items, .count = ITEMS};
	struct energy_level_maker *maker = malloc(sizeof(*maker));

	(void)state;
	assert_non_null(maker);
	seed = 3;
	for (size_t i = 0; i < COUNT; i++) {
		watts[0][i] = (float)uniform();
		watts[1][i] = (float)uniform();
		wanted[i] = watts[0][i] + watts[1][i];
	}
	for (size_t i = 0; i < ITEMS; i++) { /* some begin before the recording, some in the hole */
		items[i].from = 0.99 + 0.005 * (double)i + 0.001 * uniform();
		items[i].to = items[i].from + 0.02 * uniform() * uniform();
		items[i].watts = uniform();
		for (size_t k = 0; k < COUNT; k++) {
			const struct energy_run *run = &runs[k >= runs[1].first];
			const double from = run->time + (double)(k - run->first) * power.interval;
			const double begin = fmax(from, items[i].from);
			const double end = fmin(from + power.interval, items[i].to);
			wanted[k] -= fmax(0, end - begin) / power.interval * items[i].watts;
		}
	}
	const struct energy_samples level = energy_level_samples(maker, &power, &occupations);
	assert_int_equal(level.count, COUNT);
	for (int pass = 0; pass < 20; pass++) {
		size_t at = 0, count;
		while (at < COUNT) {
			const size_t to = at + 1 + (size_t)(uniform() * (pass ? 6000 : 3));
			const float *values =
				energy_samples_from(&level, at, to < COUNT ? to : COUNT, &count);
			assert_true(count > 0 && at + count <= COUNT);
			for (size_t i = 0; i < count; i++)
				assert_float_equal(values[i], (float)wanted[at + i], 1e-5);
			at += count + (pass % 3 == 2 ? (size_t)(uniform() * 5000) : 0);
		}
	}
	double sum = 0;
	for (size_t i = 5000; i < 19000; i++)
		sum += wanted[i];
	assert_float_equal(energy_samples_sum(&level, 5000, 19000), sum, 1e-3);
	free(maker);
}

static void small_steps(void **state)
{
	static const float values[] = {1, 1, 1, 1.01f, 1.01f, 5, 5, 5.02f, 1};
	size_t at[] = {3, 5, 7, 8};
	struct energy_changes changes = {at, 4};

	(void)state;
	const struct energy_samples samples = energy_samples_of(values, 9);
	energy_changes_merge(&samples, 0.1, &changes);
	assert_int_equal(changes.count, 2);
	assert_int_equal(at[0], 5);
	assert_int_equal(at[1], 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_optimum),  cmocka_unit_test(odd_series),
		cmocka_unit_test(two_levels),    cmocka_unit_test(coloured_noise),
		cmocka_unit_test(small_steps),   cmocka_unit_test(many_changes),
		cmocka_unit_test(noise_of_sums), cmocka_unit_test(level_without_peripherals)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
