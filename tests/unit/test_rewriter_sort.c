/* The sorts of the rewriter, against the order that they promise: by key, and as before
 * where keys are equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "rewriter/sort.h"

#define COUNT 5000

/* Another one each time, the same in each run. */
static uint32_t noise(void)
{
	static uint32_t state = 1;

	state = state * 1664525 + 1013904223;
	return state >> 8;
}

/* The ways in which lists come. */
enum { ASCENDING, ALL_EQUAL, FEW_OUT_OF_PLACE, TWO_RUNS, DESCENDING, NO_ORDER, KINDS };

static void fill(struct litifut_sort_item *items, size_t count, unsigned kind)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t keys[KINDS] = {
			[ASCENDING] = i / 3,
			[ALL_EQUAL] = 7,
			[FEW_OUT_OF_PLACE] = i % 500 == 499 ? i - 100 : i,
			[TWO_RUNS] = (i + count / 3) % count,
			[DESCENDING] = count - i,
			[NO_ORDER] = noise() % 1000,
		};

		items[i] = (struct litifut_sort_item){keys[kind], i};
	}
}

static uint32_t key_of(const void *item)
{
	return (uint32_t)((const struct litifut_sort_item *)item)->key;
}

/* In order, and the same items. */
static void check(const struct litifut_sort_item *items, size_t count, unsigned kind,
		  const struct litifut_sort_item *before)
{
	static unsigned char seen[COUNT];

	for (size_t i = 0; i < count; i++)
		seen[i] = 0;
	for (size_t i = 0; i < count; i++) {
		if (i && (items[i - 1].key > items[i].key || (items[i - 1].key == items[i].key &&
							      items[i - 1].value > items[i].value)))
			fail_msg("list %u of %zu: item %zu is out of order", kind, count, i);
		assert_true(items[i].value < count && !seen[items[i].value]);
		seen[items[i].value] = 1;
		assert_true(items[i].key == before[items[i].value].key);
	}
}

static void check_all(enum litifut_status (*sort)(struct litifut_sort_item *items, size_t count))
{
	static const size_t counts[] = {0, 1, 2, 3, 64, COUNT};
	static struct litifut_sort_item before[COUNT];
	static struct litifut_sort_item items[COUNT];

	for (unsigned kind = 0; kind < KINDS; kind++)
		for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
			fill(before, counts[i], kind);
			for (size_t at = 0; at < counts[i]; at++)
				items[at] = before[at];
			assert_int_equal(sort(items, counts[i]), LITIFUT_OK);
			check(items, counts[i], kind, before);
		}
}

static enum litifut_status sort_digits(struct litifut_sort_item *items, size_t count)
{
	struct litifut_error error;

	return litifut_sort(items, count, 32, &error);
}

static enum litifut_status sort_runs(struct litifut_sort_item *items, size_t count)
{
	struct litifut_error error;

	return litifut_sort_runs(items, count, sizeof(*items), key_of, &error);
}

static void sorts_by_digits(void **state)
{
	(void)state;
	check_all(sort_digits);
}

static void sorts_by_runs(void **state)
{
	(void)state;
	check_all(sort_runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_by_digits),
		cmocka_unit_test(sorts_by_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
