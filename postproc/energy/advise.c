#include "postproc/energy/advise.h"

#include <math.h>
#include <stdlib.h>

/* A function with less of the energy in levels that are not its own is not opened. */
#define AMBIGUOUS_SHARE 0.01
/* Powers that differ by less are taken as equal when it is asked what to close. */
#define EQUAL_POWER 0.05

struct advising {
	const struct energy_result *result;
	struct energy_advice *advice;
	const double *times;   /* of changes */
	const double *levels;  /* of the segments, one more */
	size_t count, next;    /* change that comes next */
	const double *borders; /* of peripherals' states */
	size_t border_count, next_border;
	double tolerance;
	size_t explained;
};

static double power_of(const struct energy_result *result, uint32_t function)
{
	const struct energy_function *f = &result->functions[function];

	return f->self_seconds > 0 ? energy_sum(f->self, result->channels) / f->self_seconds : 0;
}

/* Of the calls of a function, with what they call. */
static double inclusive_power_of(const struct energy_result *result, uint32_t function)
{
	const struct energy_function *f = &result->functions[function];

	return f->inclusive_seconds > 0
		       ? energy_sum(f->inclusive, result->channels) / f->inclusive_seconds
		       : 0;
}

/* Does a peripheral change its state here? What is left of its level is not the function's. */
static bool at_state(struct advising *a, double time)
{
	while (a->next_border < a->border_count && a->borders[a->next_border] < time - a->tolerance)
		a->next_border++;
	return a->next_border < a->border_count &&
	       a->borders[a->next_border] <= time + a->tolerance;
}

/* A change inside of all calls that are open; one at their begin is explained by it. In a frame,
 * `hooks` counts the changes and `seconds` is the time of the last one. */
static void change_inside(struct advising *a, struct energy_lane *lane, double time)
{
	for (size_t i = 0; i < lane->depth; i++) {
		struct energy_frame *frame = &lane->frames[i];
		if (time - frame->entered <= a->tolerance)
			continue;
		frame->hooks += 1;
		frame->seconds = time;
	}
}

static void level_inside(struct advising *a, struct energy_lane *lane, double level, double length)
{
	for (size_t i = 0; i < lane->depth; i++) {
		uint32_t function = a->result->tree.nodes[lane->frames[i].node].function;
		a->advice[function].unequal +=
			fabs(level - inclusive_power_of(a->result, function)) * length;
	}
}

static void leave(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind, double time)
{
	struct advising *a = context;
	bool at_end = frame->hooks > 0 && time - frame->seconds <= a->tolerance;

	(void)lane, (void)under, (void)kind;
	a->advice[a->result->tree.nodes[frame->node].function].inside += frame->hooks - at_end;
}

static void segment(void *context, struct energy_lane *lane, uint32_t node, double from, double to)
{
	struct advising *a = context;
	const struct energy_result *result = a->result;
	bool traced = node != ENERGY_TRANSFER && node != ENERGY_ROOT;
	uint32_t function = traced ? result->tree.nodes[node].function : 0;
	double power = traced ? power_of(result, function) : 0;
	double at = from;

	while (a->next < a->count && a->times[a->next] < to) {
		double time = a->times[a->next];
		if (time < from) { /* before the first span */
			a->next++;
			continue;
		}
		bool state = at_state(a, time);
		bool border = time - from <= a->tolerance || to - time <= a->tolerance || state;
		if (!state)
			change_inside(a, lane, time);
		if (traced)
			level_inside(a, lane, a->levels[a->next], time - at);
		a->explained += border;
		if (traced) {
			a->advice[function].changes += !border;
			a->advice[function].ambiguous +=
				fabs(a->levels[a->next] - power) * (time - at);
		}
		at = time;
		a->next++;
	}
	if (traced) {
		a->advice[function].ambiguous += fabs(a->levels[a->next] - power) * (to - at);
		level_inside(a, lane, a->levels[a->next], to - at);
	}
}

/* Levels of the segments between the changes, and the times of these. */
static void levels_of(const struct energy_power *power, const struct energy_samples *level,
		      const struct energy_changes *changes, double *times, double *levels)
{
	size_t run = 0;

	for (size_t i = 0; i <= changes->count; i++) {
		size_t from = i ? changes->at[i - 1] : 0;
		size_t to = i < changes->count ? changes->at[i] : power->count;
		levels[i] =
			to > from ? energy_samples_sum(level, from, to) / (double)(to - from) : 0;
		if (i == changes->count)
			break;
		while (run + 1 < power->run_count && power->runs[run + 1].first <= to)
			run++;
		times[i] = power->runs[run].time +
			   (double)(to - power->runs[run].first) * power->interval;
	}
}

