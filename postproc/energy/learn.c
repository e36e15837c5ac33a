/* How states are found: `docs/energy.md`, "Learning", says it in words. */
#include "postproc/energy/learn.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "postproc/energy/triggers.h"

#define MOST_POINTS 200000
/* Samples at the end of a window that show the level at which the peripheral stays. */
#define TAIL_PART 0.25
/* Of the highest level: less is not a state. */
#define LEAST_PART 0.02
/* Levels at which the peripheral stays differ by this part of all that was seen, at least. */
#define LEVEL_PART 0.03
/* Of all calls: fewer do not make a level at which it stays. */
#define MEMBERS_PART 0.05
/* Samples that show a level well enough. */
#define LEAST_TAIL 4
#define LEVELS 8

/* The levels at which the peripheral stays until a call, lowest first. */
struct levels {
	double watts[LEVELS];
	unsigned count;
};

/* The mean of the curve from each trigger of a group on, in steps of a sample, and how often each
 * was there. */
static size_t average(const struct energy_power *power, const float *rest,
		      const struct energy_triggers *triggers, const size_t *group,
		      size_t group_count, size_t points, double *sum, double *counts)
{
	size_t used = 0;

	for (size_t i = 0; i < group_count; i++) {
		struct energy_stretch s =
			energy_trigger_samples(power, rest, &triggers->items[group[i]]);
		used += s.count > 0;
		/* between two samples: their mean by distance, so that triggers that lie at any
		 * place in a sample line up */
		for (size_t k = 0; k < points && k < s.count; k++) {
			sum[k] += (1 - s.part) * s.at[k] + s.part * s.at[k + 1];
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

/* Segments until the level is reached at which the peripheral stays; `off` is that, and `stays` how
 * many watts it is above off. Adds the states and gives the number of the first one; 0: there is
 * none. */
static unsigned add_states(struct energy_machine *machine, const double *mean, size_t points,
			   struct energy_changes *changes, double off, double stays, double noise,
			   double interval)
{
	const unsigned before = machine->state_count;
	double most = 0;
	/* The last segment that is not off. What comes after the peripheral was off for longer
	 * than it was on is another one's, or the next round's. */
	size_t last = 0, on_until = 0;

	for (size_t k = 0; k < points; k++)
		most = fmax(most, fabs(mean[k] - off));
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
		struct energy_state *former = &machine->states[machine->state_count - 1];
		/* the edge of two levels falls into a sample: that is not a state */
		bool edge = to - from <= 2;
		/* of the call itself and what it has started */
		if (edge && machine->state_count == before) {
			changes->at[i] = 0;
			continue;
		}
		if (edge && machine->state_count > before) {
			size_t after_to = i + 1 < changes->count ? changes->at[i + 1] : points;
			double next = level_of(mean, to, after_to) - off;
			double own = former->watts - stays;
			double part = fabs(next - own) > 0 ? (level - next) / (own - next) : 0.5;
			part = fmax(0, fmin(1, part));
			former->seconds += part * (double)(to - from) * interval;
			if (i + 1 < last)
				changes->at[i] -= (size_t)llround((1 - part) * (double)(to - from));
			continue;
		}
		struct energy_state *state = &machine->states[machine->state_count];
		*state = (struct energy_state){.watts = fmax(0, level + stays),
					       .seconds = (double)(to - from) * interval};
		machine->state_count++;
	}
	return machine->state_count > before ? before : 0;
}

static void add_transition(struct energy_machine *machine, struct energy_transition transition,
			   const char *function)
{
	if (machine->transition_count == ENERGY_TRANSITIONS)
		return;
	if (function)
		snprintf(transition.function, sizeof(transition.function), "%s", function);
	machine->transitions[machine->transition_count++] = transition;
}

/* A function's call when the peripheral stays at the level `from` (-1: whatever it does): the
 * states that follow, and the level `to` at which it stays then. */
static void add_transitions(struct energy_machine *machine, const char *function, int from, int to,
			    unsigned first)
{
	if (!first) {
		if (from >= 0 && from != to)
			add_transition(machine,
				       (struct energy_transition){
					       .when = ENERGY_ON_EXIT, .from = from, .to = to},
				       function);
		return;
	}
	add_transition(
		machine,
		(struct energy_transition){.when = ENERGY_ON_EXIT, .from = from, .to = (int)first},
		function);
	for (unsigned i = first; i < machine->state_count; i++)
		add_transition(machine,
			       (struct energy_transition){
				       .when = ENERGY_AFTER,
				       .from = (int)i,
				       .to = i + 1 < machine->state_count ? (int)i + 1 : to},
			       NULL);
}

static enum litifut_status fail(struct litifut_error *error, enum litifut_status status,
				const char *function, const char *what)
{
	return litifut_error_set(error, status, NULL, NULL, LITIFUT_NO_ADDRESS, "%s: %s", function,
				 what);
}

/* The level at the end of each window, which is the one before the next trigger as well. */
static void find_ends(const struct energy_power *power, const float *rest,
		      struct energy_triggers *triggers, double *values)
{
	for (size_t i = 0; i < triggers->count; i++) {
		struct energy_stretch s = energy_trigger_samples(power, rest, &triggers->items[i]);
		size_t tail = (size_t)(TAIL_PART * (double)s.count);
		double spread;
		if (tail > MOST_POINTS)
			tail = MOST_POINTS;
		if (tail < LEAST_TAIL)
			continue;
		for (size_t k = 0; k < tail; k++)
			values[k] = s.at[s.count - tail + k];
		middle_of(values, tail, &triggers->items[i].level, &spread);
	}
}

/* How far apart levels must be, to be two: a part of what the curve spans in windows, and more than
 * noise makes of one. */
static double least_gap(const struct energy_power *power, const float *rest,
			const struct energy_triggers *triggers, double noise)
{
	double least = INFINITY, most = -INFINITY;

	for (size_t i = 0; i < triggers->count; i++) {
		struct energy_stretch s = energy_trigger_samples(power, rest, &triggers->items[i]);
		for (size_t k = 0; k + 8 <= s.count; k += 8) {
			double sum = 0;
			for (size_t j = k; j < k + 8; j++)
				sum += s.at[j];
			least = fmin(least, sum / 8);
			most = fmax(most, sum / 8);
		}
	}
	return fmax(LEVEL_PART * (most - least), 6 * noise / sqrt(LEAST_TAIL));
}

/* Groups the levels at the ends of windows, where there are gaps between them. */
static void find_levels(struct energy_triggers *triggers, double gap, double *values,
			struct levels *levels)
{
	size_t count = 0;

	*levels = (struct levels){.count = 0};
	for (size_t i = 0; i < triggers->count; i++) {
		if (!isnan(triggers->items[i].level))
			values[count++] = triggers->items[i].level;
	}
	qsort(values, count, sizeof(*values), by_value);
	for (size_t from = 0, i = 1; i <= count; i++) {
		if (i < count && values[i] - values[i - 1] <= gap)
			continue;
		if ((double)(i - from) >= fmax(3, MEMBERS_PART * (double)count) &&
		    levels->count < LEVELS)
			levels->watts[levels->count++] = values[from + (i - from) / 2];
		from = i;
	}
	for (size_t i = 1; i < triggers->count; i++) {
		double level = triggers->items[i - 1].level;
		for (unsigned k = 0; k < levels->count; k++) {
			if (fabs(level - levels->watts[k]) <= gap)
				triggers->items[i].before = (int)k;
		}
	}
}

static int nearest_level(const struct levels *levels, double watts)
{
	int best = 0;

	for (unsigned k = 1; k < levels->count; k++) {
		if (fabs(watts - levels->watts[k]) < fabs(watts - levels->watts[best]))
			best = (int)k;
	}
	return best;
}

/* Samples of a window that most of the group have. */
static size_t usual_length(const struct energy_power *power, const float *rest,
			   const struct energy_triggers *triggers, const size_t *group,
			   size_t count, double *values)
{
	for (size_t i = 0; i < count; i++)
		values[i] = (double)energy_trigger_samples(power, rest, &triggers->items[group[i]])
				    .count;
	qsort(values, count, sizeof(*values), by_value);
	return count ? (size_t)fmin(MOST_POINTS, values[count / 4]) : 0;
}

struct learning {
	const struct energy_analysis *analysis;
	const float *rest;
	struct energy_triggers *triggers;
	struct levels levels;
	double *values; /* room for numbers */
	double *sum, *counts;
	size_t *group;
	struct energy_machine *machine;
};

/* What calls of a function do when the peripheral stays at a level; `before` -1: at any. */
static enum litifut_status learn_group(struct learning *l, uint32_t function, int before,
				       struct litifut_error *error)
{
	const struct energy_power *power = &l->analysis->power;
	const char *name = l->analysis->names[function];
	struct energy_changes changes = {0};
	size_t count = 0;

	for (size_t i = 0; i < l->triggers->count; i++) {
		const struct energy_trigger *t = &l->triggers->items[i];
		if (t->function == function && (before < 0 || t->before == before))
			l->group[count++] = i;
	}
	if (before >= 0 && count < 2)
		return LITIFUT_OK; /* such calls were not made */
	size_t points = usual_length(power, l->rest, l->triggers, l->group, count, l->values);
	if (count >= 2 && points < 16)
		return fail(error, LITIFUT_ERROR_MISSING, name,
			    "its calls follow each other too closely to learn from");
	memset(l->sum, 0, points * sizeof(*l->sum));
	memset(l->counts, 0, points * sizeof(*l->counts));
	size_t used =
		average(power, l->rest, l->triggers, l->group, count, points, l->sum, l->counts);
	if (used < 2)
		return fail(error, LITIFUT_ERROR_MISSING, name,
			    "it returned less than twice while samples were taken");
	for (size_t k = 0; k < points; k++)
		l->sum[k] = l->counts[k] > 0 ? l->sum[k] / l->counts[k] : 0;
	double noise = l->analysis->noise / sqrt((double)used);
	/* what functions do at the same distance from the call, again and again, is not
	 * noise but looks like it: how much is seen at the end of the window */
	size_t tail = (size_t)((1 - TAIL_PART) * (double)points);
	double off, spread;
	middle_of(l->sum + tail, points - tail, &off, &spread);
	noise = fmax(noise, spread);
	if (!energy_changes_fpop(l->sum, NULL, points, 3 * energy_changes_penalty(noise, points),
				 &changes))
		return fail(error, LITIFUT_ERROR_IO, name, "not enough memory");
	int to = before < 0 ? 0 : nearest_level(&l->levels, off);
	double stays = l->levels.watts[to] - l->levels.watts[0];
	unsigned first = add_states(l->machine, l->sum, points, &changes, off,
				    before < 0 ? 0 : stays, noise, power->interval);
	add_transitions(l->machine, name, before, to, first);
	energy_changes_release(&changes);
	return LITIFUT_OK;
}

/* Of the levels at which it stays, and of the others. */
static void name_states(struct energy_machine *machine, unsigned stays)
{
	for (unsigned i = 0; i < machine->state_count; i++) {
		struct energy_state *state = &machine->states[i];
		if (!i)
			snprintf(state->name, sizeof(state->name), "off");
		else if (i < stays)
			snprintf(state->name, sizeof(state->name), "on%u", i);
		else
			snprintf(state->name, sizeof(state->name), "s%u", i - stays + 1);
	}
}

static enum litifut_status learn(struct energy_analysis *analysis, const char *pattern,
				 struct energy_triggers *triggers, const float *rest,
				 struct energy_machine *machine, struct litifut_error *error)
{
	size_t room = triggers->count + MOST_POINTS + 1;
	struct learning l = {.analysis = analysis,
			     .rest = rest,
			     .triggers = triggers,
			     .machine = machine,
			     .values = calloc(room, sizeof(*l.values)),
			     .sum = calloc(MOST_POINTS + 1, sizeof(*l.sum)),
			     .counts = calloc(MOST_POINTS + 1, sizeof(*l.counts)),
			     .group = calloc(room, sizeof(*l.group))};
	enum litifut_status status = LITIFUT_OK;

	if (!l.values || !l.sum || !l.counts || !l.group) {
		status = fail(error, LITIFUT_ERROR_IO, pattern, "not enough memory");
	} else {
		find_ends(&analysis->power, rest, triggers, l.values);
		find_levels(triggers, least_gap(&analysis->power, rest, triggers, analysis->noise),
			    l.values, &l.levels);
		bool several = l.levels.count > 1;
		machine->state_count = several ? l.levels.count : 1;
		for (unsigned k = 1; k < machine->state_count; k++)
			machine->states[k].watts = l.levels.watts[k] - l.levels.watts[0];
		unsigned stays = machine->state_count;
		for (uint32_t f = 0; f < analysis->name_count && !status; f++) {
			for (unsigned k = 0; k < stays && !status && triggers->wanted[f]; k++)
				status = learn_group(&l, f, several ? (int)k : -1, error);
		}
		name_states(machine, stays);
	}
	free(l.values);
	free(l.sum);
	free(l.counts);
	free(l.group);
	if (status == LITIFUT_OK && !machine->transition_count)
		status = fail(error, LITIFUT_ERROR_MISSING, pattern,
			      "after its returns the power does not change");
	return status;
}

enum litifut_status energy_learn(struct energy_analysis *analysis, const char *const *patterns,
				 size_t pattern_count, struct energy_machines *machines,
				 struct litifut_error *error)
{
	bool *wanted = calloc(analysis->name_count + 1, sizeof(*wanted));
	struct energy_triggers triggers = {.wanted = wanted};
	struct energy_resolve_input input = energy_resolve_input_of(analysis);

	for (size_t k = 0; k < pattern_count && wanted; k++) {
		bool found = false;
		for (uint32_t i = 0; i < analysis->name_count; i++) {
			if (fnmatch(patterns[k], analysis->names[i], 0) &&
			    strcmp(patterns[k], analysis->names[i]))
				continue;
			/* the trace may name functions that it has no call of */
			if (i >= analysis->result.function_count ||
			    !analysis->result.functions[i].calls)
				continue;
			wanted[i] = found = true;
		}
		if (!found) {
			free(wanted);
			return fail(error, LITIFUT_ERROR_MISSING, patterns[k],
				    "the trace has no such function");
		}
	}
	struct energy_machine *machine = calloc(1, sizeof(*machine));
	float *rest = litifut_memory_array(analysis->power.count + 1, sizeof(*rest));
	enum litifut_status status =
		machine && rest && wanted
			? energy_triggers_find(&triggers, analysis, error)
			: fail(error, LITIFUT_ERROR_IO, patterns[0], "not enough memory");
	if (status == LITIFUT_OK)
		status = energy_rest(&analysis->resolved, &input, rest, error);
	if (status == LITIFUT_OK)
		status = learn(analysis, patterns[0], &triggers, rest, machine, error);
	free(rest);
	free(wanted);
	free(triggers.items);
	if (status != LITIFUT_OK) {
		free(machine);
		return status;
	}
	snprintf(machine->name, sizeof(machine->name), "%.*s", (int)strcspn(patterns[0], "*?["),
		 patterns[0]);
	if (!*machine->name)
		snprintf(machine->name, sizeof(machine->name), "device");
	*machines = (struct energy_machines){machine, 1, machine->state_count};
	return LITIFUT_OK;
}
