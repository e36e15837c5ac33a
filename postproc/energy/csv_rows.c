/* Rows are parsed in pieces of the text that end with a line, each with a copy of the table, as if
 * the file ended there, into an array. At the same time the arrays of the pieces before are given
 * on, in the order of the file. Nothing depends on how many pieces there are. */
#include "postproc/energy/csv_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/parallel.h"
#include "postproc/energy/csv_number.h"

/* So much text is a piece, and a line that it ends in. */
#define PIECE (1u << 20)

void energy_csv_prepare(struct energy_csv *table, double sign)
{
	for (unsigned i = 0; i < table->columns; i++) {
		table->use[i] = !table->needed[i]              ? ENERGY_CSV_UNUSED
				: (int)i == table->pins_column ? ENERGY_CSV_LEVELS
				: table->pin_of[i] >= 0        ? ENERGY_CSV_LEVEL
							       : ENERGY_CSV_NUMBER;
		if (table->needed[i] && !table->quoted && table->delimiter != ' ')
			table->simple = i + 1;
	}
	for (unsigned i = 0; i < table->channels; i++) {
		struct energy_csv_product *watts = &table->watts[i];
		const int current = table->current[i], voltage = table->voltage[i];
		watts->one = current >= 0 ? current : table->power[i];
		watts->other = current >= 0 ? voltage : -1;
		watts->factor = sign;
		if (watts->one >= 0)
			watts->factor *= table->column[watts->one].scale;
		if (watts->other >= 0)
			watts->factor *= table->column[watts->other].scale;
		else if (current >= 0)
			watts->factor *= table->volts[i];
	}
}

/* What was read of a row. */
struct fields {
	double values[ENERGY_CSV_COLUMNS];
	uint16_t levels, both, known; /* of pins */
	bool bad;                     /* a value that is needed is not a number */
	bool bad_time;
	bool unclear; /* see struct energy_csv_row */
};

/* Eight levels that are 0 or 1 each, as nearly all are. */
static inline bool eight_levels(struct fields *row, const char *at)
{
	uint64_t text;

	memcpy(&text, at, sizeof(text));
	text = le64toh(text) ^ 0x3030303030303030u;
	if (text & 0xfefefefefefefefeu)
		return false;
	/* bit 0 of byte n goes to bit n of the highest byte, and no two sums meet */
	row->levels = (uint16_t)(text * 0x0102040810204080u >> 56);
	row->known = 0xff;
	return true;
}

/* `pins`: as many levels there are, unless a spreadsheet has made a number of them; 0: unknown. */
static void levels_of_text(struct fields *row, const char *at, const char *end, unsigned pins)
{
	unsigned length = 0;

	while (length < pins && at + length < end && (at[length] == '0' || at[length] == '1'))
		length++;
	const bool number =
		length && length < pins && (at + length == end || !memchr("X-", at[length], 2));
	const unsigned first = number ? pins - length : 0;
	if (number)
		row->known = (uint16_t)((1u << first) - 1);
	for (unsigned pin = first; at < end && pin < ENERGY_PINS; at++, pin++) {
		const char level = *at;
		const uint16_t bit = (uint16_t)(1u << pin);
		if (level == '0') {
			row->known |= bit;
		} else if (level == '1') {
			row->known |= bit;
			row->levels |= bit;
		} else if (level == 'X') {
			row->known |= bit;
			row->both |= bit;
		} else if (level != '-') {
			break;
		}
	}
}

/* Room that is there behind the begin of each field of a simple row. */
#define SIMPLE_ROOM (ENERGY_SHORT_NUMBER + 16)

/* Rows as nearly all are: numbers without blanks and quotes, levels of 0 and 1. False: this one is
 * another one, or the last one, and nothing was done. */
static inline bool simple_row(struct energy_csv *table, struct fields *row)
{
	const char *at = table->at, *end = table->end;
	const char delimiter = table->delimiter, decimal = table->decimal;
	const unsigned columns = table->simple;
	const char *stop;

	row->levels = row->both = row->known = 0;
	row->bad = row->bad_time = row->unclear = false;
	for (unsigned column = 0;;) {
		if (end - at < SIMPLE_ROOM)
			return false;
		switch (table->use[column]) {
		case ENERGY_CSV_UNUSED:
			while (at < end && *at != delimiter && *at != '\n')
				at++;
			if (at == end)
				return false;
			break;
		case ENERGY_CSV_LEVELS:
			if (table->pins != 8 || !eight_levels(row, at))
				return false;
			at += 8;
			break;
		case ENERGY_CSV_LEVEL:
			if ((*at | 1) != '1')
				return false;
			row->known |= (uint16_t)(1u << table->pin_of[column]);
			row->levels |= (uint16_t)((*at++ & 1u) << table->pin_of[column]);
			break;
		case ENERGY_CSV_NUMBER:
			stop = energy_number_short(at, decimal, &row->values[column]);
			if (!stop)
				stop = energy_number_longer(at, decimal, &row->values[column]);
			if (!stop)
				return false;
			at = stop;
			break;
		}
		if (++column == columns)
			break;
		if (*at++ != delimiter)
			return false;
	}
	if (*at == delimiter)
		at = memchr(at, '\n', (size_t)(end - at));
	else if (*at == '\r')
		at++;
	if (!at || at == end || *at != '\n')
		return false;
	table->at = at + 1;
	table->line++;
	return true;
}

