/* Functions shorter than a sample, told apart by regression; peripherals that go on after
 * their call; machines read from text. Longer than 500 lines, because all cases look at one
 * simulated run, which is made here. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/energy/analysis.h"

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

static struct energy_analysis analysis;
static struct litifut_error error;

/* One microsecond after another: the power, and at which of them a call begins or ends. */
#define MICROSECONDS 400000
static double watts[MICROSECONDS], radio_watts[MICROSECONDS];
static double tau; /* of the board's capacitors, seconds; 0: none */

struct world {
	char *text;
	size_t at, size;
};

static void say(struct world *world, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct world *world, const char *format, ...)
{
	va_list arguments;

	if (world->size - world->at < 200) {
		world->size = 2 * world->size + 4096;
		world->text = realloc(world->text, world->size);
		assert_non_null(world->text);
	}
	va_start(arguments, format);
	world->at += (size_t)vsnprintf(world->text + world->at, world->size - world->at, format,
				       arguments);
	va_end(arguments);
}

static int spend(int time, int length, double power)
{
	for (int i = 0; i < length && time + i < MICROSECONDS; i++)
		watts[time + i] += power;
	return time + length;
}

/* main (20 mW) calls fast (50 mW, 3 us) and slow (30 mW, 4 us) in turns; send() starts a radio
 * that draws 100 mW for 400 us and 40 mW for 1 ms. The analyser has 10 us a sample. */
static void make_world(double noise, bool two_channels, double expected[4])
{
	struct world events = {0}, power = {0};
	int time = 1000, calls = 0;
	const struct energy_power_options options = {.tau = tau};
	double smeared = 0;

	memset(watts, 0, sizeof(watts));
	memset(radio_watts, 0, sizeof(radio_watts));
	memset(expected, 0, 4 * sizeof(*expected));
	say(&events, "litifut-events 1\nhz 1000000\npin 100\npin 300\nenter 1000 0 main\n");
	while (time < MICROSECONDS - 4000) {
		int step = 2 + (int)(uniform() * 9);
		expected[0] += step * 20e-9;
		time = spend(time, step, 20e-3);
		bool fast = uniform() < 0.5;
		int length = fast ? 3 : 4;
		say(&events, "enter %d 0 %s\n", time, fast ? "fast" : "slow");
		time = spend(time, length, fast ? 50e-3 : 30e-3);
		say(&events, "leave %d 0\n", time);
		expected[fast ? 1 : 2] += length * (fast ? 50e-9 : 30e-9);
		if (++calls % 500 == 0) {
			say(&events, "enter %d 0 send\n", time);
			time = spend(time, 5, 25e-3);
			say(&events, "leave %d 0\n", time);
			for (int i = 0; i < 1400; i++)
				radio_watts[time + i] = i < 400 ? 100e-3 : 40e-3;
			expected[3] += 400 * 100e-9 + 1000 * 40e-9;
		}
	}
	say(&events, "leave %d 0\npin %d\npin %d\n", time, MICROSECONDS - 1000, MICROSECONDS - 500);
	say(&power, "time (us),power (W)%s,D0\n", two_channels ? ",radio power (W)" : "");
	for (int i = 0; i < MICROSECONDS; i += 10) {
		double sum = 0, radio = 0;
		bool pin = false;
		for (int k = i; k < i + 10; k++) {
			sum += watts[k] / 10;
			radio += radio_watts[k] / 10;
			pin |= (k >= 100 && k < 200) || (k >= 300 && k < 400) ||
			       (k >= MICROSECONDS - 1000 && k < MICROSECONDS - 900) ||
			       (k >= MICROSECONDS - 500 && k < MICROSECONDS - 400);
		}
		if (two_channels)
			say(&power, "%d,%.9g,%.9g,%d\n", i, sum + noise * normal(),
			    radio + noise * normal(), pin);
		smeared += (sum + radio - smeared) * (tau > 0 ? 1 - exp(-10e-6 / tau) : 1);
		if (!two_channels)
			say(&power, "%d,%.9g,%d\n", i, smeared + noise * normal(), pin);
	}
	analysis = (struct energy_analysis){.power_path = "power"};
	assert_int_equal(energy_power_read(&analysis.power, "power", (uint8_t *)power.text,
					   power.at, &options, &error),
			 LITIFUT_OK);
	assert_int_equal(
		energy_events_read(&analysis.events, "events", events.text, events.at, &error),
		LITIFUT_OK);
	assert_int_equal(energy_events_finish(&analysis.events, &error), LITIFUT_OK);
	analysis.names = (const char *const *)analysis.events.names;
	analysis.name_count = analysis.events.name_count;
	free(events.text);
	free(power.text);
}

