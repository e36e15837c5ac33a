/* Figures of several runs: mean, extremes, deviation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "postproc/measure/runs.h"

static void near(double value, double expected)
{
	if (fabs(value - expected) > 1e-9 * (1 + fabs(expected)))
		fail_msg("%g, not %g", value, expected);
}

static void add(struct post_runs *runs, struct post_run_cell cell)
{
	POST_GROW(runs->cells, runs->cell_count, runs->capacity);
	post_table_put(&runs->index, (struct post_key){{cell.run, cell.function}},
		       (uint32_t)runs->cell_count);
	runs->cells[runs->cell_count++] = cell;
}

static void several_runs_have_a_deviation(void **state)
{
	struct post_runs runs = {.count = 4};

	(void)state;
	add(&runs, (struct post_run_cell){0, 7, 10, 10, 2000, 400000});
	add(&runs, (struct post_run_cell){1, 7, 12, 12, 4000, 1600000});
	add(&runs, (struct post_run_cell){3, 7, 14, 14, 6000, 3600000});
	add(&runs, (struct post_run_cell){3, 8, 1, 0, 0, 0});
	struct post_run_row row = post_runs_row(&runs, 7);
	assert_int_equal(row.runs, 3);
	assert_true(row.timed);
	near(row.self.mean, 3000); /* run 2 did not call it: 0 */
	near(row.self.least, 0);
	near(row.self.most, 6000);
	near(row.self.deviation, sqrt((1e6 + 1e6 + 9e6 + 9e6) / 3));
	near(row.calls.mean, 9);
	near(row.calls.deviation, sqrt((1 + 9 + 81 + 25) / 3.0));
	row = post_runs_row(&runs, 8);
	assert_int_equal(row.runs, 1);
	assert_false(row.timed);
	assert_int_equal(row.self_runs, 3); /* run 3 called it, and nothing has a time */
	post_runs_release(&runs);
}

/* Of one run: what its calls make likely, the root of their number times their deviation. */
static void a_single_run_has_that_of_its_calls(void **state)
{
	struct post_runs runs = {.count = 1};

	(void)state;
	/* calls of 100, 200, 300 and 400 */
	add(&runs, (struct post_run_cell){0, 1, 4, 4, 1000, 300000});
	add(&runs, (struct post_run_cell){0, 2, 1, 1, 1000, 1000000});
	near(post_runs_row(&runs, 1).self.deviation, sqrt(4 * 50000 / 3.0));
	assert_true(post_runs_row(&runs, 2).self.deviation < 0);
	assert_true(post_runs_row(&runs, 1).calls.deviation < 0);
	post_runs_release(&runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_runs_have_a_deviation),
		cmocka_unit_test(a_single_run_has_that_of_its_calls),
	};

	return cmocka_run_group_tests_name("post: runs", tests, NULL, NULL);
}
