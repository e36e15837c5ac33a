/* The rows of a text of samples, one after another. */
#include "postproc/energy/csv_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "postproc/energy/csv_row.h"

#define TIMES 4096 /* from which the rate is found first */

/* What is more is not taken for a number. */
#define MOST_WATTS 1e12

static inline bool parse_row(struct energy_table *table, struct energy_row *row)
{
	return (table->simple && energy_row_simple(table, row)) || energy_row_any(table, row);
}

static double time_of(const struct energy_table *table, const struct energy_row *row)
{
	return row->values[table->time] * table->column[table->time].scale;
}

static double value_of(const struct energy_table *table, const struct energy_row *row, int column)
{
	return row->values[column] * table->column[column].scale;
}

/* False: it is not a number that can be. */
static inline bool watts_of(const struct energy_table *table, const struct energy_row *row,
			    float *watts)
{
	bool good = true;

	for (unsigned i = 0; i < table->channels; i++) {
		const struct energy_product *product = &table->watts[i];
		double value = row->values[product->one] * product->factor;
		if (product->other >= 0)
			value *= row->values[product->other];
		watts[i] = (float)value;
		good &= fabs(value) <= MOST_WATTS; /* nor NaN */
	}
	return good;
}

/* Only pins: a row for each change. */
static void read_changes(struct energy_table *table, struct energy_builder *builder)
{
	struct energy_row row;
	double last = -INFINITY;
	uint16_t levels = 0;

	while (builder->status == LITIFUT_OK && parse_row(table, &row)) {
		double time = row.bad_time ? NAN : time_of(table, &row);
		if (!isfinite(time) || time < last) {
			energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
					    "line %llu: the time is missing or goes back",
					    (unsigned long long)table->line - 1);
			return;
		}
		last = time;
		levels = (uint16_t)((levels & ~row.known) | (row.levels & row.known));
		energy_builder_pins(builder, time, 0, levels);
	}
}

static size_t fields_of(const struct energy_table *table, const char *row)
{
	const char *field;
	struct energy_line line;
	size_t length, count = 0;

	if (!energy_line_next(&row, table->end, &line))
		return 0;
	for (const char *at = line.start;
	     energy_field_next(&at, line.end, table->delimiter, &field, &length);)
		count++;
	return count;
}

/* The line that the error is about is the last one. */
static void say_line(const struct energy_table *table, struct energy_builder *builder)
{
	const char *row = table->at;
	char text[sizeof(builder->error->message)], more[128] = "";

	if (!builder->error)
		return;
	for (row -= row > table->first; row > table->first && row[-1] != '\n';)
		row--;
	const size_t fields = fields_of(table, row), before = fields_of(table, table->first);
	if (fields > before)
		snprintf(more, sizeof(more),
			 "; it has %zu columns, the first one %zu: thousands must not be separated "
			 "by the delimiter",
			 fields, before);
	snprintf(text, sizeof(text), "line %llu: %.*s%s", (unsigned long long)table->line - 1, 100,
		 builder->error->message, more);
	memcpy(builder->error->message, text, sizeof(text));
}

static inline void passed(const struct energy_table *table, struct energy_builder *builder)
{
	energy_builder_passed(builder, table->input,
			      (size_t)(table->at - (const char *)table->input->bytes));
}

/* A row without a value that is needed. False: nothing more is to be read. */
static bool pass_over(const struct energy_table *table, struct energy_builder *builder)
{
	if (!builder->power->bad++)
		builder->power->bad_line = table->line - 1;
	return table->time >= 0 || energy_builder_hole(builder, 1);
}

static void say_unclear(const struct energy_table *table, struct energy_builder *builder)
{
	energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
			    "line %llu: the comma of %s can be a decimal one or stand between "
			    "thousands: write it without a thousands separator, or with a decimal "
			    "point",
			    (unsigned long long)table->line - 1, table->odd_text);
}

/* The last row of a counter of energy. */
struct counter {
	double time, energy;
	bool started;
};

/* Watts between two rows of a counter of energy, and the time of the first one. False: there are
 * none. */
static bool watts_of_counter(const struct energy_table *table, const struct energy_row *row,
			     struct counter *counter, double *time, float *watts)
{
	const double energy = value_of(table, row, table->energy), from = counter->time;
	double gained = energy - counter->energy;
	const bool first = !counter->started;

	/* a counter of 32 bits that has begun again */
	if (gained < 0)
		gained += 4294967296.0 * table->column[table->energy].scale;
	*counter = (struct counter){*time, energy, true};
	if (first || !(*time > from) || gained < 0)
		return false;
	*watts = (float)(gained / (*time - from));
	*time = from;
	return true;
}

static void read_rows(struct energy_table *table, struct energy_builder *builder)
{
	struct energy_row row;
	float watts[ENERGY_CHANNELS];
	struct counter counter = {.started = false};
	uint16_t levels = 0;

	while (parse_row(table, &row)) {
		double time;
		bool good;

		passed(table, builder);
		if (row.unclear) {
			say_unclear(table, builder);
			return;
		}
		time = table->time >= 0 && !row.bad ? time_of(table, &row) : 0;
		if (row.bad)
			good = false;
		else if (table->energy < 0)
			good = watts_of(table, &row, watts);
		else if (watts_of_counter(table, &row, &counter, &time, watts))
			good = fabsf(*watts) <= (float)MOST_WATTS;
		else
			continue;
		if (!good) {
			if (!pass_over(table, builder))
				return;
			continue;
		}
		if (table->pins) {
			levels = (uint16_t)((levels & ~row.known) | (row.levels & row.known));
			if (builder->power->rebinned)
				energy_builder_pins(builder, time, builder->power->interval / 2,
						    levels);
			else
				energy_builder_levels(builder, levels, row.both);
		}
		if (!energy_builder_sample(builder, time, watts)) {
			say_line(table, builder);
			return;
		}
	}
}

/* The times of the first rows, from which the rate is found. */
static enum litifut_status start_rows(struct energy_table *table, struct energy_builder *builder,
				      const struct energy_power_options *options)
{
	if (table->time < 0) {
		energy_builder_uniform(builder, table->channels, 0, 1 / options->rate);
		return builder->status;
	}
	struct energy_table ahead = *table;
	struct energy_row row;
	double *times = malloc(TIMES * sizeof(*times));
	size_t count = 0;

	if (!times)
		return energy_builder_fail(builder, LITIFUT_ERROR_IO, "not enough memory");
	while (count < TIMES && parse_row(&ahead, &row)) {
		if (!row.bad_time && isfinite(time_of(&ahead, &row)))
			times[count++] = time_of(&ahead, &row);
	}
	if (options->rate > 0)
		builder->power->interval = 1 / options->rate;
	enum litifut_status status = LITIFUT_OK;
	if (count)
		status = energy_builder_timed(builder, table->channels, times, count);
	else
		status = energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
					     "no line has a number in every column that is needed");
	free(times);
	return status;
}

enum litifut_status energy_csv_read_rows(struct energy_table *table, struct energy_builder *builder)
{
	if (!table->channels)
		read_changes(table, builder);
	else if (start_rows(table, builder, table->input->options) == LITIFUT_OK)
		read_rows(table, builder);
	return builder->status;
}
