/* The normal equations, row by row. A row has few entries: the functions of one sample; where
 * one function fills many samples, these are added in one go. Longer than 500 lines, because
 * building the equations, solving them and judging the solution share one matrix. */
#include "postproc/energy/resolve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "postproc/energy/bounds.h"

#define MOST_FUNCTIONS 500
#define MOST_ENDS 50 /* functions whose spans have ends */
#define MOST_TOUCHED 256
#define PRIOR 1e-3 /* samples */
/* By how much of what a processor draws do the ends of spans differ from what is between them? */
#define USUAL_END 0.25
/* Behind capacitors: a smaller part of a sample is not worth a row's time. */
#define FADED 1e-6
/* Of a sample: closer than this are two times the same, after 10^9 samples as well. */
#define NEAR 1e-6
/* Samples before and after a change of a peripheral's state. */
#define UNSURE 2
/* With fewer spans the levels of begin and end are too uncertain. */
#define MANY_SPANS 1000
/* Columns of each end of a span where the clock is looked for. */
#define CLOCK_ENDS 20
/* Samples of a mean span: in a longer one the ends do not matter. */
#define SHORT_SPAN 5

struct regression {
	const struct energy_resolve_input *input;
	const uint32_t *column_of, *ends_of;
	unsigned end_parts;
	size_t columns, first_state;
	struct energy_rows rows;
	uint64_t samples;

	/* the sample that is being filled */
	size_t run, index;
	double filled; /* part of it */
	double rate;   /* samples a second */
	uint32_t touched[MOST_TOUCHED];
	unsigned touched_count;
	double *part; /* by column */

	/* Behind capacitors the noise is that of the curve as it was measured: the rows, which
	 * are of the curve without them, are smeared again. */
	double kept;     /* of a sample in the next one; 0: there are no capacitors */
	double *smeared; /* by column: of the rows so far */
	double smeared_value;
	uint32_t *live; /* columns that are not 0 in `smeared` */
	unsigned live_count;
	double *seconds; /* by column */

	/* The levels before at the sample's ends, and the time from and to which it drifts. */
	double level_first, level_last;
	size_t shift;
	double middle, half;

	/* the span that is not over, and the parts of hooks at its ends */
	bool pending;
	uint32_t column, ends;
	double from, to, lead, trail, next_lead;
	uint32_t lead_column, trail_column, next_column; /* of calls or of returns */
	struct energy_active active;
	double changed; /* when a state began or ended last */
	bool near;      /* the piece is near to that */
	bool uncertain; /* the sample has such a piece */

	/* other uses of the same walk */
	const struct energy_level *levels; /* known: rows go to `observed`, `rest`, `sums` */
	float *rest;
	bool states;  /* `rest` is without these as well */
	double *sums; /* of `rest`, of blocks */
	size_t block; /* samples of each */
	double *observed, *observed_seconds;
	double *divided, *divided_samples; /* by column: W, and how many samples it had */
	double caused;                     /* by peripherals in the sample, W */
	bool done;
};

static double sample_power(const struct regression *r, size_t sample)
{
	return energy_power_at(r->input->power, r->input->channel, sample);
}

/* Of samples [from, to) together; several sums, as each addition waits for the one before it. */
static double samples_power(const struct regression *r, size_t from, size_t to)
{
	double sums[4] = {0};

	for (; from + 4 <= to; from += 4) {
		for (unsigned i = 0; i < 4; i++)
			sums[i] += sample_power(r, from + i);
	}
	for (; from < to; from++)
		sums[0] += sample_power(r, from);
	return sums[0] + sums[1] + (sums[2] + sums[3]);
}

/* What is left is divided by time, as nothing else is known of it. */
static void divide_row(struct regression *r, double value)
{
	double left = value - r->caused;

	for (unsigned i = 0; i < r->touched_count; i++) {
		const uint32_t column = r->touched[i];
		if (column < r->first_state)
			left -= r->part[column] * r->levels[column].watts;
	}
	for (unsigned i = 0; i < r->touched_count; i++) {
		const uint32_t column = r->touched[i];
		if (column < r->first_state) {
			r->divided[column] += r->part[column] * (r->levels[column].watts + left);
			r->divided_samples[column] += r->part[column];
		}
	}
}

