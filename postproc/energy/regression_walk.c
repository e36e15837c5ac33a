/* Which part of each sample belongs to which column: spans of functions between calls and returns,
 * the hooks at their ends, and the states of peripherals that are active meanwhile. */
#include "postproc/energy/regression_walk.h"

#include <math.h>

#include "postproc/energy/bounds.h"
#include "postproc/energy/regression_rows.h"

/* Of a sample: closer than this are two times the same, after 10^9 samples as well. */
#define NEAR 1e-6
/* Samples before and after a change of a peripheral's state. */
#define UNSURE 2

/* Skips to the sample in which `time` lies; a sample that is not wholly covered is dropped. */
static bool find_sample(struct energy_regression *r, double time)
{
	const struct energy_power *power = r->input->power;

	if (r->run < power->run_count) { /* as most often: it is the same one */
		const struct energy_run *run = &power->runs[r->run];
		const double next = (double)r->index + 1 - NEAR;
		if (time >= run->time && time < run->time + next * power->interval &&
		    r->index < run->count)
			return true;
	}
	while (r->run < power->run_count) {
		const struct energy_run *run = &power->runs[r->run];
		if (time < run->time)
			return false; /* in a hole */
		double place = (time - run->time) / power->interval + NEAR;
		if (place < (double)run->count) {
			size_t index = (size_t)place;
			if (index > r->index) { /* never back: a border can round either way */
				energy_row_break_off(r);
				r->index = index;
			}
			return true;
		}
		r->run++;
		energy_row_break_off(r);
		r->index = 0;
	}
	r->done = true;
	return false;
}

static void piece(struct energy_regression *r, uint32_t column, double from, double to)
{
	const struct energy_power *power = r->input->power;
	const double interval = power->interval, rate = r->rate;

	while (from < to && !r->done) {
		if (!find_sample(r, from)) {
			if (r->done || power->runs[r->run].time >= to)
				return;
			from = power->runs[r->run].time;
			continue;
		}
		const struct energy_run *run = &power->runs[r->run];
		double start = run->time + (double)r->index * interval, end = start + interval;
		if (from <= start + NEAR * interval && to >= end && r->touched_count == 0) {
			double fits = floor((to - start) / interval + NEAR);
			size_t count = fits > (double)(run->count - r->index)
					       ? run->count - r->index
					       : (size_t)fits;
			energy_rows_whole(r, column, count ? count : 1);
			from = start + (double)(count ? count : 1) * interval;
			continue;
		}
		double until = to < end ? to : end;
		const double part = (until - from) * rate;
		energy_row_touch(r, column, part);
		r->filled += part;
		if (until >= end - NEAR * interval) {
			if (r->filled > 0.999) {
				energy_row_end(r);
			} else {
				energy_row_break_off(r);
				r->index++;
			}
		}
		from = until >= end - NEAR * interval ? end : until;
	}
	if (r->input->most_samples && r->samples >= r->input->most_samples)
		r->done = true;
}

static void emit(struct energy_regression *r, uint32_t column, double from, double to)
{
	while (from < to && !r->done) {
		const double until = energy_active_until(&r->active, from);
		const double near = r->input->only_sure ? UNSURE * r->input->power->interval : 0;
		const double sure_from = r->changed + near, sure_to = until - near;
		double end = energy_lesser(until, to);

		if (near > 0 && from < sure_from)
			end = energy_lesser(end, sure_from);
		else if (near > 0 && from < sure_to)
			end = energy_lesser(end, sure_to);
		r->near = near > 0 && (from < sure_from || from >= sure_to);
		piece(r, column, from, end);
		r->changed = end >= until ? until : r->changed;
		from = end;
	}
}

static double enter_length(const struct energy_hook *hook)
{
	return hook->enter_before + hook->enter_after;
}

static double exit_length(const struct energy_hook *hook)
{
	return hook->exit_before + hook->exit_after;
}

static unsigned hook_parts(const struct energy_resolve_input *input)
{
	return input->for_clock ? ENERGY_CLOCK_PARTS : ENERGY_HOOK_PARTS;
}

static double part_length(const struct energy_resolve_input *input)
{
	return energy_greater(enter_length(input->hook), exit_length(input->hook)) /
	       hook_parts(input);
}

bool energy_hooks_are_fine(const struct energy_resolve_input *input)
{
	return 2 < part_length(input) * input->events->hertz;
}

