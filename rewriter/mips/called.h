/* See called.c. */
#ifndef LITIFUT_REWRITER_MIPS_CALLED_H
#define LITIFUT_REWRITER_MIPS_CALLED_H

#include "rewriter/callees.h"

/* As `find_called` of struct litifut_arch_edges. */
void litifut_mips_find_called(const struct litifut_image *image, const struct litifut_arch *arch,
			      const struct litifut_arch_context *context,
			      const struct litifut_graph *graph, struct litifut_called *called);

/* The instruction at `at` adds the low half of an address to something. The start of the function
 * whose address that makes, if it is for calls of it which the graph follows and for nothing else;
 * 0: it is not, or that is not known. */
uint32_t litifut_mips_called_by_sum(const struct litifut_arch_context *context,
				    const struct litifut_graph *graph,
				    const struct litifut_section *section, uint32_t at);

#endif
