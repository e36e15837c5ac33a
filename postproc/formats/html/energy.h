/* What the report of `litifut-post energy` has beside the others: the power curve, and the energy
 * of functions and of paths. */
#ifndef LITIFUT_POSTPROC_FORMATS_HTML_ENERGY_H
#define LITIFUT_POSTPROC_FORMATS_HTML_ENERGY_H

#include <stdio.h>

#include "postproc/measure/call_tree.h"
#include "postproc/measure/edges.h"

#define POST_HTML_CURVES 4
#define POST_HTML_POINTS 32768u /* buckets of all curves together */

/* One channel of the analyser: so many buckets of one width. */
struct post_html_curve {
	const char *name;
	size_t count;
	const float *low, *high; /* W; low > high: no sample lies there */
	const double *mean;
};

/* Joules. */
struct post_html_function_energy {
	double self, error, inclusive, later;
};

struct post_html_path_energy {
	uint32_t parent; /* a smaller number; POST_NONE: nothing calls it */
	uint32_t function;
	double joules; /* of itself, and what it has caused later */
};

struct post_html_energy {
	double total, outside, tracer, transfer, unexplained; /* J, as rows of -f report */
	struct post_html_curve curves[POST_HTML_CURVES];
	unsigned curve_count;
	double from, width;                                /* ns of the timeline, of the buckets */
	const struct post_html_function_energy *functions; /* by number */
	size_t function_count;
	const struct post_html_path_energy *paths;
	size_t path_count;
};

/* The member "power" with its comma. */
void post_html_power_write(const struct post_html_energy *energy, FILE *file);

/* Columns of "functions", with a comma before each. */
void post_html_function_energy_write(const struct post_html_energy *energy,
				     const struct post_tallies *tallies, FILE *file);

/* Joules of each node of a tree, which the caller frees. `left` becomes what lies on paths that the
 * tree does not have. */
double *post_html_path_energies(const struct post_html_energy *energy,
				const struct post_call_tree *tree, double *left);

#endif
