/* The code that records an edge of T32 code, and of Thumb-1 code; see edge.c. */
#ifndef LITIFUT_REWRITER_ARM_EDGE_THUMB_H
#define LITIFUT_REWRITER_ARM_EDGE_THUMB_H

#include "rewriter/edges.h"

/* As `write` of struct litifut_arch_edges. */
bool litifut_arm_write_edge_thumb(const struct litifut_edge_place *place,
				  const struct litifut_edge *edge, uint32_t address,
				  struct litifut_edge_code *code);

#endif
