/* What the regression's files share: a walk over the calls fills one sample after another, and each
 * full sample gives a row. A row is added to the normal equations, or, where the levels are known,
 * is used for what was asked. */
#ifndef LITIFUT_POSTPROC_ENERGY_REGRESSION_H
#define LITIFUT_POSTPROC_ENERGY_REGRESSION_H

#include "postproc/energy/resolved.h"

#define ENERGY_MOST_TOUCHED 256

struct energy_regression {
	const struct energy_resolve_input *input;
	const uint32_t *column_of, *ends_of;
	unsigned end_parts;
	size_t columns, first_state;
	struct energy_rows rows;
	uint64_t samples;

	/* the sample that is being filled */
	size_t run, index;
	double filled; /* part of it */
	double rate;   /* samples a second */
	uint32_t touched[ENERGY_MOST_TOUCHED];
	unsigned touched_count;
	double *part; /* by column */

	/* Behind capacitors the noise is that of the curve as it was measured: the rows, which
	 * are of the curve without them, are smeared again. */
	double kept;     /* of a sample in the next one; 0: there are no capacitors */
	double *smeared; /* by column: of the rows so far */
	double smeared_value;
	uint32_t *live; /* columns that are not 0 in `smeared` */
	unsigned live_count;
	double *seconds; /* by column */

	/* The levels before at the sample's ends, and the time from and to which it drifts. */
	double level_first, level_last;
	size_t shift;
	double middle, half;

	/* the span that is not over, and the parts of hooks at its ends */
	bool pending;
	uint32_t column, ends;
	double from, to, lead, trail, next_lead;
	uint32_t lead_column, trail_column, next_column; /* of calls or of returns */
	struct energy_active active;
	double changed; /* when a state began or ended last */
	bool near;      /* the piece is near to that */
	bool uncertain; /* the sample has such a piece */

	/* other uses of the same walk */
	const struct energy_level *levels; /* known: rows go to `observed`, `rest`, `sums` */
	float *rest;
	bool states;  /* `rest` is without these as well */
	double *sums; /* of `rest`, of blocks */
	size_t block; /* samples of each */
	double *observed, *observed_seconds;
	double *divided, *divided_samples; /* by column: W, and how many samples it had */
	double caused;                     /* by peripherals in the sample, W */
	bool done;
};

#endif
