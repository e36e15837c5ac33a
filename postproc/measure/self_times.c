/* The time of a function is that of all its calls, less that of all calls that it makes. Where some
 * of these times are missing, it is not known: too much where those of calls that it makes are, and
 * too little where it was called, unless it makes no calls. */
#include "postproc/measure/measure.h"

#include <stdlib.h>
#include <string.h>

enum {
	MADE = 1,     /* times of calls that it makes are missing, */
	RECEIVED = 2, /* of calls of it, */
	MAKES = 4,    /* and it makes calls */
};

static void mark(struct post_measures *measures, uint32_t function, uint8_t bits)
{
	const size_t count = measures->session->function_count, have = measures->unsure_capacity;

	if (count > have) {
		measures->unsure = post_reallocate(measures->unsure, count * 2, 1);
		memset(measures->unsure + have, 0, count * 2 - have);
		measures->unsure_capacity = count * 2;
	}
	measures->unsure[function] |= bits;
}

void post_self_take(struct post_measures *measures, uint32_t call,
		    const struct post_table_item *item)
{
	const size_t count = measures->session->call_count, have = measures->beside_capacity;

	if (count > have) {
		measures->beside =
			post_reallocate(measures->beside, count * 2, sizeof(*measures->beside));
		memset(measures->beside + have, 0, (count * 2 - have) * sizeof(*measures->beside));
		measures->beside_capacity = count * 2;
	}
	measures->beside[call].no_self = true;
	measures->beside[call].open += post_measures_scaled(measures, item->open_sum, item->hertz);
	measures->beside[call].added += post_measures_scaled(measures, item->added, item->hertz);
	if (item->count)
		mark(measures, measures->session->calls[call].caller, MAKES);
}

void post_self_missing(struct post_measures *measures, const struct post_process *process,
		       const struct post_table_item *item, uint32_t call)
{
	struct post_session *session = measures->session;
	const uint32_t caller =
		post_session_site_caller(session, process, item->module, item->site);

	if (caller != POST_NONE)
		mark(measures, caller, MADE);
	if (call != POST_NONE)
		mark(measures, session->calls[call].callee, RECEIVED);
}

static bool is_known(const struct post_measures *measures, uint32_t function)
{
	const uint8_t bits = function < measures->unsure_capacity ? measures->unsure[function] : 0;

	return !(bits & MADE) && !(bits & MAKES && (bits & RECEIVED || measures->any_missing));
}

/* The calls of a function share its time by theirs. */
void post_self_derive(struct post_measures *measures)
{
	const struct post_session *session = measures->session;
	const size_t known = measures->beside_capacity < session->call_count
				     ? measures->beside_capacity
				     : session->call_count;
	double *self = post_allocate(session->function_count + 1, sizeof(*self));
	double *sum = post_allocate(session->function_count + 1, sizeof(*sum));

	for (size_t i = 0; i < known; i++) {
		const struct post_beside *beside = &measures->beside[i];
		const double time = (double)measures->calls[i].value[POST_METRIC_SUM];

		if (!beside->no_self)
			continue;
		sum[session->calls[i].callee] += time;
		self[session->calls[i].callee] += time + (double)beside->open;
		self[session->calls[i].caller] -=
			time + (double)beside->open + (double)beside->added;
	}
	for (size_t i = 0; i < known; i++) {
		const uint32_t callee = session->calls[i].callee;
		uint64_t *value = measures->calls[i].value;

		if (!measures->beside[i].no_self)
			continue;
		if (!is_known(measures, callee))
			value[POST_METRIC_SELFLESS] += value[POST_METRIC_TIMED];
		else if (self[callee] > 0 && sum[callee] > 0)
			value[POST_METRIC_SELF] +=
				(uint64_t)(self[callee] * (double)value[POST_METRIC_SUM] /
						   sum[callee] +
					   0.5);
	}
	free(self);
	free(sum);
}
