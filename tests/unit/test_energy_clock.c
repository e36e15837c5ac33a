/* Marks against edges: what was lost, doubled or shifted, clocks that drift and wander. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/energy/clock.h"

#define STEP 1e-5

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

struct run {
	size_t marks, edges;
	double mark[400], edge[800], truth[400];
	double drift, wander;
};

/* Marks at start (two pulses), every `period`, and at the end (three). */
static void make(struct run *run, size_t count, double period, double drift, double wander)
{
	double time = 3.25, device = 0.5, frequency = drift;

	*run = (struct run){.drift = drift, .wander = wander};
	for (size_t i = 0; i < count; i++) {
		double length = i == 0 || i + 2 >= count ? 4e-4 : period;
		run->mark[run->marks] = device;
		run->truth[run->marks++] = time;
		/* what the analyser sees: in the middle of the sample of the edge */
		run->edge[run->edges++] = floor(time / STEP) * STEP + STEP / 2;
		device += length;
		time += length * (1 + frequency);
		frequency += wander * sqrt(length) * normal();
	}
}

static void remove_at(double *values, size_t *count, size_t at)
{
	memmove(values + at, values + at + 1, (*count - at - 1) * sizeof(*values));
	(*count)--;
}

static void insert(double *values, size_t *count, double value)
{
	size_t at = *count;

	while (at && values[at - 1] > value)
		at--;
	memmove(values + at + 1, values + at, (*count - at) * sizeof(*values));
	values[at] = value;
	(*count)++;
}

static double worst(const struct run *run, struct energy_clock *clock)
{
	double most = 0;
	size_t hint = 0;

	for (size_t i = 0; i < run->marks; i++)
		most = fmax(most,
			    fabs(energy_clock_map(clock, run->mark[i], &hint) - run->truth[i]));
	return most;
}

static double fitted(struct run *run, struct energy_clock *clock)
{
	struct litifut_error error;

	assert_int_equal(
		energy_clock_fit(clock, run->mark, run->marks, run->edge, run->edges, STEP, &error),
		LITIFUT_OK);
	return worst(run, clock);
}

static void drifts(void **state)
{
	static const double drift[] = {0, 35e-6, -1e-4, 0.01, -0.03};
	static const size_t counts[] = {2, 3, 10, 60, 300};

	(void)state;
	seed = 1;
	for (size_t i = 0; i < 5; i++) {
		for (size_t k = 0; k < 5; k++) {
			struct run run;
			struct energy_clock clock;
			make(&run, counts[k], 0.10000372, drift[i], 0);
			double off = fitted(&run, &clock);
			assert_true(off <= STEP);
			assert_int_equal(clock.used, counts[k]);
			if (counts[k] >= 60)
				assert_true(off < STEP / 4);
			energy_clock_release(&clock);
		}
	}
}

static void lost_and_doubled(void **state)
{
	(void)state;
	for (uint64_t trial = 1; trial <= 200; trial++) {
		struct run run;
		struct energy_clock clock;
		seed = trial;
		make(&run, 40, 0.1, (uniform() - 0.5) * 0.04, 0);
		for (int i = 0; i < 4; i++)
			remove_at(run.edge, &run.edges, (size_t)(uniform() * (double)run.edges));
		for (int i = 0; i < 3; i++)
			insert(run.edge, &run.edges,
			       run.edge[(size_t)(uniform() * (double)run.edges)] + 60e-6);
		insert(run.edge, &run.edges, 3.25 + uniform() * 3.7);
		insert(run.edge, &run.edges, 1.0);
		double off = fitted(&run, &clock);
		if (off > 1.5 * STEP) {
			char text[256];
			fprintf(stderr, "trial %d: %g: %s\n", (int)trial, off,
				energy_clock_describe(&clock, text, sizeof(text)));
		}
		assert_true(off <= 1.5 * STEP);
		assert_true(clock.used >= 30);
		energy_clock_release(&clock);
	}
}

static void wanders(void **state)
{
	struct run run;
	struct energy_clock clock;
	double sum = 0;

	(void)state;
	for (uint64_t trial = 1; trial <= 20; trial++) {
		seed = trial;
		make(&run, 300, 0.2, 20e-6, 1e-6);
		double off = fitted(&run, &clock);
		assert_true(clock.smoothed);
		sum += clock.rms;
		assert_true(off < STEP);
		energy_clock_release(&clock);
	}
	assert_true(sum / 20 < 0.5 * STEP);
	/* one that does not wander stays a line */
	make(&run, 300, 0.2, 20e-6, 0);
	fitted(&run, &clock);
	assert_false(clock.smoothed);
	assert_true(fabs(clock.drift - 20e-6) < 1e-7);
	energy_clock_release(&clock);
}

static void other_runs(void **state)
{
	struct run run, other;
	struct energy_clock clock;
	struct litifut_error error;

	(void)state;
	seed = 3;
	make(&run, 20, 0.1, 0, 0);
	make(&other, 20, 0.3, 0, 0);
	enum litifut_status status = energy_clock_fit(&clock, run.mark, run.marks, other.edge,
						      other.edges, STEP, &error);
	assert_true(status != LITIFUT_OK || clock.used < 10);
	energy_clock_release(&clock);
	assert_int_equal(energy_clock_fit(&clock, run.mark, 1, run.edge, 5, STEP, &error),
			 LITIFUT_ERROR_MISSING);
	energy_clock_release(&clock);
	/* only a period, and one edge lost: it can't be said where */
	run.marks = run.edges = 0;
	for (int i = 0; i < 20; i++) {
		run.mark[run.marks++] = i * 0.1;
		if (i)
			run.edge[run.edges++] = 5 + i * 0.1;
	}
	assert_int_equal(
		energy_clock_fit(&clock, run.mark, run.marks, run.edge, run.edges, STEP, &error),
		LITIFUT_OK);
	assert_true(clock.ambiguous);
	energy_clock_release(&clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(drifts),
					   cmocka_unit_test(lost_and_doubled),
					   cmocka_unit_test(wanders), cmocka_unit_test(other_runs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
