/* The rows of a text of samples. Those that are written as nearly all are, are parsed in pieces of
 * the file, on all processors that are idle; others one after another. */
#include "postproc/energy/csv_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/parallel.h"
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

static void bad_value(struct energy_builder *builder, const struct energy_table *table)
{
	if (!builder->power->bad++)
		builder->power->bad_line = table->line - 1;
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

/* What a row says. */
struct taken {
	double time;
	float watts[ENERGY_CHANNELS];
	size_t end;                   /* behind the row, from the start of its piece */
	uint16_t levels, both, known; /* of pins */
	bool good;                    /* its watts can be */
};

/* What goes on from row to row. */
struct reading {
	struct energy_table *table;
	struct energy_builder *builder;
	double last_time, last_energy;
	bool started;
	uint16_t levels; /* of pins */
};

static inline void take(const struct energy_table *table, const struct energy_row *row,
			struct taken *taken)
{
	taken->time = table->time >= 0 ? time_of(table, row) : 0;
	taken->levels = row->levels;
	taken->both = row->both;
	taken->known = row->known;
	taken->good = watts_of(table, row, taken->watts);
}

/* A row without a value that is needed. False: nothing more is to be read. */
static bool pass_over(struct reading *reading)
{
	bad_value(reading->builder, reading->table);
	return reading->table->time >= 0 || energy_builder_hole(reading->builder, 1);
}

/* False: nothing more is to be read. */
static inline bool give(struct reading *reading, const struct taken *taken)
{
	struct energy_builder *builder = reading->builder;

	if (!taken->good)
		return pass_over(reading);
	if (reading->table->pins) {
		reading->levels = (uint16_t)((reading->levels & ~taken->known) |
					     (taken->levels & taken->known));
		if (builder->power->rebinned)
			energy_builder_pins(builder, taken->time, builder->power->interval / 2,
					    reading->levels);
		else
			energy_builder_levels(builder, reading->levels, taken->both);
	}
	if (energy_builder_sample(builder, taken->time, taken->watts))
		return true;
	say_line(reading->table, builder);
	return false;
}

/* Of a counter of energy the watts are those between two rows. False: there are none yet. */
static bool take_counter(struct reading *reading, const struct energy_row *row, struct taken *taken)
{
	const struct energy_table *table = reading->table;
	const double energy = value_of(table, row, table->energy), from = reading->last_time;
	double gained = energy - reading->last_energy;
	const bool first = !reading->started;

	/* a counter of 32 bits that has begun again */
	if (gained < 0)
		gained += 4294967296.0 * table->column[table->energy].scale;
	reading->last_time = time_of(table, row);
	reading->last_energy = energy;
	reading->started = true;
	if (first || !(reading->last_time > from) || gained < 0)
		return false;
	*taken = (struct taken){
		.time = from, .levels = row->levels, .both = row->both, .known = row->known};
	taken->watts[0] = (float)(gained / (reading->last_time - from));
	taken->good = fabsf(taken->watts[0]) <= (float)MOST_WATTS;
	return true;
}

/* False: nothing more is to be read. */
static bool take_row(struct reading *reading, const struct energy_row *row)
{
	const struct energy_table *table = reading->table;
	struct taken taken;

	if (row->unclear) {
		energy_builder_fail(reading->builder, LITIFUT_ERROR_FORMAT,
				    "line %llu: the comma of %s can be a decimal one or stand "
				    "between thousands: write it without a thousands separator, or "
				    "with a decimal point",
				    (unsigned long long)table->line - 1, table->odd_text);
		return false;
	}
	if (row->bad)
		return pass_over(reading);
	if (table->energy < 0)
		take(table, row, &taken);
	else if (!take_counter(reading, row, &taken))
		return true;
	return give(reading, &taken);
}

static inline void passed(const struct reading *reading)
{
	const struct energy_input *input = reading->table->input;

	energy_builder_passed(reading->builder, input,
			      (size_t)(reading->table->at - (const char *)input->bytes));
}

/* The rows up to `end`, one after another. False: nothing more is to be read. */
static bool read_until(struct reading *reading, const char *end)
{
	struct energy_table *table = reading->table;
	struct energy_row row;

	while (table->at < end && parse_row(table, &row)) {
		passed(reading);
		if (!take_row(reading, &row))
			return false;
	}
	return true;
}

/* Of the file; the last row of a piece is whole. */
#define PIECE_BYTES (256u << 10)
#define PIECE_ROWS (PIECE_BYTES / 8)

/* Rows are parsed without those before them, as far as they are simple and fit in. */
struct piece {
	const char *start, *end;
	struct taken *rows; /* PIECE_ROWS */
	size_t count;
};

struct pieces {
	const struct energy_table *table;
	size_t most; /* at a time */
	struct piece items[2 * LITIFUT_WORKERS_MAX];
};

static void parse_piece(void *context, size_t worker, size_t item)
{
	struct pieces *pieces = context;
	struct piece *piece = &pieces->items[item];
	struct energy_table table = *pieces->table;
	struct energy_row row;

	(void)worker;
	table.at = piece->start;
	for (piece->count = 0; table.at < piece->end && piece->count < PIECE_ROWS; piece->count++) {
		struct taken *taken = &piece->rows[piece->count];

		if (!energy_row_simple(&table, &row))
			break;
		take(&table, &row, taken);
		taken->end = (size_t)(table.at - piece->start);
	}
}

/* Divides what follows; gives how many pieces there are. */
static size_t divide(const struct energy_table *table, struct pieces *pieces)
{
	const char *at = table->at;
	size_t count = 0;

	for (; count < pieces->most && at < table->end; count++) {
		struct piece *piece = &pieces->items[count];
		const char *stop = NULL;

		piece->start = at;
		if ((size_t)(table->end - at) > PIECE_BYTES)
			stop = memchr(at + PIECE_BYTES, '\n',
				      (size_t)(table->end - at) - PIECE_BYTES);
		piece->end = at = stop ? stop + 1 : table->end;
	}
	return count;
}

/* Gives the builder what was parsed of a piece, and parses the rest. */
static bool read_piece(struct reading *reading, const struct piece *piece)
{
	struct energy_table *table = reading->table;

	/* behind lines without data the first row of this piece was taken already */
	if (table->at != piece->start)
		return read_until(reading, piece->end);
	for (size_t i = 0; i < piece->count; i++) {
		table->at = piece->start + piece->rows[i].end;
		table->line++;
		if (!give(reading, &piece->rows[i]))
			return false;
	}
	return read_until(reading, piece->end);
}

static void read_pieces(struct reading *reading, struct pieces *pieces)
{
	struct energy_table *table = reading->table;
	size_t count;

	pieces->table = table;
	while ((count = divide(table, pieces))) {
		litifut_parallel(count, parse_piece, pieces);
		for (size_t i = 0; i < count; i++) {
			passed(reading);
			if (!read_piece(reading, &pieces->items[i]))
				return;
		}
	}
}

static void read_rows(struct energy_table *table, struct energy_builder *builder)
{
	struct reading reading = {.table = table, .builder = builder};
	struct pieces *pieces = calloc(1, sizeof(*pieces));
	const size_t most = 2 * litifut_parallel_workers();
	struct taken *rows = NULL;

	if (pieces && table->simple && table->energy < 0)
		rows = malloc(most * PIECE_ROWS * sizeof(*rows));
	if (rows) {
		pieces->most = most;
		for (size_t i = 0; i < most; i++)
			pieces->items[i].rows = rows + i * PIECE_ROWS;
		read_pieces(&reading, pieces);
	} else {
		read_until(&reading, table->end);
	}
	free(rows);
	free(pieces);
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