static void row_known(struct regression *r, double value, size_t sample)
{
	double explained = 0;

	if (r->divided) {
		divide_row(r, value);
		return;
	}

	for (unsigned i = 0; i < r->touched_count; i++) {
		uint32_t column = r->touched[i];
		if (column < r->first_state || r->states)
			explained += r->part[column] * r->levels[column].watts;
	}
	if (r->rest)
		r->rest[sample] = (float)(value - explained);
	if (r->sums)
		r->sums[sample / r->block] += value - explained;
	if (r->observed) {
		for (unsigned i = 0; i < r->active.count; i++) {
			uint32_t item = r->active.items[i];
			const struct energy_occupations *all = r->active.all;
			double others = 0;
			for (unsigned k = 0; k < r->active.count; k++) {
				const struct energy_occupation *other =
					&all->items[r->active.items[k]];
				if (k != i)
					others += r->levels[r->first_state + other->state].watts;
			}
			r->observed[item] += value - explained - others;
			r->observed_seconds[item] += 1;
		}
	}
}

static void empty_row(struct regression *r)
{
	for (unsigned i = 0; i < r->touched_count; i++)
		r->part[r->touched[i]] = 0;
	r->touched_count = 0;
	r->filled = r->caused = 0;
	r->uncertain = false;
}

/* What comes next does not follow what was there before. */
static void break_off(struct regression *r)
{
	empty_row(r);
	for (unsigned i = 0; i < r->live_count; i++)
		r->smeared[r->live[i]] = 0;
	r->live_count = 0;
	r->smeared_value = 0;
}

/* Of each two cells that mirror each other the rows have filled one or the other. */
static void both_halves(struct regression *r)
{
	for (size_t i = 0; i < r->columns; i++) {
		for (size_t k = 0; k < i; k++) {
			double *one = &r->rows.xx[i * r->columns + k],
			       *other = &r->rows.xx[k * r->columns + i];
			*one = *other = *one + *other;
		}
	}
}

static void add_row(struct regression *r, const uint32_t *columns, unsigned count,
		    const double *row, double value)
{
	for (unsigned i = 0; i < count; i++) {
		double *line = r->rows.xx + columns[i] * r->columns;
		const double part = row[columns[i]];
		for (unsigned k = 0; k <= i; k++)
			line[columns[k]] += part * row[columns[k]];
		r->rows.xy[columns[i]] += part * value;
	}
	r->rows.yy += value * value;
}

/* The same low pass for all columns and for the value, so that what explained the value does
 * still, also where it begins with zeros. */
static double smear(struct regression *r, double value)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < r->live_count; i++) {
		const uint32_t column = r->live[i];
		r->smeared[column] *= r->kept;
		if (fabs(r->smeared[column]) < FADED)
			r->smeared[column] = 0;
		else
			r->live[kept++] = column;
	}
	r->live_count = kept;
	for (unsigned i = 0; i < r->touched_count; i++) {
		const uint32_t column = r->touched[i];
		const double added = (1 - r->kept) * r->part[column];
		if (r->smeared[column] == 0 && added != 0)
			r->live[r->live_count++] = column;
		r->smeared[column] += added;
	}
	r->smeared_value = r->kept * r->smeared_value + (1 - r->kept) * value;
	return r->smeared_value;
}

/* What the sender draws varies, and even more what is drawn before the first event and after the
 * last one. That would be taken for noise: such samples say something of the states of peripherals
 * only. */
static bool is_varied(const struct regression *r, uint32_t column)
{
	return !r->levels && !r->active.count &&
	       (column == ENERGY_COLUMN_TRANSFER || column == ENERGY_COLUMN_OUTSIDE);
}

static void touch(struct regression *r, uint32_t column, double part)
{
	r->uncertain |= r->near || is_varied(r, column);
	if (part == 0)
		return;
	if (r->part[column] != 0)
		r->part[column] += part;
	else if (r->touched_count < MOST_TOUCHED) {
		r->touched[r->touched_count++] = column;
		r->part[column] = part;
	}
}

