/* LITIFUT_INCLUDE=NAME+3: what is a number of calls behind a name, and what is a name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rewriter/image.h"
#include "rewriter/program_code.h"

static void a_number_stands_behind_the_last_plus(void **state)
{
	static const struct {
		const char *word;
		size_t length;
		unsigned calls;
	} rows[] = {
		{"parse+3", 5, 3}, {"p+0", 1, 0},    {"lex_*+12", 5, 12},     {"a+b+2", 3, 2},
		{"f+99", 1, 99},   {"f+100", 1, 99}, {"f+4294967299", 1, 99},
	};
	static const char *const names[] = {"",         "parse", "+3",        "parse+", "parse+x",
					    "parse+3x", "+",     "operator+", "a+3+"};
	size_t length;
	unsigned calls;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_true(litifut_include_split(rows[i].word, &length, &calls));
		assert_int_equal(length, rows[i].length);
		assert_int_equal(calls, rows[i].calls);
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_false(litifut_include_split(names[i], &length, &calls));
}

static void functions_are_found_by_address(void **state)
{
	uint32_t addresses[] = {0x100, 0x120, 0x200};
	const struct litifut_image image = {.downward = addresses, .downward_count = 3};
	const char *const names[] = {"named", "parse+3", NULL};
	const struct litifut_rewrite_options options = {.include_functions = names};

	(void)state;
	for (uint32_t address = 0xfe; address < 0x204; address += 2) {
		const struct litifut_symbol function = {.name = "f", .address = address};

		assert_int_equal(litifut_is_excluded(&image, &options, &function),
				 address != 0x100 && address != 0x120 && address != 0x200);
	}
	assert_false(litifut_is_excluded(&image, &options,
					 &(struct litifut_symbol){.name = "named", .address = 2}));
	assert_true(litifut_is_excluded(&image, &options, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_number_stands_behind_the_last_plus),
		cmocka_unit_test(functions_are_found_by_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