static const char radio[] =
	"# a radio\nmachine radio\n state off\n state tx power ? duration 400us\n"
	" state rx power 40mW duration 1ms\n on exit send: off -> tx\n"
	" after tx -> rx\n after rx -> off\n";

static void run(enum energy_choice choice, const char *machine)
{
	const struct energy_settings settings = {
		.resolve = choice, .refine = true, .threshold = 0.5, .budget = 0.05};

	if (machine)
		assert_int_equal(energy_machines_read(&analysis.machines, "m", machine,
						      strlen(machine), &error),
				 LITIFUT_OK);
	assert_int_equal(energy_analysis_clock(&analysis, &settings, &error), LITIFUT_OK);
	assert_int_equal(energy_analysis_run(&analysis, &settings, &error), LITIFUT_OK);
}

static int release(void **state)
{
	(void)state;
	energy_analysis_release(&analysis);
	return 0;
}

static uint32_t number(const char *name)
{
	for (uint32_t i = 0; i < analysis.name_count; i++) {
		if (!strcmp(analysis.names[i], name))
			return i;
	}
	fail_msg("no function %s", name);
	return 0;
}

static double self(const char *name)
{
	return energy_sum(analysis.result.functions[number(name)].self, analysis.power.channels);
}

static double off(double found, double expected)
{
	return fabs(found / expected - 1);
}

static void check_sums(void)
{
	const struct energy_result *r = &analysis.result;
	double parts = energy_sum(r->outside, r->channels) + energy_sum(r->hooks, r->channels) +
		       energy_sum(r->transfer, r->channels) + energy_sum(r->later, r->channels) +
		       analysis.unexplained;

	for (size_t i = 0; i < r->function_count; i++)
		parts += energy_sum(r->functions[i].self, r->channels);
	assert_true(off(parts, energy_total(&analysis)) < 1e-9);
}

/* Marks are seen to a sample, so that the line through them is off at its ends, and differently at
 * each. The regression sets that right. */
static void clock_of_marks(void **state)
{
	const struct energy_settings settings = {
		.resolve = ENERGY_AUTO, .refine = true, .threshold = 0.5, .budget = 0.05};
	struct energy_clock *clock = &analysis.clock;
	double expected[4];

	(void)state;
	seed = 11;
	make_world(1e-4, false, expected);
	assert_int_equal(
		energy_machines_read(&analysis.machines, "m", radio, strlen(radio), &error),
		LITIFUT_OK);
	assert_int_equal(energy_analysis_clock(&analysis, &settings, &error), LITIFUT_OK);
	/* both clocks are the same one, and that of the trace begins with its first event */
	struct energy_knot line[2] = {{0, 100e-6 + 4e-6}, {0.4, 0.4 + 100e-6 + 7e-6}};
	energy_clock_release(clock);
	assert_int_equal(energy_clock_line(clock, line, 2, &error), LITIFUT_OK);
	assert_int_equal(energy_analysis_run(&analysis, &settings, &error), LITIFUT_OK);
	for (double device = 0.05; device < 0.4; device += 0.3) {
		size_t hint = 0;
		const double late = energy_clock_map(clock, device, &hint) - device - 100e-6;
		if (fabs(late) > 0.2e-6)
			fail_msg("at %g s the clock is %g us late", device, late * 1e6);
	}
}

/* Taking the capacitors out makes much of the noise. A regression whose rows are smeared again, as
 * the samples were, is nearer to the truth than one that takes that noise for white. */
