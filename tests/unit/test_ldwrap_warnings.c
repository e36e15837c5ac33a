/* What the wrapper says of a link that went well. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ldwrap/link_warnings.h"

/* The lines for an outcome, which is not one of a shared library, one below the other. */
static const char *lines_of(const struct settings *settings, const struct link_outcome *outcome)
{
	static char text[2000];
	struct link_warnings list;

	link_warnings_find(settings, outcome, false, &list);
	text[0] = 0;
	for (size_t i = 0; i < list.count; i++) {
		strcat(text, list.items[i].line);
		strcat(text, "\n");
	}
	link_warnings_release(&list);
	assert_null(list.items);
	return text;
}

static void nothing_is_said(void **state)
{
	const struct settings settings = {0};

	(void)state;
	assert_string_equal(lines_of(&settings, &(struct link_outcome){0}), "");
	/* a third of what there was, or 16 KB, is enough */
	assert_string_equal(lines_of(&settings, &(struct link_outcome){.memory_before = 3000,
								       .memory_left = 1001}),
			    "");
	assert_string_equal(lines_of(&settings, &(struct link_outcome){.memory_before = 100000,
								       .memory_left = 16384}),
			    "");
}

static void memory_is_low(void **state)
{
	const struct settings settings = {0};
	const struct link_outcome outcome = {.memory_before = 3000, .memory_left = 1000};
	struct link_warnings list;

	(void)state;
	link_warnings_find(&settings, &outcome, false, &list);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].kind, LINK_WARNING_MEMORY);
	assert_string_equal(list.items[0].line, "1000 bytes of memory are left for heap and "
						"stacks, 3000 without the tracer");
	link_warnings_release(&list);
}

/* They come with what may have been meant, for the end of a build. */
static void names_are_unused(void **state)
{
	char *names[] = {"prase;print", "scan"};
	const struct settings settings = {.include = {.items = names, .count = 2}};
	struct link_outcome outcome = {
		.asked.includes = {.unused = true, .nearest = "parse"},
	};
	struct link_warnings list;

	(void)state;
	link_warnings_find(&settings, &outcome, false, &list);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.items[0].kind, LINK_WARNING_NOTHING);
	assert_string_equal(list.items[0].nearest, "parse");
	assert_string_equal(list.items[0].line,
			    "no function has a name that LITIFUT_INCLUDE asks for (prase;print,...)"
			    ": no call is traced: write commas between the names");
	link_warnings_release(&list);
}

static void results_are_never_sent(void **state)
{
	const struct settings called = {.send = "call:flush"};
	const struct settings other = {0};
	struct link_outcome outcome = {.never_sent = true, .handlers = " __vector_N"};

	(void)state;
	assert_non_null(strstr(lines_of(&called, &outcome), "leads to flush (LITIFUT_SEND)"));
	assert_non_null(strstr(lines_of(&other, &outcome),
			       "set LITIFUT_SEND=call:FUNCTION or tick:N: __vector_N\n"));
}

static void calls_are_left(void **state)
{
	const struct settings settings = {0};
	const struct link_outcome outcome = {
		.foreign_calls = 39, .calls = 43, .returns_far = 5, .returns = 9};

	(void)state;
	assert_string_equal(lines_of(&settings, &outcome),
			    "39 of 43 calls are not traced: MIPS16 or microMIPS code, or a jalx "
			    "into it\n"
			    "5 of 9 returns are not recorded, as there is more code for them than "
			    "can be reached: link with -no-pie, or choose the objects that are "
			    "traced (LITIFUT_INCLUDE_OBJECTS)\n");
}

static void the_clock_is_used(void **state)
{
	const struct settings settings = {0};
	char setter[] = "timer_init";

	(void)state;
	assert_non_null(strstr(lines_of(&settings, &(struct link_outcome){.clock_user = 7}),
			       "a handler of its interrupt 7: neither"));
	assert_non_null(strstr(lines_of(&settings, &(struct link_outcome){.clock_setter = setter}),
			       "its function timer_init sets it up: neither"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_said),  cmocka_unit_test(memory_is_low),
		cmocka_unit_test(names_are_unused), cmocka_unit_test(results_are_never_sent),
		cmocka_unit_test(calls_are_left),   cmocka_unit_test(the_clock_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
