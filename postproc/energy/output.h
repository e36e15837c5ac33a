/* What `litifut-post energy` writes: a format is one struct, listed in output.c. */
#ifndef LITIFUT_POSTPROC_ENERGY_OUTPUT_H
#define LITIFUT_POSTPROC_ENERGY_OUTPUT_H

#include <stdio.h>

#include "postproc/energy/analysis.h"

struct energy_output {
	FILE *file;
	const struct energy_analysis *analysis;
	const struct energy_settings *settings;
	size_t top; /* rows of a table; 0: all */
	/* What write() could not do. */
	enum litifut_status status;
	struct litifut_error error;
};

struct energy_format {
	const char *name;
	const char *summary; /* one line for --help */
	/* Called for each call when it ends, before write(); may be NULL. */
	void (*occurrence)(void *output, const struct energy_occurrence *occurrence);
	void (*start)(struct energy_output *output); /* before the first call; may be NULL */
	void (*write)(struct energy_output *output);
	bool advises; /* shows what energy_find_changes() finds, which takes a third of the time */
};

extern const struct energy_format energy_format_report, energy_format_calls, energy_format_tree,
	energy_format_tsv, energy_format_json, energy_format_callgrind, energy_format_svg,
	energy_format_chrome, energy_format_html, energy_format_include;
extern const struct energy_format *const energy_formats[]; /* NULL-terminated */

/* Functions with calls, those with the most energy (self and later) first. Gives how many;
 * `order` has room for all. */
size_t energy_order(const struct energy_analysis *analysis, uint32_t *order);

/* The name of a function, or "(outside)". */
const char *energy_name(const struct energy_analysis *analysis, uint32_t function);

/* "1.23 mJ": three or four digits with the unit that fits. Returns `text`. */
const char *energy_quantity(double value, const char *unit, char *text, size_t size);

/* 0 of nothing. */
static inline double energy_percent(double part, double whole)
{
	return whole > 0 ? 100 * part / whole : 0;
}

/* Prints what a power file has: its kind, mean and noise of each channel, how often each pin rises.
 */
void energy_check(FILE *file, const struct energy_power *power, const char *path);

/* Prints a table of the functions of two analyses by name: energy a call in both, the change, its
 * standard error. What changed by less than two of these is marked. */
void energy_compare(FILE *file, const struct energy_analysis *old,
		    const struct energy_analysis *new);

#endif
