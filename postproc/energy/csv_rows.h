/* The rows of a table in text: numbers and levels of pins, one sample a row. Where processors are
 * idle, several pieces of the text are parsed at once. */
#ifndef LITIFUT_POSTPROC_ENERGY_CSV_ROWS_H
#define LITIFUT_POSTPROC_ENERGY_CSV_ROWS_H

#include "postproc/energy/reader.h"

#define ENERGY_CSV_COLUMNS 64
/* What is more is not taken for a number of watts. */
#define ENERGY_CSV_MOST_WATTS 1e12

enum energy_csv_use {
	ENERGY_CSV_UNUSED,
	ENERGY_CSV_LEVELS, /* of several pins, a character each */
	ENERGY_CSV_LEVEL,
	ENERGY_CSV_NUMBER
};

/* What was found about the table. `at` and `line` go on with each row. */
struct energy_csv {
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
	struct energy_column column[ENERGY_CSV_COLUMNS];
	/* what is made of them: columns of a channel, -1: none */
	int time, energy, pins_column;
	int current[ENERGY_CHANNELS], voltage[ENERGY_CHANNELS], power[ENERGY_CHANNELS];
	unsigned channels, pins;
	int pin_of[ENERGY_CSV_COLUMNS]; /* -1: not a pin */
	bool needed[ENERGY_CSV_COLUMNS];
	unsigned simple; /* columns up to the last one that is needed; 0: no row is simple */
	enum energy_csv_use use[ENERGY_CSV_COLUMNS];
	double volts[ENERGY_CHANNELS];
	/* The watts of a channel: the values of one column or of two, by a factor. */
	struct energy_csv_product {
		int one, other; /* -1: there is none */
		double factor;
	} watts[ENERGY_CHANNELS];
};

struct energy_csv_row {
	double time;   /* seconds; 0: there is no column for it, NaN: it is not a number */
	double energy; /* joules since the start, if there is a column for it */
	float watts[ENERGY_CHANNELS];
	const char *end;              /* behind its line */
	uint32_t lines;               /* from where its array begins up to that */
	uint16_t levels, both, known; /* of pins */
	bool bad;                     /* a value that is needed is not a number */
	bool too_much;                /* watts that can't be */
	/* A number has a sign that can be a decimal one, or stand between thousands: `odd_text` of
	 * the table. The last row of its array. */
	bool unclear;
};

/* Fills what is looked up for each row. `sign`: -1 if the power was measured the other way round.
 */
void energy_csv_prepare(struct energy_csv *table, double sign);

/* Parses the next row. False: there is none. */
bool energy_csv_next(struct energy_csv *table, struct energy_csv_row *row);

/* Gets rows that follow each other, in the order of the file; `line` of the table is the number of
 * the line behind those before them. False: no more rows are needed. */
typedef bool energy_csv_take(void *context, const struct energy_csv_row *rows, size_t count);

/* Parses all rows that are left and gives them to `take`. False: not enough memory. */
bool energy_csv_each(struct energy_csv *table, energy_csv_take *take, void *context);

#endif
