/* Flags and bits of branches and blocks of MIPS code; see struct litifut_arch_edges. */
#ifndef LITIFUT_REWRITER_MIPS_EDGE_H
#define LITIFUT_REWRITER_MIPS_EDGE_H

#include "rewriter/edges.h"

extern const struct litifut_arch_edges litifut_mips_edges;

#endif