/* Has the function called one at which a peripheral changes its state? */
static bool starts_peripheral(const struct energy_advise_input *input, uint32_t function)
{
	for (size_t i = 0; i < input->result->edge_count; i++) {
		const struct energy_edge *edge = &input->result->edges[i];
		if (edge->caller == function &&
		    energy_machines_concern(input->machines, input->names[edge->callee]))
			return true;
	}
	return false;
}

/* The most expensive hooks first, until the rest is within the budget: hooks of a function with the
 * same power as its callers give no information. */
static void close_functions(const struct energy_advise_input *input, struct energy_advice *advice)
{
	const struct energy_result *result = input->result;
	const struct energy_hook *hook = input->hook;
	double hooks = result->hook_seconds;

	while (hook->known && hooks > input->budget * energy_run_seconds(result)) {
		uint32_t worst = UINT32_MAX;
		double most = 0;
		for (size_t i = 1; i < result->tree.count; i++) {
			const struct energy_node *node = &result->tree.nodes[i];
			uint32_t number = node->function;
			const struct energy_function *f = &result->functions[number];
			if (node->parent == ENERGY_ROOT || advice[number].close || f->made)
				continue;
			double own = power_of(result, number);
			double above = power_of(result, result->tree.nodes[node->parent].function);
			bool equal = fabs(own - above) <=
				     EQUAL_POWER * fabs(above) +
					     2 * f->uncertainty / fmax(f->self_seconds, 1e-12);
			double cost = (double)f->calls * (hook->enter_before + hook->enter_after +
							  hook->exit_before + hook->exit_after);
			/* of equal power, or with more hook than function */
			if ((equal || cost > f->self_seconds) && cost > most) {
				most = cost;
				worst = number;
			}
		}
		if (worst == UINT32_MAX)
			break;
		advice[worst].close = true;
		hooks -= most;
	}
}

static void choose(const struct energy_advise_input *input, struct energy_advice *advice)
{
	const struct energy_result *result = input->result;
	const double least = AMBIGUOUS_SHARE * (energy_sum(result->total, result->channels) -
						energy_sum(result->transfer, result->channels));

	for (uint32_t i = 0; i < result->function_count; i++) {
		const struct energy_function *f = &result->functions[i];
		double some = input->threshold * (double)f->calls;
		if (!f->calls)
			continue;
		advice[i].open =
			(double)advice[i].changes > some && advice[i].ambiguous > least && !f->made;
		/* of a call that has not ended, such as main's, only a part was seen */
		advice[i].fold = f->made && isfinite(f->mean) &&
				 !(advice[i].inside > some && advice[i].unequal > least) &&
				 !starts_peripheral(input, i);
	}
	close_functions(input, advice);
}

enum litifut_status energy_advise(const struct energy_advise_input *input,
				  struct energy_advice *advice, size_t *explained,
				  struct litifut_error *error)
{
	const struct energy_changes *changes = input->changes;
	const struct energy_result *result = input->result;
	double *times = malloc((changes->count + 1) * sizeof(*times));
	double *levels = malloc((changes->count + 1) * sizeof(*levels));
	struct advising advising = {
		.result = result,
		.advice = advice,
		.times = times,
		.levels = levels,
		.count = changes->count,
		.borders = input->borders,
		.border_count = input->border_count,
		.tolerance = fmax(2 * input->power->interval, 2 * input->clock->uncertainty)};
	struct energy_visitor visitor = {.context = &advising, .segment = segment, .leave = leave};
	struct energy_walk_counts counts;
	struct energy_tree tree;
	enum litifut_status status = LITIFUT_OK;

	energy_tree_start(&tree);
	if (!times || !levels) {
		status = litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					   "not enough memory for the changes");
	} else {
		levels_of(input->power, input->level, changes, times, levels);
		status = energy_walk(input->events, input->clock, &tree, result->begin, result->end,
				     &visitor, &counts, error);
	}
	if (status == LITIFUT_OK)
		choose(input, advice);
	*explained = advising.explained;
	energy_tree_release(&tree);
	free(times);
	free(levels);
	return status;
}
