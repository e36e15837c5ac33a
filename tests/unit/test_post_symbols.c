/* Names of symbols as files have them, and as they are shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "postproc/sources/symbols.h"

static void control_characters_are_not_shown(void **state)
{
	static const struct {
		const char *given;
		const char *shown;
	} cases[] = {{"plain", "plain"},
		     {"gr\xc3\xb6\xc3\x9f", "gr\xc3\xb6\xc3\x9f"},
		     {"\033]0;title\a", "?]0;title?"},
		     {"fn\nfn=(9) other", "fn?fn=(9) other"},
		     {"tab\tdel\x7f", "tab?del?"}};
	struct post_symbols symbols = {0};

	(void)state;
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		post_symbols_add(&symbols, cases[i].given, 0x1000 * (i + 1), 16, 0,
				 POST_SYMBOL_FUNCTION);
	post_symbols_finish(&symbols);
	for (uint32_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(post_symbols_find(&symbols, 0x1000 * (i + 1))->name,
				    cases[i].shown);
	post_symbols_release(&symbols);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(control_characters_are_not_shown)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
