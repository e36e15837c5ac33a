#include "postproc/energy/learn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

/* Farther from the call nothing is looked for. */
#define LONGEST 0.1
#define MOST_POINTS 200000
/* Samples at the end of the window that show the level of "off". */
#define TAIL_PART 0.25
/* Of the highest level: less is not a state. */
#define LEAST_PART 0.02

struct triggers {
	const struct energy_tree *tree;
	uint32_t function;
	struct trigger {
		double time, end; /* of its window: the recorder sends its data then */
	} * items;
	size_t count, capacity;
	bool failed;
};

static void segment(void *context, struct energy_lane *lane, uint32_t node, double from, double to)
{
	struct triggers *t = context;

	(void)lane, (void)to;
	if (node == ENERGY_TRANSFER && t->count && from < t->items[t->count - 1].end)
		t->items[t->count - 1].end = from;
}

static void leave(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind, double time)
{
	struct triggers *t = context;

	(void)lane, (void)under;
	if (kind == ENERGY_EVENT_LOST || t->tree->nodes[frame->node].function != t->function)
		return;
	if (t->count == t->capacity) {
		size_t wanted = t->capacity ? 2 * t->capacity : 256;
		struct trigger *more = litifut_memory_resized(t->items, wanted, sizeof(*more));
		if (!more) {
			t->failed = true;
			return;
		}
		t->items = more;
		t->capacity = wanted;
	}
	t->items[t->count++] = (struct trigger){time, INFINITY};
}

/* The mean of the curve from each trigger on, in steps of a sample, and how often each was
 * there. A window ends where the next trigger begins, or the recorder sends its data. */
static size_t average(const struct energy_power *power, const float *rest,
		      const struct triggers *triggers, size_t points, double *sum, double *counts)
{
	size_t run = 0, used = 0;

	for (size_t i = 0; i < triggers->count; i++) {
		while (run < power->run_count &&
		       power->runs[run].time + (double)power->runs[run].count * power->interval <=
			       triggers->items[i].time)
			run++;
		if (run == power->run_count)
			break;
		const struct energy_run *r = &power->runs[run];
		double place = (triggers->items[i].time - r->time) / power->interval;
		double end = (triggers->items[i].end - r->time) / power->interval;
		if (place < 0)
			continue;
		used++;
		/* between two samples: their mean by distance, so that triggers that lie at any
		 * place in a sample line up */
		size_t first = (size_t)place;
		double part = place - (double)first;
		for (size_t k = 0;
		     k < points && first + k + 1 < r->count && (double)(first + k + 2) < end; k++) {
			const float *at = rest + r->first + first + k;
			sum[k] += (1 - part) * at[0] + part * at[1];
			counts[k] += 1;
		}
	}
	return used;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

/* Median and spread: other peripherals may have been on now and then. */
static void middle_of(const double *values, size_t count, double *middle, double *spread)
{
	double *sorted = malloc((count + 1) * sizeof(*sorted));

	*middle = *spread = 0;
	if (!sorted || !count) {
		free(sorted);
		return;
	}
	memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), by_value);
	*middle = sorted[count / 2];
	/* half of a normal distribution lies within 0.6745 of its middle */
	*spread = (sorted[count * 3 / 4] - sorted[count / 4]) / 2 / 0.67448975;
	free(sorted);
}

/* The mean level of a segment; the samples at its borders hold a part of its neighbours. */
static double level_of(const double *mean, size_t from, size_t to)
{
	double sum = 0;

	if (to - from > 8) {
		from += 2;
		to -= 2;
	}
	for (size_t k = from; k < to; k++)
		sum += mean[k];
	return sum / (double)(to - from);
}

/* Segments until the level of "off" is reached for good. */
static void make_states(struct energy_machine *machine, const double *mean, size_t points,
			const struct energy_changes *changes, double off, double noise,
			double interval)
{
	size_t last = 0;
	double most = 0;

	for (size_t k = 0; k < points; k++)
		most = fmax(most, fabs(mean[k] - off));
	machine->states[0] = (struct energy_state){.name = "off"};
	machine->state_count = 1;
	/* The last segment that is not off. What comes after the peripheral was off for longer
	 * than it was on is another one's, or the next round's. */
	size_t on_until = 0;
	for (size_t i = 0; i < changes->count; i++) {
		size_t from = i ? changes->at[i - 1] : 0, to = changes->at[i];
		if (fabs(level_of(mean, from, to) - off) <= fmax(5 * noise, LEAST_PART * most))
			continue;
		if (last && from - on_until > on_until)
			break;
		last = i + 1;
		on_until = to;
	}
	/* Off is what follows: there the same function waits, whose level holds a part of what
	 * the peripheral draws on average. */
	if (last) {
		size_t from = changes->at[last - 1];
		size_t to = last < changes->count ? changes->at[last] : points;
		off = level_of(mean, from, to);
	}
	for (size_t i = 0; i < last && machine->state_count < ENERGY_STATES; i++) {
		size_t from = i ? changes->at[i - 1] : 0, to = changes->at[i];
		double level = level_of(mean, from, to) - off;
		struct energy_state *before = &machine->states[machine->state_count - 1];
		/* the edge of two levels falls into a sample: that is not a state */
		bool edge = to - from <= 2 && i + 1 < changes->count;
		if (edge && machine->state_count > 1) {
			size_t after_to = i + 1 < changes->count ? changes->at[i + 1] : points;
			double next = 0;
			for (size_t k = to; k < after_to; k++)
				next += mean[k] - off;
			next /= (double)(after_to - to);
			double part = fabs(next - before->watts) > 0
					      ? (level - next) / (before->watts - next)
					      : 0.5;
			part = fmax(0, fmin(1, part));
			before->seconds += part * (double)(to - from) * interval;
			if (i + 1 < last)
				changes->at[i] -= (size_t)llround((1 - part) * (double)(to - from));
			continue;
		}
		struct energy_state *state = &machine->states[machine->state_count];
		*state = (struct energy_state){.watts = fmax(0, level),
					       .seconds = (double)(to - from) * interval};
		snprintf(state->name, sizeof(state->name), "s%u", machine->state_count);
		machine->state_count++;
	}
}

