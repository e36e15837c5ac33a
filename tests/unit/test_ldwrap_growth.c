/* The room of links that are repeated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ldwrap/growth.h"
#include "litifut/module_format.h"

/* What is measured in an image that has so much room, and what is needed there. */
typedef size_t amount(size_t room);

static struct litifut_rewrite_plan plan_of(size_t each)
{
	return (struct litifut_rewrite_plan){.trampoline_bytes = each,
					     .db_entries = each,
					     .sites = each,
					     .unwind_entries = each,
					     .island_bytes = each,
					     .flags_bytes = each};
}

/* How many links there are until there is as much as is needed of everything. */
static unsigned links(size_t guess, amount *measured, amount *needed)
{
	struct litifut_rewrite_plan last = plan_of(guess);
	unsigned link = 1;

	while (link <= GROWTH_LINKS &&
	       (last.trampoline_bytes < needed(last.trampoline_bytes) ||
		last.db_entries < needed(last.db_entries) || last.sites < needed(last.sites) ||
		last.unwind_entries < needed(last.unwind_entries) ||
		last.island_bytes < needed(last.island_bytes) ||
		last.flags_bytes < needed(last.flags_bytes))) {
		struct litifut_rewrite_plan plan = plan_of(measured(last.trampoline_bytes));

		growth_add(&plan, &last, link++);
		assert_int_equal(plan.flags_bytes % LITIFUT_FLAGS_PIECE, 0);
		last = plan;
	}
	return link;
}

static size_t million(size_t room)
{
	(void)room;
	return 1000000;
}

static size_t nine_millions(size_t room)
{
	(void)room;
	return 9000000;
}

static size_t to_and_fro(size_t room)
{
	return room % 1000 < 500 ? 1000000 : 1100700;
}

static size_t more_with_more(size_t room)
{
	return 1000000 + room / 8;
}

static void the_room_that_was_measured_is_enough(void **state)
{
	(void)state;
	assert_int_equal(links(0, million, million), 2);
	assert_int_equal(links(2000000, million, million), 1);
}

static void other_needs_are_met_as_well(void **state)
{
	(void)state;
	assert_true(links(1, to_and_fro, to_and_fro) <= GROWTH_LINKS);
	assert_true(links(500000, more_with_more, more_with_more) <= GROWTH_LINKS);
	assert_int_equal(links(1, million, nine_millions), GROWTH_LINKS);
}

static void the_guess_does_not_count(void **state)
{
	struct litifut_rewrite_plan plan = {.trampoline_bytes = 1000, .db_entries = 1};
	const struct litifut_rewrite_plan last = {.trampoline_bytes = 9000, .db_entries = 9};

	(void)state;
	growth_add(&plan, &last, 1);
	assert_int_equal(plan.trampoline_bytes, 1000);
	assert_int_equal(plan.db_entries, 1);
	growth_add(&plan, &last, 2);
	assert_int_equal(plan.trampoline_bytes, 9000);
	assert_int_equal(plan.db_entries, 9);
}

/* An image without flags gets none. */
static void nothing_stays_nothing(void **state)
{
	struct litifut_rewrite_plan plan = {0};
	const struct litifut_rewrite_plan last = {0};

	(void)state;
	for (unsigned link = 1; link <= GROWTH_LINKS; link++)
		growth_add(&plan, &last, link);
	assert_int_equal(plan.trampoline_bytes, 0);
	assert_int_equal(plan.flags_bytes, 0);
	assert_int_equal(plan.island_bytes, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_room_that_was_measured_is_enough),
		cmocka_unit_test(other_needs_are_met_as_well),
		cmocka_unit_test(the_guess_does_not_count),
		cmocka_unit_test(nothing_stays_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
