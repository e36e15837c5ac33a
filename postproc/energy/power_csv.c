/* Power as text, one sample a line: Nordic's PPK2, Joulescope, Monsoon, oscilloscopes, what
 * a user's script wrote. Delimiter, decimal sign, header and units are found in the file;
 * the only vendor's habit that is known is one that thins out what it exports.
 * Longer than 500 lines, because head and rows share the parsing of lines and fields, which the
 * compiler has to inline: these functions take most of the time of a large file. */
#include <ctype.h>
#include <endian.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "postproc/energy/csv_number.h"
#include "postproc/energy/reader.h"

#define MOST_COLUMNS 64
#define LOOKED_AT 50 /* lines that vote for the delimiter */
#define HEADER_LINES 200
#define TIMES 4096 /* from which the rate is found first */

struct line {
	const char *start, *end; /* without its end */
};

struct table {
	const struct energy_input *input;
	const char *at, *end; /* of the rows */
	const char *first;    /* of them */
	uint64_t line;        /* number of the next row's line */
	char delimiter;
	char decimal;
	bool quoted;       /* its numbers are in quotes */
	bool dots;         /* some can only be numbers with a decimal point */
	uint64_t odd_line; /* where there is no row: a line, */
	unsigned odd_column;
	char odd_text[32]; /* and what it has in place of a number */
	bool padded;       /* a spreadsheet may have taken the zeros in front of the pins' levels */
	unsigned columns;
	struct energy_column column[MOST_COLUMNS];
	/* what is made of them: columns of a channel, -1: none */
	int time, energy, pins_column;
	int current[ENERGY_CHANNELS], voltage[ENERGY_CHANNELS], power[ENERGY_CHANNELS];
	unsigned channels, pins;
	int pin_of[MOST_COLUMNS]; /* -1: not a pin */
	bool needed[MOST_COLUMNS];
	unsigned simple; /* columns up to the last one that is needed; 0: no row is simple */
	enum use { UNUSED, LEVELS, LEVEL, NUMBER } use[MOST_COLUMNS];
	double volts[ENERGY_CHANNELS];
	/* The watts of a channel: the values of one column or of two, by a factor. */
	struct product {
		int one, other; /* -1: there is none */
		double factor;
	} watts[ENERGY_CHANNELS];
};

static bool next_line(const char **at, const char *end, struct line *line)
{
	if (*at >= end)
		return false;
	const char *stop = memchr(*at, '\n', (size_t)(end - *at));
	line->start = *at;
	line->end = stop ? stop : end;
	*at = stop ? stop + 1 : end;
	if (line->end > line->start && line->end[-1] == '\r')
		line->end--;
	return true;
}

/* What is more is not taken for a number. */
#define MOST_WATTS 1e12

/* ---- what the file looks like ---- */

static bool is_blank(const struct line *line)
{
	for (const char *at = line->start; at < line->end; at++) {
		if (!isspace((unsigned char)*at))
			return false;
	}
	return true;
}

static size_t count_of(const struct line *line, char what)
{
	size_t count = 0;

	for (const char *at = line->start; at < line->end; at++)
		count += *at == what;
	return count;
}

static char vote(const char *at, const char *end)
{
	size_t semicolons = 0, tabs = 0, commas = 0, lines = 0;
	struct line line;

	while (lines < LOOKED_AT && next_line(&at, end, &line)) {
		if (is_blank(&line))
			continue;
		lines++;
		/* a comment that begins with a semicolon is not a vote for it */
		semicolons += count_of(&line, ';') > (*line.start == ';');
		tabs += count_of(&line, '\t') > 0;
		commas += count_of(&line, ',') > 0;
	}
	if (2 * semicolons > lines)
		return ';';
	if (2 * tabs > lines)
		return '\t';
	return commas || !lines ? ',' : ' ';
}

static bool next_field(const char **at, const char *end, char delimiter, const char **field,
		       size_t *length)
{
	if (*at > end)
		return false;
	if (delimiter == ' ') {
		while (*at < end && isspace((unsigned char)**at))
			(*at)++;
		if (*at >= end)
			return false;
	}
	const char *stop = *at;
	bool quoted = false;
	while (stop < end && (quoted || *stop != delimiter)) {
		quoted ^= *stop == '"';
		stop++;
	}
	*field = *at;
	*length = (size_t)(stop - *at);
	*at = stop + 1;
	return true;
}

