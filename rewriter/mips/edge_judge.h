/* Can the edges of a block be recorded, and what of its code does that take? */
#ifndef LITIFUT_REWRITER_MIPS_EDGE_JUDGE_H
#define LITIFUT_REWRITER_MIPS_EDGE_JUDGE_H

#include "rewriter/edges.h"

/* As `join`, `judge_branch` and `judge_entry` of struct litifut_arch_edges. */
bool litifut_mips_join_entry(const struct litifut_edge_place *place, struct litifut_edge *edge);
unsigned litifut_mips_judge_branch(const struct litifut_edge_place *place,
				   struct litifut_edge *edge);
unsigned litifut_mips_judge_entry(const struct litifut_edge_place *place,
				  struct litifut_edge *edge);

#endif
