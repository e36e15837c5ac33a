/* What the census takes for a call, in each instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ldwrap/census.h"

struct counted {
	const char *mnemonic;
	unsigned code;
	bool big_endian;
	uint8_t bytes[4];
	size_t size;
	struct census expected; /* direct, indirect, cramped, tails */
};

static const struct counted cases[] = {
	{"bl", CENSUS_A32, false, {0xfe, 0xff, 0xff, 0xeb}, 4, {1, 0, 0, 0}},
	{"blne", CENSUS_A32, false, {0x00, 0x00, 0x00, 0x1b}, 4, {1, 0, 0, 0}},
	{"blx label", CENSUS_A32, false, {0x00, 0x00, 0x00, 0xfb}, 4, {1, 0, 0, 0}},
	{"blx r3", CENSUS_A32, false, {0x33, 0xff, 0x2f, 0xe1}, 4, {0, 1, 0, 0}},
	{"bx r3", CENSUS_A32, false, {0x13, 0xff, 0x2f, 0xe1}, 4, {0, 0, 0, 1}},
	{"bx lr", CENSUS_A32, false, {0x1e, 0xff, 0x2f, 0xe1}, 4, {0, 0, 0, 0}},
	{"b", CENSUS_A32, false, {0x00, 0x00, 0x00, 0xea}, 4, {0, 0, 0, 0}},
	{"a cut-off word", CENSUS_A32, false, {0xfe, 0xff, 0xff, 0xeb}, 3, {0, 0, 0, 0}},
	{"bl.w", CENSUS_T32, false, {0xff, 0xf7, 0xfe, 0xff}, 4, {1, 0, 0, 0}},
	{"blx label.w", CENSUS_T32, false, {0x00, 0xf0, 0x00, 0xe8}, 4, {1, 0, 0, 0}},
	{"b.w", CENSUS_T32, false, {0x00, 0xf0, 0x00, 0xb8}, 4, {0, 0, 0, 0}},
	{"blx r3; nop", CENSUS_T32, false, {0x98, 0x47, 0x00, 0xbf}, 4, {0, 1, 1, 0}},
	{"bx r3; bx lr", CENSUS_T32, false, {0x18, 0x47, 0x70, 0x47}, 4, {0, 0, 0, 1}},
	{"half a bl.w", CENSUS_T32, false, {0xff, 0xf7}, 2, {0, 0, 0, 0}},
	{"jal", CENSUS_MIPS, true, {0x0c, 0x10, 0x00, 0x40}, 4, {1, 0, 0, 0}},
	{"jal", CENSUS_MIPS, false, {0x40, 0x00, 0x10, 0x0c}, 4, {1, 0, 0, 0}},
	{"bal", CENSUS_MIPS, true, {0x04, 0x11, 0x00, 0x10}, 4, {1, 0, 0, 0}},
	{"jalr t9", CENSUS_MIPS, false, {0x09, 0xf8, 0x20, 0x03}, 4, {0, 1, 0, 0}},
	{"jr t9", CENSUS_MIPS, true, {0x03, 0x20, 0x00, 0x08}, 4, {0, 0, 0, 1}},
	{"jr ra", CENSUS_MIPS, true, {0x03, 0xe0, 0x00, 0x08}, 4, {0, 0, 0, 0}},
	{"j", CENSUS_MIPS, true, {0x08, 0x10, 0x00, 0x40}, 4, {0, 0, 0, 0}},
};

static void each_call_is_counted_as_what_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct counted *one = &cases[i];
		struct census census = {0};

		census_count(one->bytes, one->size, one->code, one->big_endian, &census);
		if (memcmp(&census, &one->expected, sizeof(census)))
			fail_msg("%s: direct %zu indirect %zu cramped %zu tails %zu", one->mnemonic,
				 census.direct, census.indirect, census.cramped, census.tails);
	}
}

static void counts_add_up(void **state)
{
	struct census census = {.direct = 5};

	(void)state;
	census_count(cases[0].bytes, 4, CENSUS_A32, false, &census);
	census_count(cases[0].bytes, 4, CENSUS_A32, false, &census);
	assert_int_equal(census.direct, 7);
	census_count(cases[0].bytes, 4, 0, false, &census);
	assert_int_equal(census.direct, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_call_is_counted_as_what_it_is),
		cmocka_unit_test(counts_add_up),
	};

	return cmocka_run_group_tests_name("census of calls", tests, NULL, NULL);
}
