/* What changes of a curve are looked for in: values with weights, or means of samples. */
#ifndef LITIFUT_POSTPROC_ENERGY_POINTS_H
#define LITIFUT_POSTPROC_ENERGY_POINTS_H

#include <stdint.h>

#include "postproc/energy/samples.h"

struct energy_point {
	double value, weight;
	uint32_t start; /* number of its first sample */
};

/* So many points are looked at in one go. */
#define ENERGY_SOME_POINTS 512

/* The points of a search, in their order. Those of samples are made when they are needed, as there
 * can be as many as there are samples. */
struct energy_points {
	size_t (*next)(struct energy_points *points,
		       struct energy_point *room); /* 0: there are no more */
	size_t at, count;
	const double *values, *weights; /* of given ones */
	const struct energy_samples *samples;
	unsigned width;        /* samples of a bin */
	const size_t *bins;    /* where bins differ, in samples */
	size_t bin_count, bin; /* how many, and the next one */
	size_t single;         /* samples up to here are points */
};

/* What `next` can be: the values as they are; means of `width` samples; single ones near `bins`,
 * one bin wide on each side. */
size_t energy_points_given(struct energy_points *points, struct energy_point *room);
size_t energy_points_coarse(struct energy_points *points, struct energy_point *room);
size_t energy_points_fine(struct energy_points *points, struct energy_point *room);

#endif