/* A hook from `at` seconds after its begin on. */
static void emit_hook(struct energy_regression *r, uint32_t column, double at, double from,
		      double to)
{
	const double part = part_length(r->input), begin = from - at;
	const unsigned parts = hook_parts(r->input);

	if (!energy_hooks_are_fine(r->input)) {
		emit(r, ENERGY_COLUMN_HOOKS, from, to);
		return;
	}
	for (unsigned i = 0; i < parts; i++)
		emit(r, column + i, energy_greater(from, begin + i * part),
		     i + 1 < parts ? energy_lesser(to, begin + (i + 1) * part) : to);
}

/* What the function itself does between two hooks. What it does beside a hook is seldom what it
 * does on average, and would be taken for the hook's: begin and end have columns of their own. */
static void emit_span(struct energy_regression *r, double from, double to)
{
	const unsigned parts = r->ends ? r->end_parts : 0;
	const double part = part_length(r->input);
	const double end = energy_greater(
		0, energy_lesser(parts * part, (to - from) / (r->input->for_clock ? 2 : 3)));

	for (unsigned i = 0; i < parts && i * part < end; i++)
		emit(r, r->ends + i, from + i * part, from + energy_lesser((i + 1) * part, end));
	emit(r, r->column, from + end, to - end);
	for (unsigned i = parts; i-- > 0;) {
		if (i * part < end)
			emit(r, r->ends + parts + i, to - energy_lesser((i + 1) * part, end),
			     to - i * part);
	}
}

static void emit_pending(struct energy_regression *r)
{
	const struct energy_hook *hook = r->input->hook;

	if (!r->pending)
		return;
	double length = r->to - r->from, lead = r->lead, trail = r->trail;
	if (lead + trail > length) { /* the clock's steps are as long as the hooks */
		double scale = length / (lead + trail);
		lead *= scale;
		trail *= scale;
	}
	emit_hook(r, r->lead_column,
		  r->lead_column == ENERGY_COLUMN_EXITS ? hook->exit_before : hook->enter_before,
		  r->from, r->from + lead);
	emit_span(r, r->from + lead, r->to - trail);
	emit_hook(r, r->trail_column, 0, r->to - trail, r->to);
	r->pending = false;
}

static void segment(void *context, struct energy_lane *lane, uint32_t node, double from, double to)
{
	struct energy_regression *r = context;
	const struct energy_tree *tree = &r->input->result->tree;

	(void)lane;
	emit_pending(r);
	r->pending = true;
	r->ends = 0;
	if (node == ENERGY_TRANSFER)
		r->column = ENERGY_COLUMN_TRANSFER;
	else if (node == ENERGY_ROOT || node >= tree->count)
		r->column = ENERGY_COLUMN_OUTSIDE;
	else {
		r->column = r->column_of[tree->nodes[node].function];
		r->ends = r->ends_of[tree->nodes[node].function];
	}
	r->from = from;
	r->to = to;
	r->lead = r->next_lead;
	r->lead_column = r->next_column;
	r->next_lead = r->trail = 0;
	r->trail_column = r->next_column = ENERGY_COLUMN_HOOKS;
}

static void enter(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind)
{
	struct energy_regression *r = context;

	(void)lane, (void)frame, (void)under, (void)kind;
	r->trail += r->input->hook->enter_before;
	r->next_lead += r->input->hook->enter_after;
}

static void leave(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind, double time)
{
	struct energy_regression *r = context;

	(void)lane, (void)frame, (void)under, (void)time;
	if (kind != ENERGY_EVENT_LEAVE)
		return;
	r->trail += r->input->hook->exit_before;
	r->next_lead += r->input->hook->exit_after;
	if (r->input->for_clock)
		r->trail_column = r->next_column = ENERGY_COLUMN_EXITS;
}

enum litifut_status energy_regression_walk(struct energy_regression *r, struct litifut_error *error)
{
	const struct energy_resolve_input *input = r->input;
	struct energy_visitor visitor = {.context = r,
					 .segment = segment,
					 .enter = enter,
					 .leave = leave,
					 .enough = &r->done};
	struct energy_walk_counts counts;
	struct energy_tree tree;

	r->rate = 1 / input->power->interval;
	energy_tree_start(&tree); /* gives the same numbers as the first time */
	r->active.all = input->occupations;
	r->lead_column = r->trail_column = r->next_column = ENERGY_COLUMN_HOOKS;
	r->changed = -INFINITY;
	if (input->occupations && !input->states_stay)
		r->active.later = input->clock->shift - input->occupations->shift;
	enum litifut_status status =
		energy_walk(input->events, input->clock, &tree, input->result->begin,
			    input->result->end, &visitor, &counts, error);
	emit_pending(r);
	energy_tree_release(&tree);
	return status;
}