/* A number with thousands separators; NULL: it is not one, or it is not clear. */
static const char *other_number(struct energy_csv *table, struct fields *row, const char *at,
				char decimal, double *value)
{
	bool clear;
	const char *stop = energy_number_grouped(at, table->end, decimal, value, &clear);
	size_t length = 0;

	if (!stop || clear || decimal == ',' || table->dots)
		return stop;
	row->unclear = true;
	while (at + length < stop && length < sizeof(table->odd_text) - 1)
		length++;
	snprintf(table->odd_text, sizeof(table->odd_text), "%.*s", (int)length, at);
	return NULL;
}

/* One row; false at the end. Lines without data are passed over. */
static bool parse_any_row(struct energy_csv *table, struct fields *row)
{
	const char *at = table->at, *end = table->end;
	const char delimiter = table->delimiter;

	while (at < end && (*at == '\n' || *at == '\r' || *at == '#')) {
		if (*at == '#') {
			const char *stop = memchr(at, '\n', (size_t)(end - at));
			at = stop ? stop : end;
			continue;
		}
		table->line += *at == '\n';
		at++;
	}
	if (at >= end) {
		table->at = end;
		return false;
	}
	row->levels = row->both = row->known = 0;
	row->bad = row->bad_time = row->unclear = false;
	unsigned column = 0;
	char decimal = table->decimal;
	for (;; column++) {
		if (delimiter == ' ') {
			while (at < end && (*at == ' ' || *at == '\t'))
				at++;
		}
		bool quoted = false;
		if (table->quoted) {
			while (at < end && *at == ' ')
				at++;
			quoted = at < end && *at == '"';
			at += quoted;
			/* outside of quotes a comma ends the number */
			decimal = quoted || delimiter != ',' ? table->decimal : '.';
		}
		if (column < table->columns && table->needed[column]) {
			if ((int)column == table->pins_column) {
				if (table->pins == 8 && end - at > 8 &&
				    (at[8] == delimiter || at[8] == '\n' || at[8] == '\r') &&
				    eight_levels(row, at))
					at += 8;
				else
					levels_of_text(row, at, end,
						       table->padded ? table->pins : 0);
			} else {
				const char *stop =
					energy_number(at, end, decimal, &row->values[column]);
				int pin = table->pin_of[column];
				if (energy_number_goes_on(stop, end) &&
				    (quoted || *stop != delimiter))
					stop = other_number(table, row, at, decimal,
							    &row->values[column]);
				if (pin >= 0) {
					if (stop) {
						row->known |= (uint16_t)(1u << pin);
						if (row->values[column] != 0)
							row->levels |= (uint16_t)(1u << pin);
					}
				} else if (!stop) {
					row->bad = true;
					row->bad_time |= (int)column == table->time;
				}
				if (stop)
					at = stop;
			}
		}
		while (quoted && at < end && *at != '"' && *at != '\n')
			at++;
		while (at < end && *at != delimiter && *at != '\n')
			at++;
		if (at >= end || *at == '\n')
			break;
		at++;
	}
	for (unsigned i = column + 1; i < table->columns; i++) {
		if (table->needed[i] && table->pin_of[i] < 0) {
			row->bad = true;
			row->bad_time |= (int)i == table->time;
		}
	}
	if (at < end)
		at++;
	table->at = at;
	table->line++;
	return true;
}

static inline bool parse_row(struct energy_csv *table, struct fields *row)
{
	return (table->simple && simple_row(table, row)) || parse_any_row(table, row);
}

/* False: they are not numbers that can be. */
static inline bool watts_of(const struct energy_csv *table, const struct fields *fields,
			    float *watts)
{
	bool good = true;

	for (unsigned i = 0; i < table->channels; i++) {
		const struct energy_csv_product *product = &table->watts[i];
		double value = fields->values[product->one] * product->factor;
		if (product->other >= 0)
			value *= fields->values[product->other];
		watts[i] = (float)value;
		good &= fabs(value) <= ENERGY_CSV_MOST_WATTS; /* nor NaN */
	}
	return good;
}

