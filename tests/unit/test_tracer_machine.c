/* Which CPU it is, by the name of the machine: a wrong answer is a call into a page that
 * is not there, or an instruction that the CPU does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tracer/arm/machine.h"

static void test_modern(void **state)
{
	static const char *const modern[] = {"armv7l", "armv7b",  "armv8l",  "armv8b",
					     "armv9l", "armv10l", "aarch64", "aarch64_be"};

	(void)state;
	for (unsigned i = 0; i < sizeof(modern) / sizeof(modern[0]); i++)
		assert_true(litifut_arm_is_modern(modern[i]));
}

static void test_old(void **state)
{
	static const char *const old[] = {"armv4l",    "armv4tl", "armv5tel", "armv5tejl",
					  "armv5tejb", "armv6l",  "arm",      "armv",
					  "armv1",     "a",       "",         "mips"};

	(void)state;
	for (unsigned i = 0; i < sizeof(old) / sizeof(old[0]); i++)
		assert_false(litifut_arm_is_modern(old[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modern),
		cmocka_unit_test(test_old),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