/* The row of a sample that is full. */
static void end_row(struct regression *r)
{
	const struct energy_run *run = &r->input->power->runs[r->run];
	size_t sample = run->first + r->index;
	double value = sample_power(r, sample);

	if (r->shift && !r->uncertain) {
		/* Later events bring some of what was before the sample into it. */
		const double gained = r->level_first - r->level_last;
		const double time = run->time + (double)r->index * r->input->power->interval;
		touch(r, (uint32_t)r->shift, gained);
		touch(r, (uint32_t)r->shift + 1, gained * (time - r->middle) / r->half);
	}

	if (r->levels) {
		row_known(r, value, sample);
	} else if (!r->uncertain) {
		for (unsigned i = 0; i < r->touched_count; i++)
			r->seconds[r->touched[i]] +=
				r->part[r->touched[i]] * r->input->power->interval;
		r->rows.y += value;
		if (r->kept > 0) {
			value = smear(r, value);
			add_row(r, r->live, r->live_count, r->smeared, value);
		} else {
			add_row(r, r->touched, r->touched_count, r->part, value);
		}
	}
	r->samples += !r->uncertain;
	if (r->uncertain)
		break_off(r);
	else
		empty_row(r);
	r->index++;
}

/* Of the levels before: the column's, and that of the states that are active. */
static double level_before(const struct regression *r, uint32_t column)
{
	const struct energy_level *levels = r->input->before->columns;
	double sum = levels[column].watts;

	for (unsigned i = 0; i < r->active.count; i++)
		sum += levels[r->first_state + r->active.all->items[r->active.items[i]].state]
			       .watts;
	return sum;
}

/* By peripherals that are active, as the integrals have it. */
static double caused_now(const struct regression *r)
{
	double watts = 0;

	for (unsigned i = 0; i < r->active.count; i++)
		watts += r->active.all->items[r->active.items[i]].watts;
	return watts;
}

static void touch_all(struct regression *r, uint32_t column, double part)
{
	if (r->divided)
		r->caused += part * caused_now(r);
	if (r->shift) {
		r->level_last = level_before(r, column);
		if (!r->touched_count)
			r->level_first = r->level_last;
	}
	touch(r, column, part);
	for (unsigned i = 0; i < r->active.count; i++)
		touch(r,
		      (uint32_t)(r->first_state + r->active.all->items[r->active.items[i]].state),
		      part);
}

/* Do rows of these columns alone stay the same? */
static bool is_settled(const struct regression *r, const uint32_t *columns, unsigned count)
{
	if (!(r->kept > 0))
		return true;
	for (unsigned i = 0; i < count; i++) {
		if (r->smeared[columns[i]] < 1 - FADED)
			return false;
	}
	return r->live_count == count;
}

/* The same with known levels, where no occupation is looked at. */
static void whole_known(struct regression *r, const uint32_t *columns, unsigned number,
			size_t count)
{
	const size_t first = r->input->power->runs[r->run].first + r->index;
	double explained = 0;

	for (unsigned i = 0; i < number; i++) {
		if (columns[i] < r->first_state || r->states)
			explained += r->levels[columns[i]].watts;
	}
	for (size_t i = first; r->rest && i < first + count; i++)
		r->rest[i] = (float)(sample_power(r, i) - explained);
	for (size_t i = first, next; r->sums && i < first + count; i = next) {
		next = (i / r->block + 1) * r->block;
		if (next > first + count)
			next = first + count;
		r->sums[i / r->block] += samples_power(r, i, next) - (double)(next - i) * explained;
	}
	r->samples += count;
	r->index += count;
}