static inline bool next(struct energy_csv *table, struct energy_csv_row *row)
{
	struct fields fields;

	if (!parse_row(table, &fields))
		return false;
	row->time = 0;
	if (fields.bad_time)
		row->time = NAN;
	else if (table->time >= 0)
		row->time = fields.values[table->time] * table->column[table->time].scale;
	row->end = table->at;
	row->levels = fields.levels;
	row->both = fields.both;
	row->known = fields.known;
	row->bad = fields.bad;
	row->unclear = fields.unclear;
	row->too_much = false;
	if (fields.bad)
		return true;
	if (table->energy >= 0)
		row->energy = fields.values[table->energy] * table->column[table->energy].scale;
	else
		row->too_much = !watts_of(table, &fields, row->watts);
	return true;
}

bool energy_csv_next(struct energy_csv *table, struct energy_csv_row *row)
{
	return next(table, row);
}

struct piece {
	struct energy_csv table;
	struct energy_csv_row *rows;
	size_t count, capacity;
	bool failed; /* not enough memory */
};

static void parse_piece(struct piece *piece)
{
	bool goes_on = true;

	piece->count = 0;
	while (goes_on) {
		if (piece->count == piece->capacity) {
			const size_t wanted = piece->capacity ? 2 * piece->capacity : 4096;
			struct energy_csv_row *more =
				litifut_memory_resized(piece->rows, wanted, sizeof(*more));

			piece->failed = !more;
			if (!more)
				return;
			piece->rows = more;
			piece->capacity = wanted;
		}
		struct energy_csv_row *row = &piece->rows[piece->count];
		if (!next(&piece->table, row))
			return;
		row->lines = (uint32_t)piece->table.line;
		goes_on = !row->unclear;
		piece->count++;
	}
}

/* Where the piece that begins at `at` ends. */
static const char *end_of(const char *at, const char *end)
{
	const char *line;

	if (end - at <= PIECE)
		return end;
	line = memchr(at + PIECE, '\n', (size_t)(end - at - PIECE));
	return line ? line + 1 : end;
}

/* Pieces that are parsed at once, while those before them are given on. */
struct pieces {
	struct piece items[LITIFUT_WORKERS_MAX];
	size_t count;
};

struct reading {
	struct energy_csv *table; /* at the piece that is given on next */
	energy_csv_take *take;
	void *context;
	struct pieces *parsed, *parsing;
	bool failed, over;
};

static void give_on(struct reading *reading)
{
	struct energy_csv *table = reading->table;

	for (size_t i = 0; i < reading->parsed->count && !reading->failed && !reading->over; i++) {
		const struct piece *piece = &reading->parsed->items[i];
		const uint64_t line = table->line;

		reading->failed = piece->failed;
		if (reading->failed)
			return;
		memcpy(table->odd_text, piece->table.odd_text, sizeof(table->odd_text));
		reading->over =
			piece->count && !reading->take(reading->context, piece->rows, piece->count);
		if (reading->over)
			return;
		table->line = line + piece->table.line;
		table->at = piece->table.end;
	}
}

static void work(void *context, size_t worker, size_t item)
{
	struct reading *reading = context;

	(void)worker;
	if (item)
		parse_piece(&reading->parsing->items[item - 1]);
	else
		give_on(reading);
}

bool energy_csv_each(struct energy_csv *table, energy_csv_take *take, void *context)
{
	const size_t workers = litifut_parallel_workers();
	const size_t most = workers > 1 ? workers - 1 : 1;
	struct pieces *sets = calloc(2, sizeof(*sets));
	struct reading reading = {.table = table,
				  .take = take,
				  .context = context,
				  .failed = !sets,
				  .parsed = sets,
				  .parsing = sets ? sets + 1 : NULL};
	const struct energy_csv like = *table;
	const char *at = table->at;

	while (!reading.failed && !reading.over && (at < like.end || reading.parsed->count)) {
		struct pieces *parsing = reading.parsing;

		for (parsing->count = 0; parsing->count < most && at < like.end; parsing->count++) {
			struct energy_csv *part = &parsing->items[parsing->count].table;

			*part = like;
			part->line = 0;
			part->at = at;
			part->end = at = end_of(at, like.end);
		}
		litifut_parallel(1 + parsing->count, work, &reading);
		reading.parsing = reading.parsed;
		reading.parsed = parsing;
	}
	for (size_t i = 0; sets && i < 2 * LITIFUT_WORKERS_MAX; i++)
		free(sets[i / LITIFUT_WORKERS_MAX].items[i % LITIFUT_WORKERS_MAX].rows);
	free(sets);
	return !reading.failed;
}
