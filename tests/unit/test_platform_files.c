/* Names by which a platform is recognised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "platform/platform.h"

static void files(void **state)
{
	static const struct {
		const char *path;
		bool glibc;
	} rows[] = {{"/lib/ld-linux-armhf.so.3", true},
		    {"/lib/ld.so.1", true},
		    {"libc.so.6", true},
		    {"ld-linux.so.3", true},
		    {"/lib/ld-musl-armhf.so.1", false},
		    {"/lib/ld-uClibc.so.0", false},
		    {"libc.so", false},
		    {"libc.so.0", false},
		    {"/libc.so.6/other", false},
		    {"", false}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(platform_has_file(&platform_linux_glibc, rows[i].path,
						   strlen(rows[i].path) + 1),
				 rows[i].glibc);
	/* a name that is cut off is not one */
	assert_false(platform_has_file(&platform_linux_glibc, "libc.so.6", 9));
	assert_false(platform_has_file(&platform_none, "libc.so.6", 10));
}

static void loaders(void **state)
{
	static const char *const names[] = {"ld.so",          "ld-2.36.so",      "ld.so.1",
					    "ld-uClibc-1.so", "ld-musl-mips.so", "vdso32.so.dbg"};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_true(platform_is_loader(names[i]));
	assert_false(platform_is_loader("libdl.so"));
	assert_false(platform_is_loader("old.so"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(files), cmocka_unit_test(loaders)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
