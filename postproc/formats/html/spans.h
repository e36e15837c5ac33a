/* What the timeline of a report shows: the longest spans of a run, however many it has, and
 * for each lane how many calls began in each part of it. The memory is bounded. */
#ifndef LITIFUT_POSTPROC_FORMATS_HTML_SPANS_H
#define LITIFUT_POSTPROC_FORMATS_HTML_SPANS_H

#include <stddef.h>
#include <stdint.h>

#define POST_HTML_SPANS 100000u /* shown; twice as many are kept while reading */
#define POST_HTML_LANES 512u
#define POST_HTML_BUCKETS 1024u

struct post_html_span {
	uint64_t begin, length; /* in the unit of the report */
	uint32_t lane, depth;
	uint32_t function;
};

/* How many calls began in each bucket from `start` on. A bucket becomes twice as wide
 * whenever the lane grows beyond the last one. */
struct post_html_density {
	uint32_t *counts; /* POST_HTML_BUCKETS; NULL: the lane had no call */
	uint64_t start;
	uint64_t width;
};

/* All zero to start with. */
struct post_html_spans {
	struct post_html_span *items;
	size_t count;
	uint64_t shortest; /* shorter spans were left out; 0: none was */
	struct post_html_density lanes[POST_HTML_LANES];
};

/* A call began. Lanes from POST_HTML_LANES on are not shown. */
void post_html_spans_begin(struct post_html_spans *spans, uint32_t lane, uint64_t at);

/* A call ended. */
void post_html_spans_add(struct post_html_spans *spans, const struct post_html_span *span);

/* Leaves at most POST_HTML_SPANS, sorted by lane, depth and begin. */
void post_html_spans_finish(struct post_html_spans *spans);

void post_html_spans_release(struct post_html_spans *spans);

#endif
