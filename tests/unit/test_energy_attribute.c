/* Energy of spans: against a plain sum over the same spans, recursion, interrupts, lost
 * events, holes, hooks. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/energy/attribute.h"
#include "postproc/energy/integral.h"
#include "postproc/energy/output.h"
#include "postproc/energy/overlap.h"

static struct energy_power power;
static struct energy_events events;
static struct energy_clock the_clock;
static struct energy_result result;
static struct litifut_error error;
static const struct energy_hook no_hook;

/* A recording of text, in which the power of a millisecond is its number: 0 W, 1 W, 2 W... */
static void make_power(int count, int hole_from, int hole_to)
{
	char *text = malloc(64 + 40u * (size_t)count);
	int at = sprintf(text, "time (ms),power (W),power 2 (W)\n");

	assert_non_null(text);
	for (int i = 0; i < count; i++) {
		if (i < hole_from || i >= hole_to)
			at += sprintf(text + at, "%d,%d,0.5\n", i, i);
	}
	assert_int_equal(energy_power_read(&power, "p", (uint8_t *)text, (size_t)at, NULL, &error),
			 LITIFUT_OK);
	free(text);
}

static void make_events(const char *lines)
{
	char text[4096];

	snprintf(text, sizeof(text), "litifut-events 1\nhz 1000\n%s", lines);
	events = (struct energy_events){0};
	assert_int_equal(energy_events_read(&events, "e", text, strlen(text), &error), LITIFUT_OK);
	assert_int_equal(energy_events_finish(&events, &error), LITIFUT_OK);
	struct energy_knot same = {0, (double)events.first * 1e-3};
	assert_int_equal(energy_clock_line(&the_clock, &same, 1, &error), LITIFUT_OK);
}

static void attribute(const struct energy_hook *hook)
{
	result = (struct energy_result){0};
	assert_int_equal(energy_attribute(&result, &power, &events, &the_clock, hook, &error),
			 LITIFUT_OK);
}

static int release(void **state)
{
	(void)state;
	energy_power_release(&power);
	energy_events_release(&events);
	energy_clock_release(&the_clock);
	energy_result_release(&result);
	return 0;
}

static const struct energy_function *function(const char *name)
{
	for (size_t i = 0; i < events.name_count; i++) {
		if (!strcmp(events.names[i], name))
			return &result.functions[i];
	}
	fail_msg("no function %s", name);
	return NULL;
}

/* Millijoules from millisecond `a` to `b`: the sum of their numbers. */
static double between(double a, double b)
{
	double sum = 0;

	for (int i = 0; i < 1000; i++)
		sum += i * fmax(0, fmin(b, i + 1) - fmax(a, i)) * 1e-3;
	return sum;
}

#define assert_near(value, wanted) assert_true(fabs((value) - (wanted)) < 1e-9)

/* What must hold for every result. */
static void check_sums(void)
{
	for (unsigned k = 0; k < result.channels; k++) {
		double sum = result.outside[k] + result.transfer[k] + result.hooks[k];
		for (size_t i = 0; i < result.function_count; i++)
			sum += result.functions[i].self[k];
		assert_true(fabs(sum - result.total[k]) <= 1e-9 * fabs(result.total[k]));
	}
}

static void nested(void **state)
{
	(void)state;
	make_power(100, 0, 0);
	make_events("enter 10 0 main\nenter 20 0 work\nenter 30 0 leaf\nleave 35 0\nleave 50 0\n"
		    "enter 60 0 leaf\nleave 62 0\nleave 90 0\n");
	attribute(&no_hook);
	check_sums();
	assert_near(function("leaf")->self[0], between(30, 35) + between(60, 62));
	assert_near(function("work")->self[0], between(20, 30) + between(35, 50));
	assert_near(function("work")->inclusive[0], between(20, 50));
	assert_near(function("main")->inclusive[0], between(10, 90));
	assert_near(function("main")->inclusive[1], 0.04);
	assert_near(result.outside[0], between(0, 10) + between(90, 100));
	assert_int_equal(function("leaf")->calls, 2);
	assert_int_equal(function("main")->made, 2);
	assert_near(function("leaf")->least, between(60, 62) + 1e-3);
	assert_int_equal(result.edge_count, 4);
}

