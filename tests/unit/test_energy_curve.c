/* The curve of a page: peaks of one sample, holes, two clocks that drift, the mean. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "postproc/energy/curve.h"

#define SAMPLES 100000u
#define HOLE 30000u /* of so many samples, and as many before it */
#define INTERVAL 1e-5

/* One channel; the analyser's clock runs 1 % fast and begins 2 s before. */
struct fixture {
	struct energy_power power;
	struct energy_run runs[2];
	struct energy_clock clock;
	struct energy_knot knots[3];
};

static void make(struct fixture *fixture)
{
	float *watts = malloc(SAMPLES * sizeof(*watts));

	assert_non_null(watts);
	for (size_t i = 0; i < SAMPLES; i++)
		watts[i] = 0.010f + 0.001f * (float)(i % 7);
	*fixture = (struct fixture){
		.power = {.count = SAMPLES,
			  .interval = INTERVAL,
			  .channels = 1,
			  .watts = {watts},
			  .runs = fixture->runs,
			  .run_count = 2},
		.runs = {{2, 0, HOLE}, {2 + 2 * HOLE * INTERVAL, HOLE, SAMPLES - HOLE}},
		.clock = {.knots = fixture->knots, .knot_count = 3, .shift = 0.25, .drift = 0.01},
		.knots = {{0, 1.75}, {0.4, 1.75 + 0.404}, {1, 1.75 + 1.01}}};
}

static size_t bucket_of(const struct energy_curve *curve, double device)
{
	return (size_t)((device - curve->from) / curve->width);
}

static void keeps_all(void **state)
{
	struct fixture fixture;
	struct energy_curve curve;
	struct litifut_error error = {0};
	size_t hint = 0, empty = 0;
	double sum = 0, joules = 0, seconds = 0;

	(void)state;
	make(&fixture);
	const struct energy_power *power = &fixture.power;
	const double end = energy_clock_unmap(&fixture.clock, energy_power_end(power), &hint);
	assert_true(fabs(end - 1.3 / 1.01) < 1e-9);
	power->watts[0][70000] = 3;  /* at 1 s by the analyser */
	power->watts[0][80000] = -1; /* at 1.1 s */
	assert_int_equal(energy_curve_make(&curve, power, 0, &fixture.clock, 0, end, 1000, &error),
			 LITIFUT_OK);
	assert_int_equal(curve.count, 1000);
	for (size_t i = 0; i < curve.count; i++) {
		if (curve.low[i] > curve.high[i]) {
			empty++;
			continue;
		}
		assert_true(curve.low[i] <= curve.mean[i] && curve.mean[i] <= curve.high[i]);
		sum += curve.mean[i];
		assert_true(curve.high[i] < 0.02 || i == bucket_of(&curve, 1 / 1.01));
		assert_true(curve.low[i] > 0 || i == bucket_of(&curve, 1.1 / 1.01));
	}
	assert_true(curve.high[bucket_of(&curve, 1 / 1.01)] == 3);
	assert_true(curve.low[bucket_of(&curve, 1.1 / 1.01)] == -1);
	/* 0.3 s of 1.3 s */
	assert_in_range(empty, 229, 231);
	for (size_t i = 0; i < SAMPLES; i++)
		joules += (double)power->watts[0][i] * INTERVAL;
	seconds = SAMPLES * INTERVAL;
	assert_true(fabs(sum / (1000.0 - (double)empty) / (joules / seconds) - 1) < 2e-3);
	energy_curve_release(&curve);
	free(fixture.power.watts[0]);
}

/* Of a part, not more buckets than samples, so none is empty. */
static void part(void **state)
{
	struct fixture fixture;
	struct energy_curve curve;
	struct litifut_error error = {0};

	(void)state;
	make(&fixture);
	assert_int_equal(energy_curve_make(&curve, &fixture.power, 0, &fixture.clock, 0.1, 0.101,
					   1000, &error),
			 LITIFUT_OK);
	assert_in_range(curve.count, 99, 102);
	for (size_t i = 0; i < curve.count; i++)
		assert_true(curve.low[i] <= curve.high[i] && curve.low[i] >= 0.01f);
	/* and of no time at all there is still one */
	energy_curve_release(&curve);
	assert_int_equal(energy_curve_make(&curve, &fixture.power, 0, &fixture.clock, 0.1, 0.1,
					   1000, &error),
			 LITIFUT_OK);
	assert_int_equal(curve.count, 1);
	energy_curve_release(&curve);
	free(fixture.power.watts[0]);
}

static void there_and_back(void **state)
{
	struct fixture fixture;
	size_t to = 0, from = 0;

	(void)state;
	make(&fixture);
	fixture.knots[1].analyser += 0.002; /* it wanders */
	for (double time = -0.5; time < 1.5; time += 0.001) {
		double analyser = energy_clock_map(&fixture.clock, time, &to);
		assert_true(fabs(energy_clock_unmap(&fixture.clock, analyser, &from) - time) <
			    1e-12);
	}
	free(fixture.power.watts[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(keeps_all), cmocka_unit_test(part),
					   cmocka_unit_test(there_and_back)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
