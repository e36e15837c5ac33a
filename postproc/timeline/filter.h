/* Filters of a nested timeline: subtrees, depth, duration. */
#ifndef LITIFUT_POSTPROC_TIMELINE_FILTER_H
#define LITIFUT_POSTPROC_TIMELINE_FILTER_H

#include "postproc/model/session.h"
#include "postproc/timeline/event.h"

struct post_filter_options {
	const char *const *only;    /* globs: only such functions and what is below, NULL: all */
	const char *const *without; /* globs: not such functions, nor what is below them */
	uint32_t deepest;           /* levels that are shown; 0: all */
	uint64_t shortest_ns;       /* calls that took less are left out; 0: none is */
};

static inline bool post_filter_is_set(const struct post_filter_options *options)
{
	return options->only || options->without || options->deepest || options->shortest_ns;
}

/* Of one session; all zero but for the first three. */
struct post_filter {
	const struct post_filter_options *options;
	struct post_session *session;
	const struct post_timeline_sink *sink;
	struct post_filter_lane *lanes;
	size_t lane_count;
	uint8_t *verdicts; /* by function */
	size_t verdict_count;
};

/* Lets an event through or not; counts the calls that it lets through. */
void post_filter_push(void *filter, const struct post_timeline_event *event);

void post_filter_release(struct post_filter *filter);

#endif