static void recursion(void **state)
{
	(void)state;
	make_power(100, 0, 0);
	make_events("enter 10 0 a\nenter 20 0 b\nenter 30 0 a\nenter 40 0 a\nleave 50 0\n"
		    "leave 60 0\nleave 70 0\nleave 80 0\nenter 85 0 b\nenter 86 0 a\nleave 88 0\n"
		    "leave 90 0\n");
	attribute(&no_hook);
	check_sums();
	assert_near(function("a")->inclusive[0], between(10, 80) + between(86, 88));
	assert_near(function("b")->inclusive[0], between(20, 70) + between(85, 90));
	assert_near(function("a")->self[0],
		    between(10, 20) + between(30, 60) + between(70, 80) + between(86, 88));
}

static void interrupts_and_tails(void **state)
{
	(void)state;
	make_power(100, 0, 0);
	/* an interrupt inside of work; a tail call; a task that gives way to another one */
	make_events("enter 10 0 main\nenter 20 0 work\nenter 30 7 irq\nleave 32 7\nleave 40 0\n"
		    "enter 50 0 first\ntail 55 0 second\nleave 60 0\nenter 70 3 task\n"
		    "enter 75 0 work\nleave 77 0\nleave 80 3\nleave 90 0\n");
	attribute(&no_hook);
	check_sums();
	assert_near(function("irq")->self[0], between(30, 32));
	assert_near(function("work")->self[0], between(20, 30) + between(32, 40) + between(75, 77));
	assert_near(function("work")->inclusive[0], function("work")->self[0]);
	assert_near(function("first")->self[0], between(50, 55));
	assert_near(function("second")->self[0], between(55, 60));
	/* the time after 77 is still that of lane 0, until lane 3 is heard of */
	assert_near(function("task")->self[0], between(70, 75));
}

static void lost_and_open(void **state)
{
	(void)state;
	make_power(100, 0, 0);
	make_events("leave 5 0\nenter 10 0 main\nenter 20 0 work\nlost 30 0\nleave 35 0\n"
		    "enter 40 0 work\n");
	attribute(&no_hook);
	check_sums();
	assert_int_equal(result.counts.stray, 2);
	assert_int_equal(result.counts.lost, 1);
	assert_int_equal(result.counts.open, 1);
	assert_near(function("work")->self[0], between(20, 30));
	assert_near(function("main")->self[0], between(10, 20));
}

/* The recording is longer than the trace: what comes behind the last event belongs to no call. */
static void behind_the_trace(void **state)
{
	(void)state;
	make_power(100, 0, 0);
	make_events("enter 10 0 main\nenter 20 0 work\nenter 30 7 irq\npin 40\n");
	attribute(&no_hook);
	check_sums();
	assert_int_equal(result.counts.open, 3);
	assert_near(function("main")->self[0], between(10, 20));
	assert_near(function("work")->self[0], between(20, 30));
	assert_near(function("irq")->self[0], between(30, 40));
	assert_near(function("irq")->inclusive[0], between(30, 40));
	assert_near(result.outside[0], between(0, 10) + between(40, 100));
}

/* The recording ends before the trace does. */
static void beyond_the_recording(void **state)
{
	(void)state;
	make_power(100, 0, 0);
	make_events("enter 10 0 main\npin 150\n");
	attribute(&no_hook);
	check_sums();
	assert_near(function("main")->self[0], between(10, 100));
	assert_near(result.outside[0], between(0, 10));
}

static struct energy_overlap overlapped;

static double overlap(const char *lines, double shift)
{
	energy_events_release(&events);
	energy_clock_release(&the_clock);
	make_events(lines);
	struct energy_knot moved = {0, (double)events.first * 1e-3 + shift};
	energy_clock_release(&the_clock);
	assert_int_equal(energy_clock_line(&the_clock, &moved, 1, &error), LITIFUT_OK);
	energy_overlap(&power, &events, &the_clock, &overlapped);
	assert_near(overlapped.to - overlapped.from, (double)(events.last - events.first) * 1e-3);
	return overlapped.share;
}

static void overlaps(void **state)
{
	static const char trace[] = "enter 10 0 main\nleave 50 0\n";

	(void)state;
	make_power(100, 0, 0);
	assert_near(overlap(trace, 0), 1);
	assert_near(overlapped.before + overlapped.after, 0);
	assert_near(overlap(trace, 0.07), 0.5);
	assert_near(overlapped.before, 0);
	assert_near(overlapped.after, 0.02);
	assert_near(overlap(trace, -0.03), 0.5);
	assert_near(overlapped.before, 0.02);
	assert_near(overlapped.after, 0);
	assert_near(overlap(trace, 0.0895), 0.0125);
	assert_near(overlap(trace, 0.0905), 0);
	assert_near(overlap(trace, -1), 0);
	assert_near(overlapped.before, 0.04);
	/* the recording lies within the trace */
	assert_near(overlap("enter 10 0 main\nleave 1010 0\n", -0.5), 1);
	/* one moment */
	assert_near(overlap("enter 10 0 main\n", 0), 1);
	assert_near(overlap("enter 10 0 main\n", 1), 0);
}

