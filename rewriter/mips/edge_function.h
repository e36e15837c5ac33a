/* Is all known that leads into the blocks of a function? */
#ifndef LITIFUT_REWRITER_MIPS_EDGE_FUNCTION_H
#define LITIFUT_REWRITER_MIPS_EDGE_FUNCTION_H

#include "rewriter/edges.h"

/* As `judge_function` of struct litifut_arch_edges. */
unsigned litifut_mips_judge_function(const struct litifut_image *image,
				     const struct litifut_arch_context *context,
				     struct litifut_graph *graph, size_t first, size_t end);

#endif
