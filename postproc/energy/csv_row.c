#include "postproc/energy/csv_row.h"

#include <stdio.h>

/* `pins`: as many levels there are, unless a spreadsheet has made a number of them; 0: unknown. */
static void levels_of_text(struct energy_row *row, const char *at, const char *end, unsigned pins)
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

/* A number with thousands separators; NULL: it is not one, or it is not clear. */
static const char *other_number(struct energy_table *table, struct energy_row *row, const char *at,
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

bool energy_row_any(struct energy_table *table, struct energy_row *row)
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
				    energy_row_eight_levels(row, at))
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