static void holes_and_transfers(void **state)
{
	(void)state;
	make_power(100, 40, 60);
	make_events("enter 10 0 main\nenter 30 0 work\nleave 70 0\ntransfer 80 \n"
		    "transferred 85\nleave 90 0\n");
	attribute(&no_hook);
	check_sums();
	assert_near(function("work")->self[0], between(30, 40) + between(60, 70));
	assert_near(function("work")->unknown, 0.02);
	assert_near(result.unknown, 0.02);
	assert_near(result.transfer[0], between(80, 85));
	assert_near(function("main")->self[0], between(10, 30) + between(70, 80) + between(85, 90));
}

static void hooks_are_taken_out(void **state)
{
	/* alpha: 1 + 2 ms in the callee, beta: 0.5 + 0.25 ms in the caller, at 4 W */
	const struct energy_hook hook = {.share = {1},
					 .enter_before = 0.5e-3,
					 .enter_after = 1e-3,
					 .exit_before = 2e-3,
					 .exit_after = 0.25e-3,
					 .watts = 4,
					 .known = true};

	(void)state;
	make_power(100, 0, 0);
	make_events("enter 10 0 main\nenter 30 0 work\nleave 50 0\nenter 60 0 work\ncut 70 0\n"
		    "leave 90 0\n");
	attribute(&hook);
	check_sums();
	assert_near(function("work")->self[0],
		    between(30, 50) + between(60, 70) - 4 * (2 * 1e-3 + 2e-3));
	assert_near(function("main")->self[0], between(10, 30) + between(50, 60) + between(70, 90) -
						       4 * (1e-3 + 2e-3 + 2 * 0.5e-3 + 0.25e-3));
	assert_near(function("main")->inclusive[0],
		    between(10, 90) - 4 * (2 * 1e-3 + 2e-3) -
			    4 * (1e-3 + 2e-3 + 2 * 0.5e-3 + 0.25e-3));
	assert_near(result.hooks[0], 4 * (3 * 1.5e-3 + 2 * 2.25e-3));
	assert_near(function("work")->self_seconds, 0.03 - 4e-3);
	/* an occurrence has the same taken out as the sum */
	assert_near(function("work")->least,
		    fmin(between(30, 50) + 0.01 - 4 * 3e-3, between(60, 70) + 5e-3 - 4 * 1e-3));
}

/* A program of 20,000 random calls against a plain integral of each of its spans. */
static void many_calls(void **state)
{
	char *text = malloc(2000000);
	uint32_t random = 1;
	int at, depth = 0, time = 1;
	double sum[5] = {0};
	int stack[64];

	(void)state;
	assert_non_null(text);
	make_power(1000, 300, 310);
	at = sprintf(text, "litifut-events 1\nhz 1000000\nbits 16\n");
	for (int i = 0; i < 20000; i++) {
		random = random * 1664525u + 1013904223u;
		int step = (int)(random >> 20) % 90;
		if (depth)
			sum[stack[depth - 1]] +=
				between(time * 1e-3, (time + step) * 1e-3) -
				between(fmax(300, time * 1e-3), fmin(310, (time + step) * 1e-3));
		time += step;
		bool up = depth < 60 && (depth == 0 || random >> 31);
		if (up) {
			stack[depth++] = (int)(random >> 16) % 5;
			at += sprintf(text + at, "enter %d 0 f%d\n", time & 0xffff,
				      stack[depth - 1]);
		} else {
			at += sprintf(text + at, "leave %d 0\n", time & 0xffff);
			depth--;
		}
	}
	while (depth) {
		at += sprintf(text + at, "leave %d 0\n", time & 0xffff);
		depth--;
	}
	assert_int_equal(energy_events_read(&events, "e", text, (size_t)at, &error), LITIFUT_OK);
	assert_int_equal(energy_events_finish(&events, &error), LITIFUT_OK);
	free(text);
	struct energy_knot same = {0, (double)events.first * 1e-6};
	assert_int_equal(energy_clock_line(&the_clock, &same, 1, &error), LITIFUT_OK);
	attribute(&no_hook);
	check_sums();
	double all = 0, found = 0;
	for (int i = 0; i < 5; i++) {
		char name[3] = {'f', (char)('0' + i), 0};
		found += function(name)->self[0];
		all += sum[i];
	}
	assert_true(fabs(all - found) < 1e-9 * all);
	assert_true(result.unknown > 0.0099 && result.unknown < 0.0101);
}

