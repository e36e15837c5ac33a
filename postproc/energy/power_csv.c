/* Power as text, one sample a line: Nordic's PPK2, Joulescope, Monsoon, oscilloscopes, what
 * a user's script wrote. Delimiter, decimal sign, header and units are found in the file;
 * the only vendor's habit that is known is one that thins out what it exports. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "postproc/energy/csv_number.h"
#include "postproc/energy/csv_rows.h"

#define LOOKED_AT 50 /* lines that vote for the delimiter */
#define HEADER_LINES 200

static bool is_blank(const struct energy_line *line)
{
	for (const char *at = line->start; at < line->end; at++) {
		if (!isspace((unsigned char)*at))
			return false;
	}
	return true;
}

static size_t count_of(const struct energy_line *line, char what)
{
	size_t count = 0;

	for (const char *at = line->start; at < line->end; at++)
		count += *at == what;
	return count;
}

static char vote(const char *at, const char *end)
{
	size_t semicolons = 0, tabs = 0, commas = 0, lines = 0;
	struct energy_line line;

	while (lines < LOOKED_AT && energy_line_next(&at, end, &line)) {
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
static bool is_data(const struct energy_line *line, char delimiter, char decimal, unsigned *odd,
		    bool *grouped)
{
	const char *at = line->start, *field;
	size_t length, numbers = 0;
	double value;

	*odd = 0;
	*grouped = false;
	while (energy_field_next(&at, line->end, delimiter, &field, &length)) {
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

static bool is_unit_line(const struct energy_line *line, char delimiter)
{
	const char *at = line->start, *field;
	size_t length, known = 0, all = 0;

	while (energy_field_next(&at, line->end, delimiter, &field, &length)) {
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

static void name_columns(struct energy_table *table, const struct energy_line *header,
			 const struct energy_line *unit_line)
{
	const char *at = header->start, *field, *unit_at = NULL, *unit;
	size_t length, unit_length;

	if (unit_line)
		unit_at = unit_line->start;
	while (table->columns < ENERGY_MOST_COLUMNS &&
	       energy_field_next(&at, header->end, table->delimiter, &field, &length)) {
		char text[128];
		bool has_unit = unit_at && energy_field_next(&unit_at, unit_line->end,
							     table->delimiter, &unit, &unit_length);
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

static void keep_odd(struct energy_table *table, const struct energy_line *line, uint64_t number,
		     unsigned odd)
{
	const char *at = line->start, *field = at;
	size_t length = 0;

	for (unsigned i = 0; i < odd; i++)
		energy_field_next(&at, line->end, table->delimiter, &field, &length);
	table->odd_line = number;
	table->odd_column = odd;
	snprintf(table->odd_text, sizeof(table->odd_text), "%.*s",
		 (int)(length < sizeof(table->odd_text) ? length : sizeof(table->odd_text) - 1),
		 field);
}

/* Finds the header and the first row. */
static void find_rows(struct energy_table *table, const struct energy_input *input,
		      struct energy_line *header)
{
	const char *at = (const char *)input->bytes, *end = at + input->size;
	struct energy_line line, last = {NULL, NULL}, before = {NULL, NULL};
	uint64_t number = 1;
	unsigned odd;
	bool commas = false, dots = false, grouped;

	if (input->size >= 3 && !memcmp(at, "\xef\xbb\xbf", 3))
		at += 3;
	table->delimiter = vote(at, end);
	table->decimal = '.';
	/* a comma can only be a decimal one then, or in quotes */
	const char *look = at;
	for (int i = 0; i < LOOKED_AT && energy_line_next(&look, end, &line); i++) {
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
		if (!energy_line_next(&at, end, &line))
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

static bool header_has(const struct energy_line *header, const char *word)
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
	struct energy_table *table = calloc(1, sizeof(*table));
	struct energy_line header;

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
	if (energy_csv_understand(table, input, builder) == LITIFUT_OK)
		energy_csv_read_rows(table, builder);
	free(table);
	return builder->status;
}

const struct energy_reader energy_reader_csv = {"CSV", probe, read_csv};
