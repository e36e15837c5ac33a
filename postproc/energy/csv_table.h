/* A text of samples, once it is understood: which lines are rows, and what their columns are. */
#ifndef LITIFUT_POSTPROC_ENERGY_CSV_TABLE_H
#define LITIFUT_POSTPROC_ENERGY_CSV_TABLE_H

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "postproc/energy/reader.h"

#define ENERGY_MOST_COLUMNS 64

struct energy_line {
	const char *start, *end; /* without its end */
};

struct energy_table {
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
	struct energy_column column[ENERGY_MOST_COLUMNS];
	/* what is made of them: columns of a channel, -1: none */
	int time, energy, pins_column;
	int current[ENERGY_CHANNELS], voltage[ENERGY_CHANNELS], power[ENERGY_CHANNELS];
	unsigned channels, pins;
	int pin_of[ENERGY_MOST_COLUMNS]; /* -1: not a pin */
	bool needed[ENERGY_MOST_COLUMNS];
	unsigned simple; /* columns up to the last one that is needed; 0: no row is simple */
	enum energy_use {
		ENERGY_USE_NONE,
		ENERGY_USE_LEVELS,
		ENERGY_USE_LEVEL,
		ENERGY_USE_NUMBER
	} use[ENERGY_MOST_COLUMNS];
	double volts[ENERGY_CHANNELS];
	/* The watts of a channel: the values of one column or of two, by a factor. */
	struct energy_product {
		int one, other; /* -1: there is none */
		double factor;
	} watts[ENERGY_CHANNELS];
};

static inline bool energy_line_next(const char **at, const char *end, struct energy_line *line)
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

static inline bool energy_field_next(const char **at, const char *end, char delimiter,
				     const char **field, size_t *length)
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

/* Says what is made of the columns, by their names, the user's options and the first row. The
 * builder has the error if there is one (csv_columns.c). */
enum litifut_status energy_csv_understand(struct energy_table *table,
					  const struct energy_input *input,
					  struct energy_builder *builder);

#endif