static void texts(void **state)
{
	static const char *const wrong[] = {"litifut-events 1\nenter 1 0 f\n",
					    "litifut-events 1\nhz 0\n",
					    "litifut-events 1\nhz 1\nenter 1 0\n",
					    "litifut-events 1\nhz 1\nenter x 0 f\n",
					    "litifut-events 1\nhz 1\njump 1 0 f\n",
					    "litifut-events 1\nhz 1\nbits 99\n",
					    "litifut-events 1\nhz 1\nbits 8\nleave 256 0\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct energy_events bad = {0};
		assert_int_not_equal(
			energy_events_read(&bad, "e", wrong[i], strlen(wrong[i]), &error),
			LITIFUT_OK);
		energy_events_release(&bad);
	}
}

/* Lanes that a timeline gives one after another come into the order of time. */
static void timeline(void **state)
{
	static const struct post_timeline_event given[] = {
		{.kind = POST_EVENT_ENTER, .lane = 1, .time = 100, .callee = 5},
		{.kind = POST_EVENT_LEAVE, .lane = 1, .time = 300},
		{.kind = POST_EVENT_ENTER, .lane = 9, .time = 150, .callee = 6},
		{.kind = POST_EVENT_MARK, .lane = 9, .time = 160, .value = ENERGY_MARK_PIN},
		{.kind = POST_EVENT_LEAVE, .lane = 9, .time = 200},
		{.kind = POST_EVENT_SAMPLE, .lane = 9, .time = 210},
		{.kind = POST_EVENT_ENTER, .lane = 9, .time = 250, .callee = 7},
		{.kind = POST_EVENT_LEAVE, .lane = 9, .time = 400, .flags = POST_EVENT_OPEN}};
	static const uint64_t times[] = {100, 150, 160, 200, 250, 300};

	(void)state;
	struct post_timeline_sink sink = energy_events_sink(&events);
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		sink.push(sink.context, &given[i]);
	assert_int_equal(energy_events_finish(&events, &error), LITIFUT_OK);
	assert_int_equal(events.count, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(events.items[i].time, times[i]);
	assert_int_equal(events.lane_count, 2);
	assert_int_equal(events.first, 100);
	assert_int_equal(events.last, 400); /* what was open then did not end, but ran until then */
}

/* The pictures walk along the events themselves: where that fails, they say so. */
static void pictures_that_fail(void **state)
{
	static const struct energy_format *const formats[] = {&energy_format_chrome,
							      &energy_format_svg};
	const char *names[] = {"main"};
	struct energy_settings settings = {0};
	struct energy_analysis analysis = {0};

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* it ends a program that asks for too much */
#endif
	make_power(100, 0, 0);
	make_events("enter 10 0 main\nleave 90 0\n");
	attribute(&no_hook);
	analysis.power = power;
	analysis.events = events;
	analysis.clock = the_clock;
	analysis.result = result;
	analysis.names = names;
	analysis.name_count = 1;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		struct energy_output output = {.file = fopen("/dev/null", "w"),
					       .analysis = &analysis,
					       .settings = &settings};

		assert_non_null(output.file);
		analysis.events.lane_count = events.lane_count;
		formats[i]->write(&output);
		assert_int_equal(output.status, LITIFUT_OK);
		analysis.events.lane_count = SIZE_MAX / 2; /* more than there can be memory for */
		formats[i]->write(&output);
		assert_int_not_equal(output.status, LITIFUT_OK);
		fclose(output.file);
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, release)
	const struct CMUnitTest tests[] = {TEST(nested),
					   TEST(recursion),
					   TEST(interrupts_and_tails),
					   TEST(lost_and_open),
					   TEST(behind_the_trace),
					   TEST(beyond_the_recording),
					   TEST(overlaps),
					   TEST(holes_and_transfers),
					   TEST(hooks_are_taken_out),
					   TEST(many_calls),
					   TEST(texts),
					   TEST(timeline),
					   TEST(pictures_that_fail)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
