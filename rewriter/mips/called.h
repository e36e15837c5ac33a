/* LITIFUT_MODE=paths on MIPS: which addresses of functions code only reads to call them. */
#ifndef LITIFUT_REWRITER_MIPS_CALLED_H
#define LITIFUT_REWRITER_MIPS_CALLED_H

#include "rewriter/callees.h"

/* As `find_called` of struct litifut_arch_edges. */
void litifut_mips_find_called(const struct litifut_image *image, const struct litifut_arch *arch,
			      const struct litifut_arch_context *context,
			      const struct litifut_graph *graph, struct litifut_called *called);

/* The instruction at `at` adds the low half of an address to something. The start of the function
 * that is called by what that makes, if the graph follows these calls and nothing else reads it;
 * 0: something may read it. It can be another function than the one at that address. */
uint32_t litifut_mips_called_by_sum(const struct litifut_arch_context *context,
				    const struct litifut_graph *graph,
				    const struct litifut_section *section, uint32_t at);

#endif
