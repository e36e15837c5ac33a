/* The rows of the regression. A row has few entries: the functions of one sample; where one
 * function fills many samples, these are added in one go. */
#include "postproc/energy/regression_rows.h"

#include <math.h>

/* Behind capacitors: a smaller part of a sample is not worth a row's time. */
#define FADED 1e-6

static double sample_power(const struct energy_regression *r, size_t sample)
{
	return energy_power_at(r->input->power, r->input->channel, sample);
}

/* Of samples [from, to) together; several sums, as each addition waits for the one before it. */
static double samples_power(const struct energy_regression *r, size_t from, size_t to)
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
static void divide_row(struct energy_regression *r, double value)
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

static void row_known(struct energy_regression *r, double value, size_t sample)
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

static void empty_row(struct energy_regression *r)
{
	for (unsigned i = 0; i < r->touched_count; i++)
		r->part[r->touched[i]] = 0;
	r->touched_count = 0;
	r->filled = r->caused = 0;
	r->uncertain = false;
}

void energy_row_break_off(struct energy_regression *r)
{
	empty_row(r);
	for (unsigned i = 0; i < r->live_count; i++)
		r->smeared[r->live[i]] = 0;
	r->live_count = 0;
	r->smeared_value = 0;
}

static void add_row(struct energy_regression *r, const uint32_t *columns, unsigned count,
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
static double smear(struct energy_regression *r, double value)
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
static bool is_varied(const struct energy_regression *r, uint32_t column)
{
	return !r->levels && !r->active.count &&
	       (column == ENERGY_COLUMN_TRANSFER || column == ENERGY_COLUMN_OUTSIDE);
}

static void touch(struct energy_regression *r, uint32_t column, double part)
{
	r->uncertain |= r->near || is_varied(r, column);
	if (part == 0)
		return;
	if (r->part[column] != 0)
		r->part[column] += part;
	else if (r->touched_count < ENERGY_MOST_TOUCHED) {
		r->touched[r->touched_count++] = column;
		r->part[column] = part;
	}
}

void energy_row_end(struct energy_regression *r)
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
		energy_row_break_off(r);
	else
		empty_row(r);
	r->index++;
}

/* Of the levels before: the column's, and that of the states that are active. */
static double level_before(const struct energy_regression *r, uint32_t column)
{
	const struct energy_level *levels = r->input->before->columns;
	double sum = levels[column].watts;

	for (unsigned i = 0; i < r->active.count; i++)
		sum += levels[r->first_state + r->active.all->items[r->active.items[i]].state]
			       .watts;
	return sum;
}

/* By peripherals that are active, as the integrals have it. */
static double caused_now(const struct energy_regression *r)
{
	double watts = 0;

	for (unsigned i = 0; i < r->active.count; i++)
		watts += r->active.all->items[r->active.items[i]].watts;
	return watts;
}

void energy_row_touch(struct energy_regression *r, uint32_t column, double part)
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
static bool is_settled(const struct energy_regression *r, const uint32_t *columns, unsigned count)
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
static void whole_known(struct energy_regression *r, const uint32_t *columns, unsigned number,
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

void energy_rows_whole(struct energy_regression *r, uint32_t column, size_t count)
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
		energy_row_break_off(r);
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
		energy_row_touch(r, column, 1);
		energy_row_end(r);
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