static void behind_capacitors(void **state)
{
	double squares[2] = {0}, expected[4];

	(void)state;
	for (unsigned i = 0; i < 8; i++) {
		seed = 10 + i / 2;
		tau = 50e-6;
		make_world(0.5e-3, false, expected);
		tau = 0;
		assert_true(off(analysis.power.kept, exp(-0.2)) < 1e-9);
		if (i % 2)
			analysis.power.kept = 0;
		run(ENERGY_AUTO, radio);
		check_sums();
		assert_true(analysis.use_resolved[number("fast")]);
		squares[i % 2] += pow(self("fast") / expected[1] - 1, 2) / 4;
		energy_analysis_release(&analysis);
	}
	assert_true(squares[0] < 0.002 * 0.002 && squares[0] < 0.5 * squares[1]);
}

static void short_functions(void **state)
{
	double expected[4];

	(void)state;
	seed = 1;
	make_world(0.5e-3, false, expected);
	run(ENERGY_AUTO, radio);
	check_sums();
	assert_true(analysis.use_resolved[number("fast")]);
	for (size_t i = 0; i < analysis.name_count; i++) {
		const struct energy_function *f = &analysis.result.functions[i];
		double inclusive = energy_sum(f->inclusive, analysis.power.channels);
		assert_true(f->least <= f->mean && f->mean <= f->most * (1 + 1e-12));
		assert_true(off(f->mean * (double)f->calls, inclusive) < 1e-9);
	}
	assert_true(off(self("fast"), expected[1]) < 0.01);
	assert_true(off(self("slow"), expected[2]) < 0.01);
	assert_true(off(self("main"), expected[0]) < 0.01);
	assert_true(off(analysis.result.functions[number("send")].later, expected[3]) < 0.01);
	assert_int_equal(analysis.unseen, 0);
	/* the plain integrals can't do that, and their sums are as exact */
	energy_analysis_release(&analysis);
	seed = 1;
	make_world(0.5e-3, false, expected);
	run(ENERGY_NO, radio);
	check_sums();
	assert_true(off(self("fast"), expected[1]) > 0.1);
	assert_true(fabs(analysis.unexplained) < 1e-9 * energy_total(&analysis));
}

/* Processor and radio with a supply each. */
static void two_supplies(void **state)
{
	double expected[4];

	(void)state;
	seed = 2;
	make_world(0.2e-3, true, expected);
	assert_int_equal(analysis.power.channels, 2);
	run(ENERGY_NO, NULL);
	check_sums();
	double on_radio = 0;
	for (size_t i = 0; i < analysis.result.function_count; i++)
		on_radio += analysis.result.functions[i].self[1];
	on_radio += analysis.result.outside[1];
	assert_true(off(analysis.result.total[1], expected[3]) < 0.01);
	assert_true(off(on_radio, expected[3]) < 0.01);
}

/* A radio that the curve does not show is not charged. */
static void not_seen(void **state)
{
	static const char ghost[] =
		"machine ghost\n state off\n state on power 80mW duration 500us\n"
		" on enter send: off -> on\n after on -> off\n";
	double expected[4];

	(void)state;
	seed = 3;
	make_world(0.5e-3, false, expected);
	for (size_t i = 0; i < analysis.power.count; i++) /* the radio is taken out again */
		for (int k = 0; k < 10; k++)
			analysis.power.watts[0][i] -= (float)(radio_watts[10 * i + (size_t)k] / 10);
	run(ENERGY_AUTO, ghost);
	check_sums();
	assert_true(analysis.occupations.count > 10);
	assert_int_equal(analysis.unseen, analysis.occupations.count);
	assert_true(analysis.result.functions[number("send")].later == 0);
}

/* Errors that are printed cover the truth. */
static void error_bars(void **state)
{
	unsigned covered = 0, all = 0;

	(void)state;
	for (uint64_t trial = 1; trial <= 12; trial++) {
		static const char *const names[] = {"main", "fast", "slow"};
		double expected[4];
		seed = 100 + trial;
		make_world(2e-3, false, expected);
		run(ENERGY_YES, radio);
		for (int i = 0; i < 3; i++, all++)
			covered += fabs(self(names[i]) - expected[i]) <=
				   2 * analysis.result.functions[number(names[i])].uncertainty;
		energy_analysis_release(&analysis);
	}
	assert_true(covered * 10 >= all * 9);
}

