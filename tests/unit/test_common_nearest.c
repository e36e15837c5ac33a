/* The known word that was probably meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/nearest.h"

static void distances(void **state)
{
	static const struct {
		const char *word;
		const char *name;
		unsigned distance;
	} cases[] = {{"build", "build", 0},
		     {"Build", "bUILD", 0},
		     {"buidl", "build", 1},
		     {"bild", "build", 1},
		     {"builds", "build", 1},
		     {"buuld", "build", 1},
		     {"dri", "dir", 1},
		     {"reptor", "report", 2},
		     {"clk", "clock", 2},
		     {"tik", "clock", LITIFUT_NAME_FARTHEST},
		     {"clc", "calculate", LITIFUT_NAME_FARTHEST},
		     {"install", "uninstall-ld", 100},
		     {"in", "info", LITIFUT_NAME_FARTHEST},
		     {"dance", "info", LITIFUT_NAME_FARTHEST},
		     {"", "info", LITIFUT_NAME_FARTHEST}};
	char longer[200];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(litifut_name_distance(cases[i].word, cases[i].name),
				 cases[i].distance);
	memset(longer, 'a', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_int_equal(litifut_name_distance(longer, "a"), LITIFUT_NAME_FARTHEST);
	assert_int_equal(litifut_name_distance("aaa", longer), 100);
}

static void the_nearest(void **state)
{
	static const char *const names[] = {"env", "install-ld", "uninstall-ld", "build", NULL};
	static const char *const options[] = {"to", "top", "from", NULL};
	static const char *const requests[] = {"status", "start", NULL};

	(void)state;
	assert_string_equal(litifut_name_nearest("uninstal-ld", names), "uninstall-ld");
	assert_string_equal(litifut_name_nearest("install", names), "install-ld");
	assert_string_equal(litifut_name_nearest("tpo", options), "top");
	assert_string_equal(litifut_name_nearest("stat", requests), "status");
	assert_null(litifut_name_nearest("frobnicate", names));
	assert_null(litifut_name_nearest("env", names + 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(distances),
					   cmocka_unit_test(the_nearest)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
