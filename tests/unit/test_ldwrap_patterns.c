/* The file of LITIFUT_PATTERNS: comments, patterns of several units, and what is none of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ldwrap/patterns.h"

/* Reads a file with this text. */
static enum litifut_status read_text(const char *text, struct patterns *patterns,
				     struct litifut_error *error)
{
	char path[] = "/tmp/litifut-patterns-XXXXXX";
	const int descriptor = mkstemp(path);

	assert_true(descriptor >= 0);
	assert_int_equal(write(descriptor, text, strlen(text)), strlen(text));
	close(descriptor);
	memset(patterns, 0, sizeof(*patterns));
	const enum litifut_status status = patterns_read(path, patterns, error);

	unlink(path);
	return status;
}

static void units_are_read(void **state)
{
	struct patterns patterns;
	struct litifut_error error;

	(void)state;
	assert_int_equal(read_text("# two\nmain+1a:0110 ns::put(char)+0: # 12 times\n\nlast+0:1\n",
				   &patterns, &error),
			 LITIFUT_OK);
	assert_int_equal(patterns.count, 3);
	assert_string_equal(patterns.units[0].function, "main");
	assert_int_equal(patterns.units[0].offset, 0x1a);
	assert_string_equal(patterns.units[0].bits, "0110");
	assert_true(patterns.units[0].begins);
	assert_string_equal(patterns.units[1].function, "ns::put(char)");
	assert_string_equal(patterns.units[1].bits, "");
	assert_false(patterns.units[1].begins);
	assert_true(patterns.units[2].begins);
	patterns_release(&patterns);
	assert_int_equal(read_text("", &patterns, &error), LITIFUT_OK);
	assert_int_equal(patterns.count, 0);
	patterns_release(&patterns);
}

static void others_are_refused(void **state)
{
	static const char *const texts[] = {
		"main", "main+0", "+0:1", "main+:1", "main+x:1", "main+0:012", "main+100000000:1"};
	struct patterns patterns;
	struct litifut_error error;
	char many[17 * 8 + 1] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		assert_int_equal(read_text(texts[i], &patterns, &error), LITIFUT_ERROR_UNSUPPORTED);
		assert_non_null(strstr(error.message, ":1: not a pattern"));
		patterns_release(&patterns);
	}
	for (unsigned i = 0; i < 17; i++)
		strcat(many, "a+0:1\n");
	assert_int_equal(read_text(many, &patterns, &error), LITIFUT_ERROR_UNSUPPORTED);
	patterns_release(&patterns);
	memset(&patterns, 0, sizeof(patterns));
	assert_int_equal(patterns_read("/nowhere/at/all", &patterns, &error),
			 LITIFUT_ERROR_UNSUPPORTED);
	assert_int_equal(patterns_read("/", &patterns, &error), LITIFUT_ERROR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "LITIFUT_PATTERNS: /: "));
	patterns_release(&patterns);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_are_read),
		cmocka_unit_test(others_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