/* Of a file with powers and of events, whose text is freed. */
static void analyse(const char *power, struct world *events, const struct energy_settings *settings)
{
	analysis = (struct energy_analysis){.power_path = "power"};
	assert_int_equal(energy_power_read(&analysis.power, "power", (const uint8_t *)power,
					   strlen(power), NULL, &error),
			 LITIFUT_OK);
	assert_int_equal(
		energy_events_read(&analysis.events, "events", events->text, events->at, &error),
		LITIFUT_OK);
	assert_int_equal(energy_events_finish(&analysis.events, &error), LITIFUT_OK);
	free(events->text);
	analysis.names = (const char *const *)analysis.events.names;
	analysis.name_count = analysis.events.name_count;
	assert_int_equal(energy_analysis_clock(&analysis, settings, &error), LITIFUT_OK);
	assert_int_equal(energy_analysis_run(&analysis, settings, &error), LITIFUT_OK);
}

/* No more samples than functions: each level would be exact, and none is known. */
static void few_samples(void **state)
{
	static const char power[] = "time (ms),power (W)\n0,0.020\n1,0.031\n2,0.024\n3,0.050\n";
	const struct energy_settings settings = {.at = {{0, 0}},
						 .at_count = 1,
						 .resolve = ENERGY_AUTO,
						 .refine = true,
						 .threshold = 0.5,
						 .budget = 0.05};
	struct world events = {0};

	(void)state;
	say(&events, "litifut-events 1\nhz 1000000\nenter 0 0 main\n");
	for (int i = 0; i < 19; i++)
		say(&events, "enter %d 0 f%d\nleave %d 0\n", 200 * i + 20 + i, i,
		    200 * i + 150 - 5 * i);
	/* recursion, and a call that does not end: the mean is that of the calls that do */
	say(&events, "enter 3850 0 deep\nenter 3860 0 deep\nenter 3870 0 deep\nleave 3871 0\n"
		     "leave 3990 0\nleave 3995 0\nenter 3996 0 f0\npin 3999\n");
	analyse(power, &events, &settings);
	check_sums();
	assert_true(analysis.clock.shift == 0);
	for (size_t i = 0; i < analysis.name_count; i++) {
		const struct energy_function *f = &analysis.result.functions[i];
		assert_false(analysis.use_resolved[i]);
		if (isfinite(f->mean))
			assert_true(f->least <= f->mean * (1 + 1e-12) &&
				    f->mean <= f->most * (1 + 1e-12));
	}
	assert_false(isfinite(analysis.result.functions[number("main")].mean));
	assert_true(off(analysis.result.functions[number("deep")].mean, 0.050 * 276e-6 / 3) < 1e-6);
}

/* The mean of four samples, 10 to 40 mW: what one level leaves of them has three degrees of
 * freedom. */
static void errors_of_few_samples(void **state)
{
	static const char power[] = "time (ms),power (W)\n0,0.010\n1,0.020\n2,0.030\n3,0.040\n";
	const struct energy_settings settings = {.at = {{0, 0}},
						 .at_count = 1,
						 .resolve = ENERGY_NO,
						 .threshold = 0.5,
						 .budget = 0.05};
	const struct energy_hook hook = {0};
	struct energy_resolved resolved = {0};
	struct world events = {0};

	(void)state;
	say(&events, "litifut-events 1\nhz 1000000\nenter 0 0 main\npin 4000\n");
	analyse(power, &events, &settings);
	const struct energy_resolve_input input = {.power = &analysis.power,
						   .events = &analysis.events,
						   .clock = &analysis.clock,
						   .hook = &hook,
						   .result = &analysis.result};
	assert_int_equal(energy_resolve(&resolved, &input, &error), LITIFUT_OK);
	assert_int_equal(resolved.samples, 4);
	assert_int_equal(resolved.unknowns, 1);
	const struct energy_level *level = &resolved.columns[resolved.column_of[number("main")]];
	assert_true(off(level->watts, 0.025) < 0.01);
	assert_true(off(level->error, sqrt(5e-4 / 3 / 4)) < 0.01);
	energy_resolved_release(&resolved);
}