/* Samples that are filled by the same columns from end to end. */
static void whole_samples(struct regression *r, uint32_t column, size_t count)
{
	const struct energy_run *run = &r->input->power->runs[r->run];
	uint32_t columns[33];
	unsigned number = 0;
	double sum = 0, squares = 0;

	if (r->near || is_varied(r, column)) {
		if (is_varied(r, column)) {
			const size_t first = run->first + r->index;
			r->rows.left_out[column] += count;
			r->rows.left_out_sum[column] += samples_power(r, first, first + count);
		}
		r->index += count;
		break_off(r);
		return;
	}
	columns[number++] = column;
	for (unsigned i = 0; i < r->active.count; i++)
		columns[number++] =
			(uint32_t)(r->first_state + r->active.all->items[r->active.items[i]].state);
	if (r->divided) {
		const size_t first = run->first + r->index;
		r->divided[column] +=
			samples_power(r, first, first + count) - (double)count * caused_now(r);
		r->divided_samples[column] += (double)count;
		r->index += count;
		return;
	}
	if (r->levels && !r->observed) {
		whole_known(r, columns, number, count);
		return;
	}
	while (count && (r->levels || !is_settled(r, columns, number))) {
		touch_all(r, column, 1);
		end_row(r);
		count--;
	}
	if (!count)
		return;
	for (size_t i = 0; i < count; i++) {
		double value = sample_power(r, run->first + r->index + i);
		r->rows.y += value;
		if (r->kept > 0)
			value = r->smeared_value =
				r->kept * r->smeared_value + (1 - r->kept) * value;
		sum += value;
		squares += value * value;
	}
	for (unsigned a = 0; a < number; a++) {
		/* a state can be active twice */
		for (unsigned b = 0; b < number; b++)
			r->rows.xx[columns[a] * r->columns + columns[b]] +=
				columns[a] == columns[b] ? (double)count : (double)count / 2;
		r->rows.xy[columns[a]] += sum;
		r->seconds[columns[a]] += (double)count * r->input->power->interval;
	}
	r->rows.yy += squares;
	r->samples += count;
	r->index += count;
}

/* Skips to the sample in which `time` lies; a sample that is not wholly covered is dropped. */
static bool find_sample(struct regression *r, double time)
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
				break_off(r);
				r->index = index;
			}
			return true;
		}
		r->run++;
		break_off(r);
		r->index = 0;
	}
	r->done = true;
	return false;
}

static void piece(struct regression *r, uint32_t column, double from, double to)
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
			whole_samples(r, column, count ? count : 1);
			from = start + (double)(count ? count : 1) * interval;
			continue;
		}
		double until = to < end ? to : end;
		const double part = (until - from) * rate;
		touch_all(r, column, part);
		r->filled += part;
		if (until >= end - NEAR * interval) {
			if (r->filled > 0.999) {
				end_row(r);
			} else {
				break_off(r);
				r->index++;
			}
		}
		from = until >= end - NEAR * interval ? end : until;
	}
	if (r->input->most_samples && r->samples >= r->input->most_samples)
		r->done = true;
}

static void emit(struct regression *r, uint32_t column, double from, double to)
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

/* Only a clock whose steps are shorter than half of a part separates the parts. */
static bool is_fine(const struct energy_resolve_input *input)
{
	return 2 < part_length(input) * input->events->hertz;
}

/* A hook from `at` seconds after its begin on. */
static void emit_hook(struct regression *r, uint32_t column, double at, double from, double to)
{
	const double part = part_length(r->input), begin = from - at;
	const unsigned parts = hook_parts(r->input);

	if (!is_fine(r->input)) {
		emit(r, ENERGY_COLUMN_HOOKS, from, to);
		return;
	}
	for (unsigned i = 0; i < parts; i++)
		emit(r, column + i, energy_greater(from, begin + i * part),
		     i + 1 < parts ? energy_lesser(to, begin + (i + 1) * part) : to);
}

/* What the function itself does between two hooks. What it does beside a hook is seldom what it
 * does on average, and would be taken for the hook's: begin and end have columns of their own. */
static void emit_span(struct regression *r, double from, double to)
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

static void emit_pending(struct regression *r)
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
	struct regression *r = context;
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
	struct regression *r = context;

	(void)lane, (void)frame, (void)under, (void)kind;
	r->trail += r->input->hook->enter_before;
	r->next_lead += r->input->hook->enter_after;
}

static void leave(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind, double time)
{
	struct regression *r = context;

	(void)lane, (void)frame, (void)under, (void)time;
	if (kind != ENERGY_EVENT_LEAVE)
		return;
	r->trail += r->input->hook->exit_before;
	r->next_lead += r->input->hook->exit_after;
	if (r->input->for_clock)
		r->trail_column = r->next_column = ENERGY_COLUMN_EXITS;
}

static enum litifut_status walk(struct regression *r, struct litifut_error *error)
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

/* ---- solving ---- */

