/* Where the level of a noisy curve changes: the segmentation with the least sum of squares
 * and penalties. Killick, Fearnhead, Eckley 2012 (PELT) and Maidstone and others 2017 (FPOP)
 * find the same optimum; FPOP keeps far fewer candidates. */
#ifndef LITIFUT_POSTPROC_ENERGY_CHANGES_H
#define LITIFUT_POSTPROC_ENERGY_CHANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postproc/energy/samples.h"

/* Positions of the first points of segments, without 0, by size. */
struct energy_changes {
	size_t *at;
	size_t count;
};

/* `values` with `weights` (NULL: all 1). False: no memory. */
bool energy_changes_fpop(const double *values, const double *weights, size_t count, double penalty,
			 struct energy_changes *changes);
bool energy_changes_pelt(const double *values, const double *weights, size_t count, double penalty,
			 struct energy_changes *changes);

/* FPOP over means of `width` samples, then over single samples near the changes that it has
 * found. Positions are of samples. Some 50 times faster than FPOP over all of them. */
bool energy_changes_two_levels(const struct energy_samples *samples, unsigned width, double penalty,
			       struct energy_changes *changes);

/* Takes out changes to a level that differs by less than `step`. */
void energy_changes_merge(const struct energy_samples *samples, double step,
			  struct energy_changes *changes);

void energy_changes_release(struct energy_changes *changes);

/* 2 s^2 log n */
double energy_changes_penalty(double noise, size_t count);

#endif
