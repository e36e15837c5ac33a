/* The code that records an edge; see edge.c. */
#ifndef LITIFUT_REWRITER_MIPS_EDGE_WRITE_H
#define LITIFUT_REWRITER_MIPS_EDGE_WRITE_H

#include "rewriter/edges.h"

/* As `write` of struct litifut_arch_edges. */
bool litifut_mips_write_edge(const struct litifut_edge_place *place,
			     const struct litifut_edge *edge, uint32_t address,
			     struct litifut_edge_code *code);

#endif