/* Cholesky of the rows and columns that are in use, into `lower`. */
static bool decompose(const double *matrix, size_t columns, const size_t *used, size_t count,
		      double *lower)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k <= i; k++) {
			double sum = matrix[used[i] * columns + used[k]];
			for (size_t j = 0; j < k; j++)
				sum -= lower[i * count + j] * lower[k * count + j];
			if (i == k) {
				if (!(sum > 0))
					return false;
				lower[i * count + i] = sqrt(sum);
			} else {
				lower[i * count + k] = sum / lower[k * count + k];
			}
		}
	}
	return true;
}

static void substitute(const double *lower, size_t count, double *vector)
{
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < i; k++)
			vector[i] -= lower[i * count + k] * vector[k];
		vector[i] /= lower[i * count + i];
	}
	for (size_t i = count; i-- > 0;) {
		for (size_t k = i + 1; k < count; k++)
			vector[i] -= lower[k * count + i] * vector[k];
		vector[i] /= lower[i * count + i];
	}
}

/* Of each function over its columns, by the time in each. */
static void combine(struct energy_resolved *resolved, const double *lower, const size_t *used,
		    size_t count, double *vector, double *weights, double variance)
{
	for (size_t i = 0; i < resolved->function_count; i++) {
		const uint32_t column = resolved->column_of[i], ends = resolved->ends_of[i];
		struct energy_level *level = &resolved->functions[i];

		*level = resolved->columns[column];
		if (!ends)
			continue;
		const uint32_t behind = ends + 2 * resolved->end_parts;
		for (uint32_t k = ends; k < behind; k++)
			level->seconds += resolved->columns[k].seconds;
		level->watts = level->error = 0;
		for (size_t k = 0; k < count && level->seconds > 0; k++) {
			const struct energy_level *part = &resolved->columns[used[k]];
			const bool own = used[k] == column || (used[k] >= ends && used[k] < behind);

			weights[k] = own ? part->seconds / level->seconds : 0;
			vector[k] = weights[k];
			level->watts += weights[k] * part->watts;
		}
		substitute(lower, count, vector);
		for (size_t k = 0; k < count; k++)
			level->error += weights[k] * vector[k];
		level->error = sqrt(fmax(0, level->error) * variance);
	}
}

/* No power is negative: those that would be are set to 0, one after another, and taken back
 * when the others allow it. */
static bool solve(const struct regression *r, double *matrix, const double *right,
		  struct energy_resolved *resolved, double variance)
{
	struct energy_level *levels = resolved->columns;
	const size_t columns = r->columns;
	size_t *used = malloc(columns * sizeof(*used)), count = 0;
	double *lower = malloc(columns * columns * sizeof(*lower));
	double *vector = malloc(columns * sizeof(*vector));
	double *weights = malloc(columns * sizeof(*weights));
	bool *out = calloc(columns, sizeof(*out));
	bool good = used && lower && vector && weights && out;

	for (size_t round = 0; good && round < 3 * columns; round++) {
		count = 0;
		for (size_t i = 0; i < columns; i++) {
			if (!out[i] && matrix[i * columns + i] > PRIOR)
				used[count++] = i;
		}
		good = decompose(matrix, columns, used, count, lower);
		for (size_t i = 0; i < count; i++)
			vector[i] = right[used[i]];
		if (good)
			substitute(lower, count, vector);
		size_t worst = count;
		for (size_t i = 0; i < count; i++) {
			const bool is_power = !resolved->shift || used[i] < resolved->shift;
			if (is_power && vector[i] < -1e-15 &&
			    (worst == count || vector[i] < vector[worst]))
				worst = i;
		}
		if (worst == count)
			break;
		out[used[worst]] = true;
	}
	for (size_t i = 0; good && i < columns; i++)
		levels[i].watts = levels[i].error = 0;
	for (size_t i = 0; good && i < count; i++)
		levels[used[i]].watts = vector[i];
	/* the errors: the diagonal of the inverse; the search for the clock needs none */
	for (size_t i = 0; good && i < count && !r->input->for_clock; i++) {
		memset(vector, 0, count * sizeof(*vector));
		vector[i] = 1;
		substitute(lower, count, vector);
		levels[used[i]].error = sqrt(fmax(0, vector[i]) * variance);
	}
	if (good && !r->input->for_clock)
		combine(resolved, lower, used, count, vector, weights, variance);
	free(weights);
	free(used);
	free(lower);
	free(vector);
	free(out);
	return good;
}

