/* The device's clock against the analyser's: pairs of a mark in the trace and an edge in the
 * power file give a line, or a smooth curve where the device's clock wanders. */
#ifndef LITIFUT_POSTPROC_ENERGY_CLOCK_H
#define LITIFUT_POSTPROC_ENERGY_CLOCK_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

struct energy_knot {
	double device;   /* seconds of the device's clock */
	double analyser; /* seconds of the analyser's clock */
};

struct energy_clock {
	struct energy_knot *knots; /* by time, at least two; straight between and beyond them */
	size_t knot_count;
	size_t marks, edges; /* that there were */
	size_t used;         /* pairs that the fit has kept */
	size_t outliers;     /* pairs that it has not */
	bool given;          /* the pairs are the user's */
	bool smoothed;       /* the clock wanders: not a line */
	bool ambiguous;      /* another pairing is about as good */
	double drift;        /* analyser seconds a device second, less 1 */
	double rms;          /* of the residuals, seconds */
	double uncertainty;  /* standard error of a mapped time, seconds */
	double shift;        /* added to all times, found in the data, seconds */
};

/* Pairs marks and edges (each by time, seconds) and fits. `step`: the uncertainty of an edge's
 * time is +-step/2. An error where no two pairs fit. To be released in every case. */
enum litifut_status energy_clock_fit(struct energy_clock *clock, const double *marks,
				     size_t mark_count, const double *edges, size_t edge_count,
				     double step, struct litifut_error *error);

/* A line through the given pairs, or by an offset alone for one. */
enum litifut_status energy_clock_line(struct energy_clock *clock, const struct energy_knot *pairs,
				      size_t count, struct litifut_error *error);

void energy_clock_release(struct energy_clock *clock);

/* `hint` goes along with times that do not decrease; 0 at first. */
double energy_clock_map(const struct energy_clock *clock, double device, size_t *hint);

/* The other way round: the device's time of a time of the analyser. */
double energy_clock_unmap(const struct energy_clock *clock, double analyser, size_t *hint);

/* One line without its end. */
const char *energy_clock_describe(const struct energy_clock *clock, char *text, size_t size);

#endif
