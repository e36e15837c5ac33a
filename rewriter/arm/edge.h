/* Flags of branches and blocks of ARM code; see struct litifut_arch_edges. */
#ifndef LITIFUT_REWRITER_ARM_EDGE_H
#define LITIFUT_REWRITER_ARM_EDGE_H

#include "rewriter/edges.h"

extern const struct litifut_arch_edges litifut_arm_edges;

#endif