/* What a row of data may have in place of a number. */
static bool is_missing(const char *field, size_t length)
{
	while (length && isspace((unsigned char)*field))
		field++, length--;
	while (length && isspace((unsigned char)field[length - 1]))
		length--;
	return !length || (length == 3 && !strncasecmp(field, "nan", 3)) ||
	       (length == 1 && (*field == 'X' || *field == '-'));
}

static bool is_levels(const char *field, size_t length)
{
	if (length < 2 || length > ENERGY_PINS)
		return false;
	for (size_t i = 0; i < length; i++) {
		if (!memchr("01X-", field[i], 4))
			return false;
	}
	return true;
}

static void without_quotes(const char **field, size_t *length)
{
	if (*length > 1 && **field == '"' && (*field)[*length - 1] == '"') {
		(*field)++;
		*length -= 2;
	}
}

/* Is every field a number, or what stands for one? At least one must be. Else `odd` is the first
 * field that is not, from 1 on. `grouped`: does one have thousands separators and a decimal sign?
 */
static bool is_data(const struct line *line, char delimiter, char decimal, unsigned *odd,
		    bool *grouped)
{
	const char *at = line->start, *field;
	size_t length, numbers = 0;
	double value;

	*odd = 0;
	*grouped = false;
	while (next_field(&at, line->end, delimiter, &field, &length)) {
		++*odd;
		without_quotes(&field, &length);
		const char *stop = energy_number(field, field + length, decimal, &value);
		bool clear = false;
		if (energy_number_goes_on(stop, field + length)) {
			stop = energy_number_grouped(field, field + length, decimal, &value,
						     &clear);
			if (!clear && decimal == '.')
				stop = NULL;
			*grouped |= stop && clear;
		}
		while (stop && stop < field + length && isspace((unsigned char)*stop))
			stop++;
		if (stop == field + length)
			numbers++;
		else if (!is_missing(field, length) && !is_levels(field, length))
			return false;
	}
	return numbers > 0;
}

static bool is_unit_line(const struct line *line, char delimiter)
{
	const char *at = line->start, *field;
	size_t length, known = 0, all = 0;

	while (next_field(&at, line->end, delimiter, &field, &length)) {
		struct energy_column column;
		char text[32];
		while (length && isspace((unsigned char)*field))
			field++, length--;
		while (length && isspace((unsigned char)field[length - 1]))
			length--;
		bool wrapped = length > 2 && (*field == '(' || *field == '[');
		snprintf(text, sizeof(text), "x (%.*s)", (int)(wrapped ? length - 2 : length),
			 wrapped ? field + 1 : field);
		energy_column_by_name(&column, text, strlen(text));
		all += length > 0;
		known += column.unit[0] != '\0';
	}
	return all && known == all;
}

static void name_columns(struct table *table, const struct line *header,
			 const struct line *unit_line)
{
	const char *at = header->start, *field, *unit_at = NULL, *unit;
	size_t length, unit_length;

	if (unit_line)
		unit_at = unit_line->start;
	while (table->columns < MOST_COLUMNS &&
	       next_field(&at, header->end, table->delimiter, &field, &length)) {
		char text[128];
		bool has_unit = unit_at && next_field(&unit_at, unit_line->end, table->delimiter,
						      &unit, &unit_length);
		if (has_unit && !memchr(unit, '(', unit_length) && !memchr(unit, '[', unit_length))
			snprintf(text, sizeof(text), "%.*s (%.*s)",
				 (int)(length < 80 ? length : 80), field,
				 (int)(unit_length < 16 ? unit_length : 16), unit);
		else
			snprintf(text, sizeof(text), "%.*s %.*s", (int)(length < 80 ? length : 80),
				 field, (int)(has_unit && unit_length < 16 ? unit_length : 0),
				 has_unit ? unit : "");
		energy_column_by_name(&table->column[table->columns], text, strlen(text));
		table->columns++;
	}
}

static void keep_odd(struct table *table, const struct line *line, uint64_t number, unsigned odd)
{
	const char *at = line->start, *field = at;
	size_t length = 0;

	for (unsigned i = 0; i < odd; i++)
		next_field(&at, line->end, table->delimiter, &field, &length);
	table->odd_line = number;
	table->odd_column = odd;
	snprintf(table->odd_text, sizeof(table->odd_text), "%.*s",
		 (int)(length < sizeof(table->odd_text) ? length : sizeof(table->odd_text) - 1),
		 field);
}

