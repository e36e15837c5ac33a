/* fmin() and fmax() for numbers that are not NaN: those are calls of the library, which took a
 * tenth of the time of an analysis. */
#ifndef LITIFUT_POSTPROC_ENERGY_BOUNDS_H
#define LITIFUT_POSTPROC_ENERGY_BOUNDS_H

static inline double energy_lesser(double a, double b)
{
	return a < b ? a : b;
}

static inline double energy_greater(double a, double b)
{
	return a > b ? a : b;
}

#endif
