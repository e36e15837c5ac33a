/* Interrupts of the tracer's clock: which functions they make longer, and that their time is taken
 * out of these. The clock of these tests overflows each 70 ms, and an interrupt takes 4 ms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/energy/attribute.h"
#include "postproc/energy/waits.h"

#define PERIOD 70
#define INTERRUPT 4

static struct litifut_error error;

struct script {
	char text[1 << 16];
	size_t size;
	unsigned now; /* ms */
};

/* A call of so many milliseconds: with its interrupts, or beside them. */
static void call(struct script *script, const char *name, unsigned length, bool waits)
{
	unsigned end = script->now + length;

	if (!waits) {
		unsigned done = script->now / PERIOD;
		while (done < end / PERIOD) {
			end += INTERRUPT * (end / PERIOD - done);
			done = (end - INTERRUPT) / PERIOD;
		}
	}
	script->size += (size_t)sprintf(script->text + script->size, "enter %u 0 %s\nleave %u 0\n",
					script->now, name, end);
	script->now = end + 3;
}

static struct energy_events read_events(const char *text)
{
	struct energy_events events = {0};

	assert_int_equal(energy_events_read(&events, "e", text, strlen(text), &error), LITIFUT_OK);
	assert_int_equal(energy_events_finish(&events, &error), LITIFUT_OK);
	events.overflow_period = PERIOD * 1e-3;
	return events;
}

static enum energy_waiting waiting(const struct energy_events *events, const char *name)
{
	for (uint32_t i = 0; i < events->name_count; i++)
		if (!strcmp(events->names[i], name))
			return energy_events_waiting(events, i);
	fail_msg("no function %s", name);
	return ENERGY_MAY_WAIT;
}

static void functions_that_wait_are_found(void **state)
{
	struct script *script = calloc(1, sizeof(*script));

	(void)state;
	assert_non_null(script);
	script->size = (size_t)sprintf(script->text, "litifut-events 1\nhz 1000\n");
	for (unsigned i = 0; i < 60; i++) {
		call(script, "waits", i % 3 ? 101 : 156, true);
		call(script, "works", i % 3 ? 90 : 131, false);
		call(script, "differs", 5 * i + i * i % 7, false);
		if (i % 20 == 0)
			call(script, "seldom", 100, false);
	}
	struct energy_events events = read_events(script->text);
	assert_int_equal(energy_waits_find(&events, INTERRUPT * 1e-3, &error), LITIFUT_OK);
	assert_int_equal(waiting(&events, "waits"), ENERGY_WAITS);
	assert_int_equal(waiting(&events, "works"), ENERGY_WORKS);
	assert_int_equal(waiting(&events, "differs"), ENERGY_MAY_WAIT);
	assert_int_equal(waiting(&events, "seldom"), ENERGY_MAY_WAIT);

	/* A clock that does not interrupt. */
	events.overflow_period = 0;
	assert_int_equal(energy_waits_find(&events, INTERRUPT * 1e-3, &error), LITIFUT_OK);
	assert_int_equal(waiting(&events, "works"), ENERGY_MAY_WAIT);
	energy_events_release(&events);
	free(script);
}

/* One second of 1 W, and a hook that takes nothing but the interrupts. */
static struct energy_result attributed(const struct energy_events *events)
{
	const struct energy_hook hook = {
		.interrupt = INTERRUPT * 1e-3, .watts = 1, .share = {1}, .known = true};
	const struct energy_knot same = {0, (double)events->first * 1e-3};
	struct energy_result result = {0};
	struct energy_clock clock;
	struct energy_power power;
	char text[32768];
	int at = sprintf(text, "time (ms),power (W)\n");

	for (int i = 0; i < 1000; i++)
		at += sprintf(text + at, "%d,1\n", i);
	assert_int_equal(energy_power_read(&power, "p", (uint8_t *)text, (size_t)at, NULL, &error),
			 LITIFUT_OK);
	assert_int_equal(energy_clock_line(&clock, &same, 1, &error), LITIFUT_OK);
	assert_int_equal(energy_attribute(&result, &power, events, &clock, &hook, &error),
			 LITIFUT_OK);
	energy_power_release(&power);
	energy_clock_release(&clock);
	return result;
}

#define THREE_CALLS                                                                                \
	"litifut-events 1\nhz 1000\nenter 0 0 outer\nenter 60 0 inner\nleave 221 0\n"              \
	"leave 300 0\n"

static void interrupts_are_taken_out_of_what_works(void **state)
{
	struct energy_events events = read_events(THREE_CALLS);
	struct energy_result result;

	(void)state;
	/* inner: at 70, 140 and 210; outer: at 280 */
	result = attributed(&events);
	assert_int_equal(result.functions[0].hooks.interrupts, 1);
	assert_int_equal(result.functions[1].hooks.interrupts, 3);
	assert_true(result.functions[0].self_seconds > 0.13499 &&
		    result.functions[0].self_seconds < 0.13501);
	assert_true(result.functions[1].self[0] > 0.14899 && result.functions[1].self[0] < 0.14901);
	energy_result_release(&result);

	/* The clock had run before the first event: at 10, 80, 150, 220; 290. */
	events.overflow_begin = 0.06;
	result = attributed(&events);
	assert_int_equal(result.functions[0].hooks.interrupts, 2);
	assert_int_equal(result.functions[1].hooks.interrupts, 3);
	energy_result_release(&result);

	/* At 220 the recorder reads the clock for the return, with interrupts off. */
	events.overflow_off = 0.002;
	result = attributed(&events);
	assert_int_equal(result.functions[0].hooks.interrupts, 3);
	assert_int_equal(result.functions[1].hooks.interrupts, 2);
	energy_result_release(&result);

	/* inner waits */
	events.waits = calloc(2, sizeof(*events.waits));
	assert_non_null(events.waits);
	events.waits[1] = ENERGY_WAITS;
	events.waits_count = 2;
	result = attributed(&events);
	assert_int_equal(result.functions[0].hooks.interrupts, 3);
	assert_int_equal(result.functions[1].hooks.interrupts, 0);
	energy_result_release(&result);
	energy_events_release(&events);
}

static void interrupts_of_the_sender_are_not_the_callers(void **state)
{
	struct energy_events events = read_events("litifut-events 1\nhz 1000\nenter 0 0 outer\n"
						  "transfer 60\ntransferred 221\nleave 300 0\n");

	(void)state;
	struct energy_result result = attributed(&events);
	assert_int_equal(result.functions[0].hooks.interrupts, 1);
	energy_result_release(&result);
	energy_events_release(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(functions_that_wait_are_found),
		cmocka_unit_test(interrupts_are_taken_out_of_what_works),
		cmocka_unit_test(interrupts_of_the_sender_are_not_the_callers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