/* One level is the other one, with the weight of so many samples. */
static void hold(double *matrix, size_t columns, size_t one, size_t other, double weight)
{
	matrix[one * columns + one] += weight;
	matrix[other * columns + other] += weight;
	matrix[one * columns + other] -= weight;
	matrix[other * columns + one] -= weight;
}

/* The levels of the ends are those of the spans between them, and where there are many columns for
 * the clock also those of the parts of hooks their mean, as far as the samples do not say
 * otherwise. */
static void hold_parts(double *matrix, const struct regression *r,
		       const struct energy_resolved *resolved, double weight)
{
	const size_t columns = r->columns;

	for (size_t i = 0; i < resolved->function_count; i++) {
		const size_t middle = resolved->column_of[i], ends = resolved->ends_of[i];
		for (size_t end = ends; ends && end < ends + 2 * resolved->end_parts; end++) {
			if (r->rows.xx[end * columns + end] > 0)
				hold(matrix, columns, end, middle, weight);
		}
	}
	for (size_t i = ENERGY_COLUMN_HOOKS; r->input->for_clock && i < ENERGY_COLUMN_FIRST; i++) {
		if (r->rows.xx[i * columns + i] > 0)
			hold(matrix, columns, i, ENERGY_COLUMN_HOOK, weight);
	}
}

/* Towards the mean power, with the weight of a thousandth of a sample: columns that the data
 * says nothing of get it, with an error that is large. */
static bool finish(const struct regression *r, struct energy_resolved *resolved)
{
	const size_t columns = r->columns;
	double *matrix = malloc(columns * columns * sizeof(*matrix));
	double *right = malloc(columns * sizeof(*right));
	double mean = r->samples ? r->rows.y / (double)r->samples : 0;
	double noise = r->input->noise * r->input->noise, variance = noise;

	bool good = matrix && right;
	double usual = 0;
	for (int round = 0; good && round < 3; round++) {
		memcpy(matrix, r->rows.xx, columns * columns * sizeof(*matrix));
		memcpy(right, r->rows.xy, columns * sizeof(*right));
		for (size_t i = 0; i < columns; i++) {
			matrix[i * columns + i] += PRIOR;
			if (!resolved->shift || i < resolved->shift)
				right[i] += PRIOR * mean;
		}
		if (usual > 0)
			hold_parts(matrix, r, resolved,
				   variance / (USUAL_END * usual * USUAL_END * usual));
		good = solve(r, matrix, right, resolved, variance);
		double squares = r->rows.yy, held = r->rows.yy;
		for (size_t i = 0; good && i < columns; i++) {
			double level = resolved->columns[i].watts, sum = 0;
			for (size_t k = 0; k < columns; k++)
				sum += r->rows.xx[i * columns + k] * resolved->columns[k].watts;
			squares += level * (sum - 2 * r->rows.xy[i]);
			held -= level * right[i];
		}
		resolved->held = r->samples ? fmax(0, held) / (double)r->samples : 0;
		resolved->residual = r->samples ? fmax(0, squares) / (double)r->samples : 0;
		/* what the columns do not explain counts as noise; each takes some of it away */
		double free_share =
			energy_is_determined(resolved)
				? (double)(r->samples - resolved->unknowns) / (double)r->samples
				: 1;
		variance = fmax(noise, resolved->residual / free_share);
		usual = energy_hook_power(resolved);
	}
	free(matrix);
	free(right);
	for (size_t i = 0; i <= ENERGY_COLUMN_TRANSFER; i++) {
		struct energy_level *level = &resolved->columns[i];
		if (!(level->watts > 0) && r->rows.left_out[i])
			level->watts = r->rows.left_out_sum[i] / (double)r->rows.left_out[i];
	}
	return good;
}

/* Functions by their time; the longest get a column each. */
struct by_time {
	uint32_t function;
	double seconds;
};

static int by_seconds(const void *left, const void *right)
{
	const struct by_time *a = left, *b = right;

	return (a->seconds < b->seconds) - (a->seconds > b->seconds);
}

