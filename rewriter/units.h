/* LITIFUT_MODE=units: which edges record the units of tests. */
#ifndef LITIFUT_REWRITER_UNITS_H
#define LITIFUT_REWRITER_UNITS_H

#include "rewriter/edges_judge.h"

/* Judges the edges of all units in place of those that the other
 * modes record. functions[i]: why the function of block number i must be left. */
enum litifut_status litifut_units_judge(struct litifut_edges_judge *judge,
					const struct litifut_rewrite_options *options,
					const uint8_t *functions, struct litifut_error *error);

#endif
