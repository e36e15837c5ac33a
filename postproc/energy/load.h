/* Marks without a pin: what the recorder sets at each mark switches a load on, an LED for example,
 * and the curve shows it. */
#ifndef LITIFUT_POSTPROC_ENERGY_LOAD_H
#define LITIFUT_POSTPROC_ENERGY_LOAD_H

#include "postproc/energy/clock.h"
#include "postproc/energy/power.h"

/* What was found of it. */
struct energy_load {
	size_t pulses;
	double watts, seconds; /* of each */
	unsigned channel;      /* that shows it */
	double step;           /* the uncertainty of an edge's time is +-step/2, seconds */
	double certainty;      /* how much better the marks fit there than at the next best place */
};

/* The times at which the load is switched on by the marks (device's seconds, rising), into `edges`,
 * which has room for as many. An error where they fit about as well elsewhere. */
enum litifut_status energy_load_find(struct energy_load *load, const struct energy_power *power,
				     const double *marks, size_t mark_count, double *edges,
				     size_t *edge_count, struct litifut_error *error);

/* Takes the load out of the curve, which is of the program then. */
enum litifut_status energy_load_take_out(struct energy_load *load, struct energy_power *power,
					 const struct energy_clock *clock, const double *marks,
					 size_t mark_count, struct litifut_error *error);

#endif
