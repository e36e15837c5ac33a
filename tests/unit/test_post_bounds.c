/* Hostile input that is small for what it asks for: memory stays bounded, one line says so,
 * and all events are counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>

#include <cmocka.h>

#include "postproc/formats/run.h"
#include "tests/unit/trace_builder.h"

#define MANY 20000u

static unsigned told;

static void note(void *context, const struct litifut_error *error)
{
	told += strstr(error->message, context) != NULL;
}

/* Reads a trace that a function below has built. Gives how much memory was in use at the
 * end, and in `*count` the lanes and calls that there are. */
static void read(struct trace_builder *builder, const char *line,
		 const struct post_options *options, const char *format, size_t *lanes,
		 size_t *calls, uint64_t *events)
{
	struct post_problems problems = {.report = note, .context = (void *)line};
	struct post_session session = {.problems = &problems, .options = *options};
	struct post_timeline_options window = {
		.window = {.last_event = UINT64_MAX, .last_time = UINT64_MAX}};
	struct post_totals totals;
	struct post_trace *trace;
	FILE *nowhere = fopen("/dev/null", "w");

	assert_non_null(nowhere);
	told = 0;
	trace_builder_finish(builder);
	assert_int_equal(post_trace_open_memory(builder->data, builder->size, "p.trace", &trace,
						&problems, NULL),
			 LITIFUT_OK);
	post_session_take(&session, trace);
	post_session_open(&session);
	struct post_output output = {.file = nowhere, .session = &session, .options = {0}};
	post_run(&session, post_format_find(format), &output, &window, &totals);
	*lanes = session.lane_count;
	*calls = session.call_count;
	*events = totals.shown;
	post_session_close(&session);
	trace_builder_release(builder);
	fclose(nowhere);
}

static const char *const formats[] = {"report", "tsv", "tree"};

static void threads_are_bounded(void **state)
{
	struct post_options options = {.most_threads = 100};
	size_t lanes, calls;
	uint64_t events;

	(void)state;
	for (size_t f = 0; f < 3; f++) {
		struct trace_builder builder;
		trace_builder_start(&builder, f & 1, BUILDER_MACHINE_ARM, 1, "p");
		trace_builder_chunk(&builder, 1, 0, 0);
		for (uint32_t i = 0; i < MANY; i++) {
			trace_builder_control(&builder, LITIFUT_WORD_THREAD, 1, &(uint32_t){i});
			trace_builder_call(&builder, 0x20000);
		}
		read(&builder, "--max-threads", &options, formats[f], &lanes, &calls, &events);
		assert_int_equal(lanes, 101);
		assert_int_equal(events, MANY);
		assert_int_equal(told, 1);
	}
}

static void calls_are_bounded(void **state)
{
	struct post_options options = {.most_calls = 100};
	size_t lanes, calls;
	uint64_t events;

	(void)state;
	for (size_t f = 0; f < 3; f++) {
		struct trace_builder builder;
		trace_builder_start(&builder, f & 1, BUILDER_MACHINE_MIPS, 1, "p");
		trace_builder_chunk(&builder, 1, 0, 0);
		for (uint32_t i = 0; i < MANY; i++)
			trace_builder_call(&builder, 0x20000 + 4 * i);
		read(&builder, "--max-calls", &options, formats[f], &lanes, &calls, &events);
		assert_int_equal(calls, 101);
		assert_int_equal(events, MANY);
		assert_int_equal(told, 1);
	}
}

/* More threads than can be merged by time. */
static void merging_is_bounded(void **state)
{
	struct post_options options = {0};
	struct trace_builder builder;
	size_t lanes, calls;
	uint64_t events;

	(void)state;
	trace_builder_start(&builder, false, BUILDER_MACHINE_ARM, 1, "p");
	trace_builder_header32(&builder, offsetof(struct litifut_trace_header, clock),
			       LITIFUT_CLOCK_MONOTONIC);
	for (uint32_t i = 0; i < MANY; i++) {
		trace_builder_chunk(&builder, i, LITIFUT_CHUNK_TIMED, 1);
		trace_builder_call(&builder, 0x20000);
		trace_builder_word(&builder, i + 1);
	}
	read(&builder, "--tid", &options, "tsv", &lanes, &calls, &events);
	assert_int_equal(lanes, MANY);
	assert_int_equal(events, MANY);
	assert_int_equal(told, 1);
}

static void modules_are_bounded(void **state)
{
	struct post_options options = {0};
	struct litifut_module_record record = {.serial = 1, .text_start = 0x10000};
	struct trace_builder builder;
	size_t lanes, calls;
	uint64_t events;

	(void)state;
	trace_builder_start(&builder, true, BUILDER_MACHINE_ARM, 1, "p");
	for (uint32_t i = 0; i < MANY; i++)
		trace_builder_module(&builder, &record);
	trace_builder_chunk(&builder, 1, 0, 0);
	trace_builder_call(&builder, 0x20000);
	read(&builder, "more than 16384 modules", &options, "report", &lanes, &calls, &events);
	assert_int_equal(events, 1);
	assert_int_equal(told, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_are_bounded),
		cmocka_unit_test(calls_are_bounded),
		cmocka_unit_test(merging_is_bounded),
		cmocka_unit_test(modules_are_bounded),
	};

	return cmocka_run_group_tests_name("post: bounds", tests, NULL, NULL);
}