static void make_transitions(struct energy_machine *machine, const char *function)
{
	struct energy_transition *first = &machine->transitions[0];

	*first = (struct energy_transition){.when = ENERGY_ON_EXIT, .from = -1, .to = 1};
	snprintf(first->function, sizeof(first->function), "%s", function);
	machine->transition_count = 1;
	for (unsigned i = 1; i < machine->state_count; i++)
		machine->transitions[machine->transition_count++] = (struct energy_transition){
			.when = ENERGY_AFTER,
			.from = (int)i,
			.to = i + 1 < machine->state_count ? (int)i + 1 : 0};
}

static enum litifut_status fail(struct litifut_error *error, enum litifut_status status,
				const char *function, const char *what)
{
	return litifut_error_set(error, status, NULL, NULL, LITIFUT_NO_ADDRESS, "%s: %s", function,
				 what);
}

static enum litifut_status learn(struct energy_analysis *analysis, const char *function,
				 const struct triggers *triggers, const float *rest,
				 struct energy_machine *machine, struct litifut_error *error)
{
	const struct energy_power *power = &analysis->power;
	double window = LONGEST;

	for (size_t i = 1; i < triggers->count; i++)
		window = fmin(window, triggers->items[i].time - triggers->items[i - 1].time);
	size_t points = (size_t)fmin(MOST_POINTS, window / power->interval);
	if (points < 16)
		return fail(error, LITIFUT_ERROR_MISSING, function,
			    "its calls follow each other too closely to learn from");
	double *sum = calloc(points, sizeof(*sum)), *counts = calloc(points, sizeof(*counts));
	enum litifut_status status = LITIFUT_OK;
	struct energy_changes changes = {0};
	if (!sum || !counts) {
		status = fail(error, LITIFUT_ERROR_IO, function, "not enough memory");
	} else {
		size_t used = average(power, rest, triggers, points, sum, counts);
		while (points && !(counts[points - 1] > 0))
			points--;
		for (size_t k = 0; k < points; k++)
			sum[k] = counts[k] > 0 ? sum[k] / counts[k] : 0;
		double noise = analysis->noise / sqrt(fmax(1, (double)used));
		/* what functions do at the same distance from the call, again and again, is not
		 * noise but looks like it: how much is seen at the end of the window */
		size_t tail = (size_t)((1 - TAIL_PART) * (double)points);
		double off, spread;
		middle_of(sum + tail, points - tail, &off, &spread);
		noise = fmax(noise, spread);
		if (used < 2 || points < 16 ||
		    !energy_changes_fpop(sum, NULL, points,
					 3 * energy_changes_penalty(noise, points), &changes))
			status = fail(error, LITIFUT_ERROR_MISSING, function,
				      "it returned less than twice while samples were taken");
		else
			make_states(machine, sum, points, &changes, off, noise, power->interval);
	}
	energy_changes_release(&changes);
	free(sum);
	free(counts);
	if (status == LITIFUT_OK && machine->state_count < 2)
		status = fail(error, LITIFUT_ERROR_MISSING, function,
			      "after its returns the power does not change");
	if (status == LITIFUT_OK)
		make_transitions(machine, function);
	return status;
}

enum litifut_status energy_learn(struct energy_analysis *analysis, const char *function,
				 struct energy_machines *machines, struct litifut_error *error)
{
	struct energy_tree tree;
	struct triggers triggers = {.tree = &tree, .function = ENERGY_NO_FUNCTION};
	struct energy_visitor visitor = {&triggers, segment, NULL, leave};
	struct energy_walk_counts counts;
	struct energy_resolve_input input = {
		.power = &analysis->power,
		.events = &analysis->events,
		.clock = &analysis->clock,
		.hook = &analysis->hook,
		.result = &analysis->result,
		.noise = analysis->noise,
		.channel = analysis->power.channels == 1 ? 0 : ENERGY_CHANNELS};

	for (uint32_t i = 0; i < analysis->name_count; i++) {
		if (!strcmp(analysis->names[i], function))
			triggers.function = i;
	}
	if (triggers.function == ENERGY_NO_FUNCTION)
		return fail(error, LITIFUT_ERROR_MISSING, function,
			    "the trace has no such function");
	struct energy_machine *machine = calloc(1, sizeof(*machine));
	float *rest = litifut_memory_array(analysis->power.count + 1, sizeof(*rest));
	energy_tree_start(&tree);
	enum litifut_status status =
		machine && rest ? energy_walk(&analysis->events, &analysis->clock, &tree,
					      analysis->result.begin, analysis->result.end,
					      &visitor, &counts, error)
				: fail(error, LITIFUT_ERROR_IO, function, "not enough memory");
	if (status == LITIFUT_OK)
		status = energy_rest(&analysis->resolved, &input, false, rest, error);
	if (status == LITIFUT_OK)
		status = learn(analysis, function, &triggers, rest, machine, error);
	free(rest);
	free(triggers.items);
	energy_tree_release(&tree);
	if (status != LITIFUT_OK) {
		free(machine);
		return status;
	}
	snprintf(machine->name, sizeof(machine->name), "%.31s", function);
	*machines = (struct energy_machines){machine, 1, machine->state_count};
	return LITIFUT_OK;
}
