/* Sums of calls and times, by call, by function and by lane: from a stream of enters and
 * leaves, or from tables that a device has made. Both give the same numbers. */
#ifndef LITIFUT_POSTPROC_MEASURE_MEASURE_H
#define LITIFUT_POSTPROC_MEASURE_MEASURE_H

#include "postproc/model/session.h"
#include "postproc/sources/table_chunk.h"
#include "postproc/timeline/event.h"

enum post_metric {
	POST_METRIC_CALLS,
	POST_METRIC_TIMED, /* calls whose enter and return are known; the next four are of them */
	POST_METRIC_TOTAL, /* from enter to return; of a function: not again in its recursion */
	POST_METRIC_SELF,  /* the same without the calls that were made */
	POST_METRIC_MIN,
	POST_METRIC_MAX,
	POST_METRIC_CUT,       /* calls that ended without a return (longjmp, exception) */
	POST_METRIC_OPEN,      /* calls that had not returned when the trace ended */
	POST_METRIC_APPROX,    /* calls whose return is not recorded */
	POST_METRIC_CLOCKLESS, /* calls whose return is recorded, in a process without a clock */
	POST_METRIC_SUM,       /* as total; of a function: also again in its recursion */
	POST_METRIC_LEAST,     /* bounds of the time of calls that are not timed: at least, */
	POST_METRIC_MOST,      /* at most */
	POST_METRIC_BELOW,     /* of a function: the total of all calls that it made to others */
	POST_METRIC_SELFLESS,  /* of those that are timed, calls whose self time is not known */
	POST_METRICS
};

struct post_metrics {
	uint64_t value[POST_METRICS]; /* times in ticks of `hertz` */
};

/* How times are known. */
enum post_timing {
	POST_TIMING_NONE,     /* not at all */
	POST_TIMING_BOUNDS,   /* calls have times, returns are derived: bounds only */
	POST_TIMING_MEASURED, /* calls and returns have times */
};

struct post_beside {
	uint64_t open, added;
	bool no_self;
};

struct post_measures {
	struct post_session *session;
	struct post_metrics *calls, *functions, *lanes; /* by number of the session */
	/* Of tables that have no self times, by call: what is of the callee's time but in no sum,
	 * and what is of the caller's time that is neither its own nor in the sum. */
	struct post_beside *beside;
	size_t beside_capacity;
	/* By function: which times, that its self time needs, are missing (bits of self_times.c).
	 */
	uint8_t *unsure;
	size_t unsure_capacity;
	bool any_missing; /* times of calls to any function are missing in a table */
	size_t call_capacity, function_capacity, lane_capacity;
	uint64_t hertz;    /* ticks a second of all times; 0: unknown */
	bool mixed;        /* traces have different clocks: times are in nanoseconds */
	bool tabled;       /* some come from tables: totals of functions in a cycle are bounds */
	uint64_t left_out; /* calls in tables of modules whose file is not known */
};

/* `measures` is overwritten. What was counted in tables is taken in at once; it is added to
 * session->calls[].count as well. */
void post_measures_start(struct post_measures *measures, struct post_session *session);

/* Takes one event of the timeline, which must be nested. */
void post_measures_take(struct post_measures *measures, const struct post_timeline_event *event);

/* Sums up by function. The arrays then have an element for each call, function and lane. */
void post_measures_finish(struct post_measures *measures);

void post_measures_release(struct post_measures *measures);

/* Self times of functions in tables that do not have them, which follow from the sums
 * (self_times.c). */

/* An entry of a table, of this call. */
void post_self_take(struct post_measures *measures, uint32_t call,
		    const struct post_table_item *item);

/* An entry, or an address within it, lacks times. `call`: POST_NONE, if its callee is not known. */
void post_self_missing(struct post_measures *measures, const struct post_process *process,
		       const struct post_table_item *item, uint32_t call);

/* When all entries have been taken. */
void post_self_derive(struct post_measures *measures);

enum post_timing post_measures_timing(const struct post_measures *measures);

/* Could there be times? From the headers alone. `returns`: of calls whose return is recorded. */
bool post_measures_possible(const struct post_session *session, bool returns);

/* "1.234 ms", or the number of ticks where their length is not known. */
const char *post_measures_text(const struct post_measures *measures, uint64_t ticks, char *text,
			       size_t size);

/* The same as a number: nanoseconds, or ticks where their length is not known. */
uint64_t post_measures_ns(const struct post_measures *measures, uint64_t ticks);

/* Ticks of a clock of `hertz` in those of the measures. */
uint64_t post_measures_scaled(const struct post_measures *measures, uint64_t ticks, uint64_t hertz);

/* Calls whose return is not recorded. */
uint64_t post_measures_unreturned(const struct post_measures *measures);

/* Adds what another call has to a sum. */
void post_metrics_add(struct post_metrics *sum, const struct post_metrics *more);

/* Is only a lower bound of a function's total known? So it is for main(), which nothing that is
 * traced calls, and in a table for a function that calls itself if its outer calls have no time. */
static inline bool post_metrics_at_least(const struct post_metrics *function)
{
	const uint64_t *value = function->value;

	return value[POST_METRIC_TIMED] ? value[POST_METRIC_TOTAL] < value[POST_METRIC_SELF]
					: value[POST_METRIC_BELOW] != 0;
}

/* That bound: what the function called, or its own calls. */
static inline uint64_t post_metrics_bound(const struct post_metrics *function)
{
	const uint64_t *value = function->value;

	if (!value[POST_METRIC_TIMED])
		return value[POST_METRIC_BELOW];
	return value[POST_METRIC_SELF] > value[POST_METRIC_MAX] ? value[POST_METRIC_SELF]
								: value[POST_METRIC_MAX];
}

/* The total of a function in text; ">" and the bound, if that is all that is known. */
const char *post_measures_total_text(const struct post_measures *measures,
				     const struct post_metrics *function, char *text, size_t size);

/* Else it is 0, and nothing may be said of it. */
static inline bool post_metrics_self_known(const struct post_metrics *metrics)
{
	return metrics->value[POST_METRIC_TIMED] && !metrics->value[POST_METRIC_SELFLESS];
}

/* Are the times those of a part of the calls? The others have no return that is known. */
static inline bool post_metrics_partly(const struct post_metrics *metrics)
{
	const uint64_t *value = metrics->value;

	return value[POST_METRIC_TIMED] && value[POST_METRIC_TIMED] < value[POST_METRIC_CALLS];
}

/* " (1 timed)" if so, else nothing: what a text shows behind the name. */
const char *post_metrics_partly_text(const struct post_metrics *metrics, char *text, size_t size);

#define POST_PARTLY_BYTES 40

static inline uint64_t post_metrics_average(const struct post_metrics *metrics)
{
	uint64_t timed = metrics->value[POST_METRIC_TIMED];

	return timed ? metrics->value[POST_METRIC_SUM] / timed : 0;
}

#endif