/* Finds the header and the first row. */
static void find_rows(struct table *table, const struct energy_input *input, struct line *header)
{
	const char *at = (const char *)input->bytes, *end = at + input->size;
	struct line line, last = {NULL, NULL}, before = {NULL, NULL};
	uint64_t number = 1;
	unsigned odd;
	bool commas = false, dots = false, grouped;

	if (input->size >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
		at += 3;
	table->delimiter = vote(at, end);
	table->decimal = '.';
	/* a comma can only be a decimal one then, or in quotes */
	const char *look = at;
	for (int i = 0; i < LOOKED_AT && next_line(&look, end, &line); i++) {
		const size_t size = (size_t)(line.end - line.start);
		const bool quoted = memchr(line.start, '"', size);
		if (table->delimiter != ';' && table->delimiter != '\t' && !quoted)
			continue;
		const bool by_comma = is_data(&line, table->delimiter, ',', &odd, &grouped);
		const bool by_dot = is_data(&line, table->delimiter, '.', &odd, &grouped);
		commas |= by_comma && !by_dot;
		dots |= by_dot && !by_comma && grouped;
		table->dots |= by_dot && !by_comma;
	}
	if (commas && !dots)
		table->decimal = ',';
	table->at = table->end = end;
	for (int i = 0; i < HEADER_LINES; i++, number++) {
		const char *row = at;
		if (!next_line(&at, end, &line))
			break;
		if (is_blank(&line))
			continue;
		if (is_data(&line, table->delimiter, table->decimal, &odd, &grouped)) {
			table->at = table->first = row;
			table->line = number;
			table->quoted = memchr(line.start, '"', (size_t)(line.end - line.start));
			break;
		}
		keep_odd(table, &line, number, odd);
		if (*line.start == ';' && table->delimiter == ';')
			line.start++; /* a comment of sigrok's */
		before = last;
		last = line;
	}
	*header = last;
	if (last.start && before.start && is_unit_line(&last, table->delimiter)) {
		*header = before;
		name_columns(table, &before, &last);
	} else if (last.start) {
		name_columns(table, &last, NULL);
	}
}

static unsigned columns_of_row(const struct table *table)
{
	const char *at = table->at, *field;
	struct line line;
	size_t length;
	unsigned count = 0;

	if (next_line(&at, table->end, &line)) {
		at = line.start;
		while (next_field(&at, line.end, table->delimiter, &field, &length))
			count++;
	}
	return count;
}

/* ---- what is made of the columns ---- */

static void add_pin(struct table *table, struct energy_power *power, int column, const char *name)
{
	if (table->pins == ENERGY_PINS)
		return;
	if (column >= 0)
		table->pin_of[column] = (int)table->pins;
	snprintf(power->pin_names[table->pins], sizeof(power->pin_names[0]), "%s", name);
	table->pins++;
}

static void describe(const struct table *table, struct energy_power *power)
{
	static const struct {
		enum energy_role role;
		const char *word;
		const char *unit;
	} words[] = {{ENERGY_ROLE_CURRENT, "current", "A"},
		     {ENERGY_ROLE_VOLTAGE, "voltage", "V"},
		     {ENERGY_ROLE_POWER, "power", "W"},
		     {ENERGY_ROLE_ENERGY, "energy", "J"}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		for (unsigned column = 0; column < table->columns; column++) {
			const struct energy_column *it = &table->column[column];
			size_t length = strlen(power->units);
			if (it->role != words[i].role || !table->needed[column])
				continue;
			snprintf(power->units + length, sizeof(power->units) - length, "%s%s in %s",
				 length ? ", " : "", words[i].word,
				 it->unit[0] ? it->unit : words[i].unit);
			break;
		}
	}
	if (table->decimal == ',') {
		size_t length = strlen(power->units);
		snprintf(power->units + length, sizeof(power->units) - length, "%sdecimal commas",
			 length ? ", " : "");
	}
	if (table->time >= 0 && !table->column[table->time].unit[0]) {
		size_t length = strlen(power->units);
		snprintf(power->units + length, sizeof(power->units) - length,
			 "%stime taken as seconds", length ? ", " : "");
	}
}

/* A voltage over a shunt is a current. */
static void take_shunt(struct table *table, const struct energy_power_options *options)
{
	for (unsigned i = 0; i < table->columns; i++) {
		struct energy_column *column = &table->column[i];
		if (column->role == ENERGY_ROLE_CURRENT || column->role == ENERGY_ROLE_POWER)
			return;
	}
	for (unsigned i = 0; i < table->columns; i++) {
		struct energy_column *column = &table->column[i];
		if (column->role != ENERGY_ROLE_VOLTAGE)
			continue;
		column->role = ENERGY_ROLE_CURRENT;
		column->scale /= options->ohms * (options->gain > 0 ? options->gain : 1);
		snprintf(column->unit, sizeof(column->unit), "V/Ohm");
	}
}

/* What is looked up for each row. */
static void prepare_rows(struct table *table, double sign)
{
	for (unsigned i = 0; i < table->columns; i++) {
		table->use[i] = !table->needed[i]              ? UNUSED
				: (int)i == table->pins_column ? LEVELS
				: table->pin_of[i] >= 0        ? LEVEL
							       : NUMBER;
		if (table->needed[i] && !table->quoted && table->delimiter != ' ')
			table->simple = i + 1;
	}
	for (unsigned i = 0; i < table->channels; i++) {
		struct product *watts = &table->watts[i];
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

static enum litifut_status understand(struct table *table, const struct energy_input *input,
				      struct energy_builder *builder)
{
	const struct energy_power_options *options = input->options;
	struct energy_power *power = builder->power;
	unsigned currents = 0, voltages = 0, powers_seen = 0;
	unsigned in_rows = columns_of_row(table);

	if (in_rows > MOST_COLUMNS)
		in_rows = MOST_COLUMNS;
	for (; table->columns < in_rows; table->columns++)
		table->column[table->columns] = (struct energy_column){.scale = 1};
	table->time = table->energy = table->pins_column = -1;
	for (unsigned i = 0; i < MOST_COLUMNS; i++)
		table->pin_of[i] = -1;
	for (unsigned i = 0; i < ENERGY_CHANNELS; i++)
		table->current[i] = table->voltage[i] = table->power[i] = -1;
	for (unsigned i = 0; i < table->columns; i++) {
		struct energy_column *column = &table->column[i];
		char name[32];
		memcpy(name, column->name, sizeof(name));
		const bool by_option =
			energy_column_by_option(column, options->columns, i + 1, name);
		if (column->role == ENERGY_ROLE_PINS && !by_option)
			table->padded = true;
	}
	if (options->ohms > 0)
		take_shunt(table, options);
	for (unsigned i = 0; i < table->columns; i++) {
		const struct energy_column *column = &table->column[i];
		switch (column->role) {
		case ENERGY_ROLE_TIME:
			if (table->time < 0)
				table->time = (int)i;
			break;
		case ENERGY_ROLE_CURRENT:
			if (currents < ENERGY_CHANNELS)
				table->current[currents++] = (int)i;
			break;
		case ENERGY_ROLE_VOLTAGE:
			if (voltages < ENERGY_CHANNELS)
				table->voltage[voltages++] = (int)i;
			break;
		case ENERGY_ROLE_POWER:
			if (powers_seen < ENERGY_CHANNELS)
				table->power[powers_seen++] = (int)i;
			break;
		case ENERGY_ROLE_ENERGY:
			if (table->energy < 0)
				table->energy = (int)i;
			break;
		case ENERGY_ROLE_PIN:
			add_pin(table, power, (int)i, column->name[0] ? column->name : "pin");
			break;
		case ENERGY_ROLE_PINS:
			if (table->pins_column < 0)
				table->pins_column = (int)i;
			break;
		case ENERGY_ROLE_NONE:
			break;
		}
	}
	/* A file of changes of pins names them as it likes: "Channel 0". */
	if (!currents && !powers_seen && table->energy < 0 && !voltages && !table->pins &&
	    table->pins_column < 0 && table->time == 0) {
		for (unsigned i = 1; i < table->columns; i++)
			add_pin(table, power, (int)i, table->column[i].name);
	}
	if (table->pins_column >= 0 && !table->pins) {
		for (int i = 0; i < 8; i++) {
			char name[16];
			snprintf(name, sizeof(name), "D%d", i);
			add_pin(table, power, -1, name);
		}
	}
	power->pins = table->pins;
	if (currents) {
		table->channels = currents;
		for (unsigned i = 0; i < currents; i++) {
			table->power[i] = -1;
			if (voltages == 1 && i)
				table->voltage[i] = table->voltage[0];
			else if (voltages != currents && voltages != 1)
				table->voltage[i] = -1;
		}
		table->energy = -1;
	} else if (powers_seen) {
		table->channels = powers_seen;
		table->energy = -1;
	} else if (table->energy >= 0) {
		table->channels = 1;
	}
	if (!table->channels && !table->pins)
		return energy_builder_fail(
			builder, LITIFUT_ERROR_FORMAT,
			"none of its %u columns is a current, a power or a pin by its name; say "
			"what they are, e.g. --columns time=1:ms,current=2:uA",
			table->columns);
	if (currents && table->voltage[0] < 0) {
		for (unsigned i = 0; i < currents; i++) {
			table->volts[i] = energy_builder_volts(builder, options, i);
			if (!(table->volts[i] > 0))
				return builder->status;
		}
	}
	if (table->time < 0 && !(options->rate > 0))
		return energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
					   "it has no column of times: give the samples a second "
					   "with --rate");
	if (table->energy >= 0 && table->time < 0)
		return energy_builder_fail(builder, LITIFUT_ERROR_MISSING,
					   "a column of energy needs one of times");
	if (table->time >= 0)
		table->needed[table->time] = true;
	if (table->energy >= 0)
		table->needed[table->energy] = true;
	if (table->pins_column >= 0)
		table->needed[table->pins_column] = true;
	for (unsigned i = 0; i < table->channels; i++) {
		const int used[] = {table->current[i], table->power[i],
				    currents ? table->voltage[i] : -1};
		for (size_t k = 0; k < 3; k++) {
			if (used[k] >= 0)
				table->needed[used[k]] = true;
		}
		int named = table->current[i] >= 0 ? table->current[i] : table->power[i];
		if (named >= 0)
			snprintf(power->channel_names[i], sizeof(power->channel_names[0]), "%s",
				 table->column[named].name);
	}
	for (unsigned i = 0; i < table->columns; i++)
		table->needed[i] |= table->pin_of[i] >= 0;
	prepare_rows(table, input->options->negate ? -1 : 1);
	describe(table, power);
	return LITIFUT_OK;
}

/* ---- the rows ---- */

struct row {
	double values[MOST_COLUMNS];
	uint16_t levels, both, known; /* of pins */
	bool bad;                     /* a value that is needed is not a number */
	bool bad_time;
	bool unclear; /* a number has a sign that can be a decimal one, or between thousands */
};

/* Eight levels that are 0 or 1 each, as nearly all are. */
static inline bool eight_levels(struct row *row, const char *at)
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
static void levels_of_text(struct row *row, const char *at, const char *end, unsigned pins)
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
static inline bool simple_row(struct table *table, struct row *row)
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
		case UNUSED:
			while (at < end && *at != delimiter && *at != '\n')
				at++;
			if (at == end)
				return false;
			break;
		case LEVELS:
			if (table->pins != 8 || !eight_levels(row, at))
				return false;
			at += 8;
			break;
		case LEVEL:
			if ((*at | 1) != '1')
				return false;
			row->known |= (uint16_t)(1u << table->pin_of[column]);
			row->levels |= (uint16_t)((*at++ & 1u) << table->pin_of[column]);
			break;
		case NUMBER:
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
static const char *other_number(struct table *table, struct row *row, const char *at, char decimal,
				double *value)
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
static bool parse_any_row(struct table *table, struct row *row)
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

static inline bool parse_row(struct table *table, struct row *row)
{
	return (table->simple && simple_row(table, row)) || parse_any_row(table, row);
}

static double time_of(const struct table *table, const struct row *row)
{
	return row->values[table->time] * table->column[table->time].scale;
}

static double value_of(const struct table *table, const struct row *row, int column)
{
	return row->values[column] * table->column[column].scale;
}

/* False: it is not a number that can be. */
static inline bool watts_of(const struct table *table, const struct row *row, float *watts)
{
	bool good = true;

	for (unsigned i = 0; i < table->channels; i++) {
		const struct product *product = &table->watts[i];
		double value = row->values[product->one] * product->factor;
		if (product->other >= 0)
			value *= row->values[product->other];
		watts[i] = (float)value;
		good &= fabs(value) <= MOST_WATTS; /* nor NaN */
	}
	return good;
}

/* Only pins: a row for each change. */
static void read_changes(struct table *table, struct energy_builder *builder)
{
	struct row row;
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

static void bad_value(struct energy_builder *builder, const struct table *table)
{
	if (!builder->power->bad++)
		builder->power->bad_line = table->line - 1;
}

static size_t fields_of(const struct table *table, const char *row)
{
	const char *field;
	struct line line;
	size_t length, count = 0;

	if (!next_line(&row, table->end, &line))
		return 0;
	for (const char *at = line.start;
	     next_field(&at, line.end, table->delimiter, &field, &length);)
		count++;
	return count;
}

/* The line that the error is about is the last one. */
static void say_line(const struct table *table, struct energy_builder *builder)
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

static void read_rows(struct table *table, struct energy_builder *builder)
{
	struct row row;
	float watts[ENERGY_CHANNELS];
	double last_time = 0, last_energy = 0;
	uint16_t levels = 0;
	bool started = false;

	while (parse_row(table, &row)) {
		energy_builder_passed(builder, table->input,
				      (size_t)(table->at - (const char *)table->input->bytes));
		if (row.unclear) {
			energy_builder_fail(
				builder, LITIFUT_ERROR_FORMAT,
				"line %llu: the comma of %s can be a decimal one or stand "
				"between thousands: write it without a thousands separator, or "
				"with a decimal point",
				(unsigned long long)table->line - 1, table->odd_text);
			return;
		}
		if (row.bad) {
			bad_value(builder, table);
			if (table->time < 0 && !energy_builder_hole(builder, 1))
				return;
			continue;
		}
		double time = table->time >= 0 ? time_of(table, &row) : 0;
		bool good;
		if (table->energy >= 0) {
			double energy = value_of(table, &row, table->energy);
			double from = last_time, gained = energy - last_energy;
			bool first = !started;
			/* a counter of 32 bits that has begun again */
			if (gained < 0)
				gained += 4294967296.0 * table->column[table->energy].scale;
			last_time = time;
			last_energy = energy;
			started = true;
			if (first || !(time > from) || gained < 0)
				continue;
			watts[0] = (float)(gained / (time - from));
			good = fabsf(watts[0]) <= (float)MOST_WATTS;
			time = from;
		} else {
			good = watts_of(table, &row, watts);
		}
		if (!good) {
			bad_value(builder, table);
			if (table->time < 0 && !energy_builder_hole(builder, 1))
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
static enum litifut_status start_rows(struct table *table, struct energy_builder *builder,
				      const struct energy_power_options *options)
{
	if (table->time < 0) {
		energy_builder_uniform(builder, table->channels, 0, 1 / options->rate);
		return builder->status;
	}
	struct table ahead = *table;
	struct row row;
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

static bool header_has(const struct line *header, const char *word)
{
	return header->start &&
	       memmem(header->start, (size_t)(header->end - header->start), word, strlen(word));
}

static bool is_utf16(const struct energy_input *input)
{
	return input->size >= 2 &&
	       (!memcmp(input->bytes, "\xff\xfe", 2) || !memcmp(input->bytes, "\xfe\xff", 2));
}

/* Text is what has no byte below a tab at its start. */
static bool probe(const struct energy_input *input)
{
	size_t look = input->size < 4096 ? input->size : 4096;

	if (is_utf16(input))
		return true;
	for (size_t i = 0; i < look; i++) {
		if (input->bytes[i] < 9)
			return false;
	}
	return true;
}

static enum litifut_status read_csv(const struct energy_input *input,
				    struct energy_builder *builder)
{
	struct energy_power *power = builder->power;
	struct table *table = calloc(1, sizeof(*table));
	struct line header;

	if (is_utf16(input)) {
		free(table);
		return energy_builder_fail(builder, LITIFUT_ERROR_UNSUPPORTED,
					   "its text is UTF-16: convert it, e.g. iconv -f UTF-16 "
					   "-t UTF-8");
	}
	if (!table)
		return energy_builder_fail(builder, LITIFUT_ERROR_IO, "not enough memory");
	table->input = input;
	find_rows(table, input, &header);
	if (table->at == table->end) {
		energy_builder_fail(builder, LITIFUT_ERROR_FORMAT,
				    "none of its first %d lines consists of numbers; line %llu "
				    "has \"%s\" in column %u",
				    HEADER_LINES, (unsigned long long)table->odd_line,
				    table->odd_text, table->odd_column);
		free(table);
		return builder->status;
	}
	if (header_has(&header, "Timestamp(ms)") || header_has(&header, "Current(uA)"))
		snprintf(power->format, sizeof(power->format), "PPK2 CSV");
	if (header_has(&header, "JS220-") || header_has(&header, "JS110-") ||
	    header_has(&header, "JS320-")) {
		snprintf(power->format, sizeof(power->format), "Joulescope CSV");
		power->resampled = true;
	}
	if (understand(table, input, builder) == LITIFUT_OK) {
		if (!table->channels)
			read_changes(table, builder);
		else if (start_rows(table, builder, input->options) == LITIFUT_OK)
			read_rows(table, builder);
	}
	free(table);
	return builder->status;
}

const struct energy_reader energy_reader_csv = {"CSV", probe, read_csv};
