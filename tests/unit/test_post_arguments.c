/* Arguments in a trace: what is written is read, in either byte order, and nothing that a damaged
 * file has is taken for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/formats/text.h"
#include "postproc/sources/arguments.h"
#include "postproc/sources/trace.h"
#include "tests/unit/trace_builder.h"

#define FIELD(type, number) ((uint32_t)LITIFUT_ARGUMENT_FIELD(LITIFUT_ARGUMENT_##type, number))
#define WORDS(...)                                                                                 \
	(const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

/* -1 as number 0, 0 as number 1, "ab\"cd" as number 12 */
static const uint32_t good[] = {LITIFUT_ARGUMENT_HEAD(3) | LITIFUT_ARGUMENT_ZERO(1),
				FIELD(SIGNED, 0) | FIELD(UNSIGNED, 1) << 8 |
					FIELD(STRING, 12) << 16,
				UINT32_MAX,
				1,
				LITIFUT_STRING_HEAD(5, true),
				0x63226261,
				0x64};

static char *text_of(const struct post_call_arguments *arguments)
{
	struct post_session session = {0}; /* without a file, nothing has a name */
	const struct post_timeline_event event = {.arguments = arguments};
	struct post_argument_place place = {0};
	struct post_argument argument;
	struct post_text text = {0};
	char name[16];

	while (post_argument_next(arguments, &place, &argument)) {
		post_text_format(&text,
				 "%s=", post_argument_name(&session, &event, &argument, name));
		post_text_add_argument(&text, &argument);
		post_text_add(&text, ";");
	}
	return post_text_take(&text);
}

static void is_read_as(const uint32_t *words, size_t count, const char *expected)
{
	struct post_call_arguments arguments = {.count = (uint32_t)count};
	char *text;

	memcpy(arguments.words, words, count * sizeof(*words));
	text = text_of(&arguments);
	assert_string_equal(text, expected);
	free(text);
}

static void values_are_read(void **state)
{
	(void)state;
	is_read_as(good, sizeof(good) / sizeof(*good), "arg0=-1;arg1=0;arg12=\"ab\\\"cd\"...;");
	is_read_as(WORDS(LITIFUT_ARGUMENT_HEAD(1), FIELD(PLAIN, 31), 65535), "returned=65535;");
	is_read_as(WORDS(LITIFUT_ARGUMENT_HEAD(1), FIELD(PLAIN, 31), 65536), "returned=0x10000;");
	is_read_as(WORDS(LITIFUT_ARGUMENT_HEAD(1), FIELD(PLAIN, 31), 0xfffff000),
		   "returned=-4096;");
	is_read_as(WORDS(LITIFUT_ARGUMENT_HEAD(1), FIELD(PLAIN, 31), 0xffffefff),
		   "returned=0xffffefff;");
	is_read_as(WORDS(LITIFUT_ARGUMENT_HEAD(1), FIELD(UNREADABLE, 2), 16), "arg2=0x10;");
	is_read_as(WORDS(LITIFUT_ARGUMENT_HEAD(1), FIELD(STRING, 2), LITIFUT_STRING_HEAD(0, false)),
		   "arg2=\"\";");
}

static void damage_ends_them(void **state)
{
	(void)state;
	/* every way of being too short */
	for (size_t count = 0; count < sizeof(good) / sizeof(*good); count++)
		is_read_as(good, count,
			   count < 3   ? ""
			   : count < 4 ? "arg0=-1;"
				       : "arg0=-1;arg1=0;");
	/* no head, too many, no type, no value, a string with an end in it */
	is_read_as(WORDS(1, FIELD(SIGNED, 0), 7), "");
	is_read_as(WORDS(LITIFUT_ARGUMENT_HEAD(13), 0x20202020, 0x20202020, 0x20202020, 0x20, 7),
		   "");
	is_read_as(WORDS(LITIFUT_ARGUMENT_HEAD(1), 3, 7), "");
	is_read_as(WORDS(LITIFUT_ARGUMENT_HEAD(1), FIELD(SIGNED, 0), 0), "");
	is_read_as(WORDS(LITIFUT_ARGUMENT_HEAD(1), FIELD(STRING, 0), LITIFUT_STRING_HEAD(4, false),
			 0x61006161),
		   "");
	is_read_as(WORDS(LITIFUT_ARGUMENT_HEAD(1), FIELD(STRING, 0),
			 LITIFUT_STRING_HEAD(0xffff, false), 0x61616161),
		   "");
}

/* They go with the event behind them, and with no other. */
static void an_event_has_its_own(void **state)
{
	for (int big = 0; big < 2; big++) {
		struct post_problems problems = {0};
		struct post_buffer buffer = {0};
		struct trace_builder builder;
		struct litifut_error error;
		struct post_cursor cursor;
		struct post_trace *trace;
		struct post_item item;
		char *text;

		(void)state;
		trace_builder_start(&builder, big, BUILDER_MACHINE_ARM, 7, "program");
		trace_builder_chunk(&builder, 7, 0, 0);
		trace_builder_call(&builder, 0x10010);
		trace_builder_control(&builder, LITIFUT_WORD_ARGUMENTS,
				      sizeof(good) / sizeof(*good), good);
		trace_builder_indirect(&builder, 0x10020, 0x20000);
		trace_builder_call(&builder, 0x10030);
		trace_builder_control(&builder, LITIFUT_WORD_ARGUMENTS,
				      sizeof(good) / sizeof(*good), good);
		trace_builder_finish(&builder);
		assert_int_equal(post_trace_open_memory(builder.data, builder.size, "trace", &trace,
							&problems, &error),
				 LITIFUT_OK);
		post_cursor_start(&cursor, trace, 0, &buffer, &problems);
		assert_true(post_cursor_next(&cursor, &item));
		assert_int_equal(item.return_address, 0x10010);
		assert_null(item.arguments);
		assert_true(post_cursor_next(&cursor, &item));
		assert_int_equal(item.callee, 0x20000);
		assert_non_null(item.arguments);
		text = text_of(item.arguments);
		assert_string_equal(text, "arg0=-1;arg1=0;arg12=\"ab\\\"cd\"...;");
		free(text);
		assert_true(post_cursor_next(&cursor, &item));
		assert_int_equal(item.return_address, 0x10030);
		assert_null(item.arguments);
		assert_false(post_cursor_next(&cursor, &item));
		assert_int_equal(problems.count, 0);
		post_buffer_release(&buffer);
		post_trace_close(trace);
		trace_builder_release(&builder);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read),
		cmocka_unit_test(damage_ends_them),
		cmocka_unit_test(an_event_has_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
