/* What the timeline of an HTML report keeps of runs that are too long for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "postproc/formats/html/spans.h"

/* The longest spans of more than there is place for, whatever their order. */
static void the_longest_stay(void **state)
{
	static struct post_html_spans spans;
	uint64_t all = 5 * (uint64_t)POST_HTML_SPANS, kept = 0;

	(void)state;
	for (uint64_t i = 0; i < all; i++) {
		struct post_html_span span = {.begin = i,
					      .length = i * 7919 % all,
					      .lane = (uint32_t)(i % 3),
					      .depth = (uint32_t)(i % 5)};
		post_html_spans_add(&spans, &span);
	}
	post_html_spans_finish(&spans);
	assert_in_range(spans.count, POST_HTML_SPANS / 2, POST_HTML_SPANS);
	for (uint64_t i = 0; i < all; i++)
		kept += i * 7919 % all >= spans.shortest;
	assert_int_equal(spans.count, kept);
	for (size_t i = 1; i < spans.count; i++) {
		const struct post_html_span *a = &spans.items[i - 1], *b = &spans.items[i];

		assert_true(a->length >= spans.shortest);
		assert_true(a->lane < b->lane ||
			    (a->lane == b->lane && (a->depth < b->depth || (a->depth == b->depth &&
									    a->begin < b->begin))));
	}
	post_html_spans_release(&spans);
}

/* Few spans all stay, those without a length too. */
static void few_stay(void **state)
{
	static struct post_html_spans spans;

	(void)state;
	for (uint64_t i = 0; i < 10; i++) {
		struct post_html_span span = {.begin = i};
		post_html_spans_add(&spans, &span);
	}
	post_html_spans_finish(&spans);
	assert_int_equal(spans.count, 10);
	assert_int_equal(spans.shortest, 0);
	post_html_spans_release(&spans);
}

/* No call is forgotten when the buckets grow; lanes beyond the last are left out. */
static void calls_are_counted(void **state)
{
	static struct post_html_spans spans;
	uint64_t sum = 0;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++)
		post_html_spans_begin(&spans, 7, 1000 + i * i);
	post_html_spans_begin(&spans, POST_HTML_LANES, 5);
	for (unsigned i = 0; i < POST_HTML_BUCKETS; i++)
		sum += spans.lanes[7].counts[i];
	assert_int_equal(sum, 100000);
	assert_int_equal(spans.lanes[7].start, 1000);
	assert_true(spans.lanes[7].width * POST_HTML_BUCKETS > 99999ull * 99999);
	assert_true(spans.lanes[7].width * POST_HTML_BUCKETS / 2 <= 99999ull * 99999);
	assert_null(spans.lanes[6].counts);
	post_html_spans_release(&spans);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_stay),
		cmocka_unit_test(few_stay),
		cmocka_unit_test(calls_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
