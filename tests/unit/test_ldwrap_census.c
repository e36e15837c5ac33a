/* What the census takes for a call, in each instruction set. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpu/arm/arm.h"
#include "cpu/mips/mips.h"

struct counted {
	const char *mnemonic;
	const char *marked; /* by this mapping symbol, "" for a CPU without */
	bool big_endian;
	uint8_t bytes[8];
	size_t size;
	struct litifut_census expected; /* direct, indirect, cramped, tails */
};

static const struct counted cases[] = {
	{"bl", "$a", false, {0xfe, 0xff, 0xff, 0xeb}, 4, {1, 0, 0, 0}},
	{"blne", "$a", false, {0x00, 0x00, 0x00, 0x1b}, 4, {1, 0, 0, 0}},
	{"blx label", "$a", false, {0x00, 0x00, 0x00, 0xfb}, 4, {1, 0, 0, 0}},
	{"blx r3", "$a", false, {0x33, 0xff, 0x2f, 0xe1}, 4, {0, 1, 0, 0}},
	{"bx r3", "$a", false, {0x13, 0xff, 0x2f, 0xe1}, 4, {0, 0, 0, 1}},
	{"bx lr", "$a", false, {0x1e, 0xff, 0x2f, 0xe1}, 4, {0, 0, 0, 0}},
	{"mov lr, pc", "$a", false, {0x0f, 0xe0, 0xa0, 0xe1}, 4, {0, 1, 1, 0}},
	{"add lr, pc, #4", "$a", false, {0x04, 0xe0, 0x8f, 0xe2}, 4, {0, 1, 1, 0}},
	{"b", "$a", false, {0x00, 0x00, 0x00, 0xea}, 4, {0, 0, 0, 0}},
	{"a cut-off word", "$a", false, {0xfe, 0xff, 0xff, 0xeb}, 3, {0, 0, 0, 0}},
	{"bl.w", "$t.1", false, {0xff, 0xf7, 0xfe, 0xff}, 4, {1, 0, 0, 0}},
	{"blx label.w", "$t.1", false, {0x00, 0xf0, 0x00, 0xe8}, 4, {1, 0, 0, 0}},
	{"b.w", "$t.1", false, {0x00, 0xf0, 0x00, 0xb8}, 4, {0, 0, 0, 0}},
	{"blx r3; nop", "$t.1", false, {0x98, 0x47, 0x00, 0xbf}, 4, {0, 1, 1, 0}},
	{"bx r3; bx lr", "$t.1", false, {0x18, 0x47, 0x70, 0x47}, 4, {0, 0, 0, 1}},
	{"half a bl.w", "$t.1", false, {0xff, 0xf7}, 2, {0, 0, 0, 0}},
	{"jal", "", true, {0x0c, 0x10, 0x00, 0x40}, 4, {1, 0, 0, 0}},
	{"jal", "", false, {0x40, 0x00, 0x10, 0x0c}, 4, {1, 0, 0, 0}},
	{"bal", "", true, {0x04, 0x11, 0x00, 0x10}, 4, {1, 0, 0, 0}},
	{"jalr t9", "", false, {0x09, 0xf8, 0x20, 0x03}, 4, {0, 1, 0, 0}},
	{"jalr t9; move t9, zero",
	 "",
	 false,
	 {0x09, 0xf8, 0x20, 0x03, 0x25, 0xc8, 0x00, 0x00},
	 8,
	 {0, 1, 1, 0}},
	{"jalr t9; nop", "", false, {0x09, 0xf8, 0x20, 0x03}, 8, {0, 1, 0, 0}},
	{"jr t9", "", true, {0x03, 0x20, 0x00, 0x08}, 4, {0, 0, 0, 1}},
	{"jr ra", "", true, {0x03, 0xe0, 0x00, 0x08}, 4, {0, 0, 0, 0}},
	{"j", "", true, {0x08, 0x10, 0x00, 0x40}, 4, {0, 0, 0, 0}},
};

static void count(const struct counted *one, struct litifut_census *census)
{
	const struct cpu_objects *facts =
		one->marked[0] ? &litifut_objects_arm : &litifut_objects_mips;
	unsigned encodings = facts->encoding ? facts->encoding(one->marked) : 1;

	facts->census(one->bytes, one->size, encodings, one->big_endian, census);
}

static void each_call_is_counted_as_what_it_is(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct counted *one = &cases[i];
		struct litifut_census census = {0};

		count(one, &census);
		if (memcmp(&census, &one->expected, sizeof(census)))
			fail_msg("%s: direct %zu indirect %zu cramped %zu tails %zu", one->mnemonic,
				 census.direct, census.indirect, census.cramped, census.tails);
	}
}

static void counts_add_up(void **state)
{
	struct litifut_census census = {.direct = 5};

	(void)state;
	count(&cases[0], &census);
	count(&cases[0], &census);
	assert_int_equal(census.direct, 7);
	litifut_objects_arm.census(cases[0].bytes, 4, litifut_objects_arm.encoding("$d"), false,
				   &census);
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
