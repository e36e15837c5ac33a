/* One row of a text of samples. What nearly all rows are is parsed in place, as it takes most of
 * the time of a large file. */
#ifndef LITIFUT_POSTPROC_ENERGY_CSV_ROW_H
#define LITIFUT_POSTPROC_ENERGY_CSV_ROW_H

#include <endian.h>

#include "postproc/energy/csv_number.h"
#include "postproc/energy/csv_table.h"

struct energy_row {
	double values[ENERGY_MOST_COLUMNS];
	uint16_t levels, both, known; /* of pins */
	bool bad;                     /* a value that is needed is not a number */
	bool bad_time;
	bool unclear; /* a number has a sign that can be a decimal one, or between thousands */
};

/* Eight levels that are 0 or 1 each, as nearly all are. */
static inline bool energy_row_eight_levels(struct energy_row *row, const char *at)
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

/* Room that is there behind the begin of each field of a simple row. */
#define ENERGY_SIMPLE_ROOM (ENERGY_SHORT_NUMBER + 16)

/* Rows as nearly all are: numbers without blanks and quotes, levels of 0 and 1. False: this one is
 * another one, or the last one, and nothing was done. */
static inline bool energy_row_simple(struct energy_table *table, struct energy_row *row)
{
	const char *at = table->at, *end = table->end;
	const char delimiter = table->delimiter, decimal = table->decimal;
	const unsigned columns = table->simple;
	const char *stop;

	row->levels = row->both = row->known = 0;
	row->bad = row->bad_time = row->unclear = false;
	for (unsigned column = 0;;) {
		if (end - at < ENERGY_SIMPLE_ROOM)
			return false;
		switch (table->use[column]) {
		case ENERGY_USE_NONE:
			while (at < end && *at != delimiter && *at != '\n')
				at++;
			if (at == end)
				return false;
			break;
		case ENERGY_USE_LEVELS:
			if (table->pins != 8 || !energy_row_eight_levels(row, at))
				return false;
			at += 8;
			break;
		case ENERGY_USE_LEVEL:
			if ((*at | 1) != '1')
				return false;
			row->known |= (uint16_t)(1u << table->pin_of[column]);
			row->levels |= (uint16_t)((*at++ & 1u) << table->pin_of[column]);
			break;
		case ENERGY_USE_NUMBER:
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

/* One row; false at the end. Lines without data are passed over. */
bool energy_row_any(struct energy_table *table, struct energy_row *row);

#endif
