/* The code that records an edge of A32 code; see edge.c. */
#ifndef LITIFUT_REWRITER_ARM_EDGE_PLAIN_H
#define LITIFUT_REWRITER_ARM_EDGE_PLAIN_H

#include "rewriter/edges.h"

/* As `write` of struct litifut_arch_edges. */
bool litifut_arm_write_edge_plain(const struct litifut_edge_place *place,
				  const struct litifut_edge *edge, uint32_t address,
				  struct litifut_edge_code *code);

#endif