static size_t choose_columns(struct energy_resolved *resolved, const struct energy_result *result,
			     double interval, bool fine)
{
	struct by_time *order = malloc((result->function_count + 1) * sizeof(*order));
	size_t count = 0, next = ENERGY_COLUMN_FIRST;

	resolved->function_count = result->function_count;
	resolved->column_of = malloc((result->function_count + 1) * sizeof(uint32_t));
	resolved->ends_of = calloc(result->function_count + 1, sizeof(uint32_t));
	resolved->functions = calloc(result->function_count + 1, sizeof(*resolved->functions));
	if (!order || !resolved->column_of || !resolved->ends_of || !resolved->functions) {
		free(order);
		return 0;
	}
	for (uint32_t i = 0; i < result->function_count; i++) {
		resolved->column_of[i] = ENERGY_COLUMN_REST;
		if (result->functions[i].calls)
			order[count++] = (struct by_time){i, result->functions[i].self_seconds};
	}
	qsort(order, count, sizeof(*order), by_seconds);
	for (size_t i = 0; i < count && i < MOST_FUNCTIONS; i++)
		resolved->column_of[order[i].function] = (uint32_t)next++;
	for (size_t i = 0; i < count && i < MOST_ENDS && fine; i++) {
		const struct energy_function *f = &result->functions[order[i].function];
		const double spans = (double)(f->calls + f->made);
		if (spans < MANY_SPANS || f->self_seconds > SHORT_SPAN * interval * spans)
			continue;
		resolved->ends_of[order[i].function] = (uint32_t)next;
		next += 2 * resolved->end_parts;
	}
	free(order);
	return next;
}

static enum litifut_status no_memory(struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
				 "not enough memory for the regression");
}

enum litifut_status energy_resolve(struct energy_resolved *resolved,
				   const struct energy_resolve_input *input,
				   struct litifut_error *error)
{
	struct regression r = {.input = input};

	*resolved = (struct energy_resolved){.state_count = input->state_count};
	resolved->end_parts = input->for_clock ? CLOCK_ENDS : 1;
	resolved->first_state =
		choose_columns(resolved, input->result, input->power->interval, is_fine(input));
	if (!resolved->first_state)
		return no_memory(error);
	r.first_state = resolved->first_state;
	r.columns = resolved->first_state + input->state_count;
	if (input->before) {
		r.shift = resolved->shift = r.columns;
		r.columns += 2;
		r.middle = (input->result->begin + input->result->end) / 2;
		r.half = (input->result->end - input->result->begin) / 2;
	}
	resolved->column_count = r.columns;
	r.column_of = resolved->column_of;
	r.ends_of = resolved->ends_of;
	r.end_parts = resolved->end_parts;
	r.rows.xx = calloc(r.columns * r.columns, sizeof(*r.rows.xx));
	r.rows.xy = calloc(r.columns, sizeof(*r.rows.xy));
	r.part = calloc(r.columns, sizeof(*r.part));
	/* for the clock rows whose edges are where they were say more */
	r.kept = input->only_sure ? 0 : input->power->kept;
	r.smeared = calloc(r.columns, sizeof(*r.smeared));
	r.live = calloc(r.columns, sizeof(*r.live));
	r.seconds = calloc(r.columns, sizeof(*r.seconds));
	resolved->columns = calloc(r.columns, sizeof(*resolved->columns));
	enum litifut_status status = LITIFUT_OK;
	if (!r.rows.xx || !r.rows.xy || !r.part || !r.smeared || !r.live || !r.seconds ||
	    !resolved->columns)
		status = no_memory(error);
	else
		status = walk(&r, error);
	for (size_t i = 0; status == LITIFUT_OK && i < r.columns; i++)
		resolved->columns[i].seconds = r.seconds[i];
	if (status == LITIFUT_OK) {
		both_halves(&r);
		resolved->samples = r.samples;
		for (size_t i = 0; i < r.columns; i++)
			resolved->unknowns += r.rows.xx[i * r.columns + i] > 0;
		if (!finish(&r, resolved))
			status = no_memory(error);
	}
	resolved->rows = r.rows;
	free(r.part);
	free(r.smeared);
	free(r.live);
	free(r.seconds);
	return status;
}

enum litifut_status energy_resolve_again(struct energy_resolved *resolved,
					 const struct energy_resolve_input *input,
					 struct litifut_error *error)
{
	const struct regression r = {.input = input,
				     .columns = resolved->column_count,
				     .rows = resolved->rows,
				     .samples = resolved->samples};

