/* LITIFUT_MODE=coverage: which starts of blocks are recorded, and by which flag all edges are. */
#ifndef LITIFUT_REWRITER_EDGES_FLAGS_H
#define LITIFUT_REWRITER_EDGES_FLAGS_H

#include "rewriter/edges_judge.h"

/* Judges entries when branches have been judged, and gives flags. functions[i]: why the function of
 * block number i must be left. */
enum litifut_status litifut_edges_judge_flags(struct litifut_edges_judge *judge,
					      const uint8_t *functions,
					      struct litifut_error *error);

#endif
