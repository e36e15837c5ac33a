/* Keeps the longest spans: once twice the wanted number is there, the shorter half goes. */
#include "postproc/formats/html/spans.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/table.h"

static void widen(struct post_html_density *lane)
{
	for (unsigned i = 0; i < POST_HTML_BUCKETS / 2; i++)
		lane->counts[i] = lane->counts[2 * i] + lane->counts[2 * i + 1];
	memset(lane->counts + POST_HTML_BUCKETS / 2, 0,
	       POST_HTML_BUCKETS / 2 * sizeof(*lane->counts));
	lane->width *= 2;
}

void post_html_spans_begin(struct post_html_spans *spans, uint32_t number, uint64_t at)
{
	struct post_html_density *lane;

	if (number >= POST_HTML_LANES)
		return;
	lane = &spans->lanes[number];
	if (!lane->counts) {
		lane->counts = post_allocate(POST_HTML_BUCKETS, sizeof(*lane->counts));
		lane->start = at;
		lane->width = 1;
	}
	if (at < lane->start)
		at = lane->start;
	while ((at - lane->start) / lane->width >= POST_HTML_BUCKETS)
		widen(lane);
	lane->counts[(at - lane->start) / lane->width]++;
}

static int longer_first(const void *a, const void *b)
{
	const struct post_html_span *x = a, *y = b;

	if (x->length != y->length)
		return x->length < y->length ? 1 : -1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void drop_short(struct post_html_spans *spans)
{
	if (spans->count <= POST_HTML_SPANS)
		return;
	qsort(spans->items, spans->count, sizeof(*spans->items), longer_first);
	spans->shortest = spans->items[POST_HTML_SPANS].length + 1;
	spans->count = POST_HTML_SPANS;
}

void post_html_spans_add(struct post_html_spans *spans, const struct post_html_span *span)
{
	if (span->lane >= POST_HTML_LANES || span->length < spans->shortest)
		return;
	if (spans->count == 2 * POST_HTML_SPANS)
		drop_short(spans);
	/* all at once: the memory does not depend on the length of the run */
	if (!spans->items)
		spans->items = post_allocate(2 * (size_t)POST_HTML_SPANS, sizeof(*spans->items));
	spans->items[spans->count++] = *span;
}

static int by_place(const void *a, const void *b)
{
	const struct post_html_span *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

void post_html_spans_finish(struct post_html_spans *spans)
{
	size_t kept = 0;

	drop_short(spans);
	for (size_t i = 0; i < spans->count; i++) {
		if (spans->items[i].length >= spans->shortest)
			spans->items[kept++] = spans->items[i];
	}
	spans->count = kept;
	qsort(spans->items, spans->count, sizeof(*spans->items), by_place);
}

void post_html_spans_release(struct post_html_spans *spans)
{
	for (unsigned i = 0; i < POST_HTML_LANES; i++)
		free(spans->lanes[i].counts);
	free(spans->items);
}