	return finish(&r, resolved) ? LITIFUT_OK : no_memory(error);
}

double energy_hook_power(const struct energy_resolved *resolved)
{
	double joules = 0, seconds = 0;

	for (unsigned i = 0; i < 2 * ENERGY_CLOCK_PARTS; i++) {
		const struct energy_level *part = &resolved->columns[ENERGY_COLUMN_HOOKS + i];
		joules += part->watts * part->seconds;
		seconds += part->seconds;
	}
	return seconds > 0 ? joules / seconds : 0;
}

void energy_resolved_release(struct energy_resolved *resolved)
{
	free(resolved->rows.xx);
	free(resolved->rows.xy);
	free(resolved->columns);
	free(resolved->column_of);
	free(resolved->ends_of);
	free(resolved->functions);
	*resolved = (struct energy_resolved){0};
}

/* Levels are known: walks for what is asked of the samples then. */
static enum litifut_status with_levels(struct regression *r, const struct energy_resolved *resolved,
				       struct litifut_error *error)
{
	r->column_of = resolved->column_of;
	r->ends_of = resolved->ends_of;
	r->end_parts = resolved->end_parts;
	r->columns = resolved->column_count;
	r->first_state = resolved->first_state;
	r->levels = resolved->columns;
	r->part = calloc(r->columns, sizeof(*r->part));
	enum litifut_status status = r->part ? walk(r, error) : no_memory(error);
	free(r->part);
	return status;
}

enum litifut_status energy_divide(const struct energy_resolved *resolved,
				  const struct energy_resolve_input *input, double *watts,
				  struct litifut_error *error)
{
	const size_t columns = resolved->column_count;
	struct regression r = {.input = input,
			       .divided = calloc(columns, sizeof(*r.divided)),
			       .divided_samples = calloc(columns, sizeof(*r.divided_samples))};
	enum litifut_status status = LITIFUT_OK;

	if (!r.divided || !r.divided_samples)
		status = no_memory(error);
	else
		status = with_levels(&r, resolved, error);
	for (size_t i = 0; i < resolved->function_count && status == LITIFUT_OK; i++) {
		const size_t column = resolved->column_of[i], ends = resolved->ends_of[i];
		double sum = r.divided[column], samples = r.divided_samples[column];
		for (size_t k = ends; ends && k < ends + 2 * r.end_parts; k++) {
			sum += r.divided[k];
			samples += r.divided_samples[k];
		}
		watts[i] = sum / samples;
	}
	free(r.divided);
	free(r.divided_samples);
	return status;
}

enum litifut_status energy_observe(const struct energy_resolved *resolved,
				   const struct energy_resolve_input *input,
				   struct litifut_error *error)
{
	const size_t count = input->occupations ? input->occupations->count : 0;
	struct regression r = {.input = input,
			       .observed = calloc(count + 1, sizeof(*r.observed)),
			       .observed_seconds = calloc(count + 1, sizeof(*r.observed_seconds))};
	enum litifut_status status = LITIFUT_OK;

	if (!r.observed || !r.observed_seconds)
		status = no_memory(error);
	else
		status = with_levels(&r, resolved, error);
	for (size_t i = 0; i < count && status == LITIFUT_OK; i++) {
		struct energy_occupation *item = &input->occupations->items[i];
		item->observed =
			r.observed_seconds[i] > 0 ? r.observed[i] / r.observed_seconds[i] : NAN;
	}
	free(r.observed);
	free(r.observed_seconds);
	return status;
}

enum litifut_status energy_rest(const struct energy_resolved *resolved,
				const struct energy_resolve_input *input, float *rest,
				struct litifut_error *error)
{
	struct energy_resolve_input without = *input;
	struct regression r = {.input = &without, .rest = rest};

	memset(rest, 0, input->power->count * sizeof(*rest));
	without.occupations = NULL;
	return with_levels(&r, resolved, error);
}

enum litifut_status energy_rest_sums(const struct energy_resolved *resolved,
				     const struct energy_resolve_input *input, size_t block,
				     double *sums, struct litifut_error *error)
{
	struct regression r = {.input = input, .sums = sums, .block = block, .states = true};

	memset(sums, 0, (input->power->count / block + 1) * sizeof(*sums));
	return with_levels(&r, resolved, error);
}