/* Levels for another noise are the same from the sums of the first time as from the samples. */
static void another_noise(void **state)
{
	static const double noises[] = {1e-5, 1e-3, 1e-1};
	/* long enough for columns of its parts, which the noise holds together */
	const struct energy_hook hook = {.enter_after = 20e-6, .exit_before = 20e-6};
	struct energy_resolved first = {0};
	double expected[4];

	(void)state;
	seed = 3;
	make_world(0.5e-3, false, expected);
	run(ENERGY_AUTO, radio);
	struct energy_resolve_input input = {.power = &analysis.power,
					     .events = &analysis.events,
					     .clock = &analysis.clock,
					     .hook = &hook,
					     .result = &analysis.result,
					     .occupations = &analysis.occupations,
					     .state_count = analysis.machines.state_count};
	assert_int_equal(energy_resolve(&first, &input, &error), LITIFUT_OK);
	for (size_t n = 0; n < sizeof(noises) / sizeof(noises[0]); n++) {
		struct energy_resolved second = {0};
		input.noise = noises[n];
		assert_int_equal(energy_resolve_again(&first, &input, &error), LITIFUT_OK);
		assert_int_equal(energy_resolve(&second, &input, &error), LITIFUT_OK);
		assert_int_equal(first.column_count, second.column_count);
		for (size_t i = 0; i < first.column_count; i++) {
			assert_true(first.columns[i].watts == second.columns[i].watts);
			assert_true(first.columns[i].error == second.columns[i].error);
		}
		for (size_t i = 0; i < first.function_count; i++)
			assert_true(first.functions[i].watts == second.functions[i].watts &&
				    first.functions[i].error == second.functions[i].error);
		assert_true(first.residual == second.residual);
		energy_resolved_release(&second);
	}
	energy_resolved_release(&first);
}

static void machines_as_text(void **state)
{
	static const char *const wrong[] = {
		"state off\n",
		"machine a b\n",
		"machine a\n",
		"machine a\nstate off\nstate off\n",
		"machine a\nstate off\nstate on power 5\n",
		"machine a\nstate off\nstate on duration ?\n",
		"machine a\nstate off\nstate on colour 5mW\n",
		"machine a\nstate off\nstate on\non exit f: off -> gone\n",
		"machine a\nstate off\nstate on\non leave f: off -> on\n",
		"machine a\nstate off\nstate on\nafter on -> off\n",
		"machine a\nstate off\nstate on\nhello\n"};
	struct energy_machines machines = {0}, again = {0};
	char *text = NULL;
	size_t size;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		memset(&error, 0, sizeof(error));
		assert_int_not_equal(
			energy_machines_read(&machines, "m", wrong[i], strlen(wrong[i]), &error),
			LITIFUT_OK);
		assert_non_null(strstr(error.message, "line "));
		energy_machines_release(&machines);
	}
	assert_int_equal(energy_machines_read(&machines, "m", radio, strlen(radio), &error),
			 LITIFUT_OK);
	assert_true(isnan(machines.items[0].states[1].watts));
	FILE *file = open_memstream(&text, &size);
	assert_non_null(file);
	energy_machines_write(&machines, file);
	fclose(file);
	assert_int_equal(energy_machines_read(&again, "m", text, size, &error), LITIFUT_OK);
	assert_int_equal(again.items[0].transition_count, 3);
	assert_true(fabs(again.items[0].states[2].watts - 0.04) < 1e-12);
	assert_true(fabs(again.items[0].states[1].seconds - 4e-4) < 1e-12);
	free(text);
	energy_machines_release(&machines);
	energy_machines_release(&again);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, release)
	const struct CMUnitTest tests[] = {TEST(short_functions),   TEST(clock_of_marks),
					   TEST(behind_capacitors), TEST(two_supplies),
					   TEST(not_seen),          TEST(error_bars),
					   TEST(few_samples),       TEST(errors_of_few_samples),
					   TEST(another_noise),     TEST(machines_as_text)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
