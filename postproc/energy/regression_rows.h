/* The row of one sample, or of many that are alike: added to the normal equations, or used for what
 * is asked where the levels are known. */
#ifndef LITIFUT_POSTPROC_ENERGY_REGRESSION_ROWS_H
#define LITIFUT_POSTPROC_ENERGY_REGRESSION_ROWS_H

#include "postproc/energy/regression.h"

/* `part` of the sample that is being filled, from 0 to 1, belongs to `column`, and to the states of
 * peripherals that are active. */
void energy_row_touch(struct energy_regression *r, uint32_t column, double part);

/* The sample is full, and the next one follows it. */
void energy_row_end(struct energy_regression *r);

/* The sample is given up: what comes next does not follow what was there before. */
void energy_row_break_off(struct energy_regression *r);

/* The next `count` samples are filled by the same columns from end to end. */
void energy_rows_whole(struct energy_regression *r, uint32_t column, size_t count);

#endif
