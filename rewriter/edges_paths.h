/* LITIFUT_MODE=paths and balllarus: which starts of blocks and jumps are recorded, and what they
 * record. */
#ifndef LITIFUT_REWRITER_EDGES_PATHS_H
#define LITIFUT_REWRITER_EDGES_PATHS_H

#include "rewriter/edges_judge.h"

/* Judges entries when branches have been judged. What a reader can't do without comes first, then
 * stepping stones for branches, which take room from others. functions[i]: why the function of
 * block number i must be left. */
enum litifut_status litifut_edges_judge_paths(struct litifut_edges_judge *judge,
					      const uint8_t *functions,
					      struct litifut_error *error);

#endif
