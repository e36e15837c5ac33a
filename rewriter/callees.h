/* What calls and jumps through registers lead to, where the code around them shows it. */
#ifndef LITIFUT_REWRITER_CALLEES_H
#define LITIFUT_REWRITER_CALLEES_H

#include "rewriter/graph.h"
#include "rewriter/session.h"
#include "rewriter/sites.h"

/* Sets `callee` of the blocks; with `shown` also where the instruction has a target, if the
 * register by which functions are called holds that as well. */
enum litifut_status litifut_callees_find(const struct litifut_session *session,
					 struct litifut_graph *graph, bool shown,
					 struct litifut_error *error);

/* `callees` gets what known_callee() says of each site, or NULL if it says nothing on this CPU;
 * free it. */
enum litifut_status litifut_callees_of_sites(const struct litifut_image *image,
					     const struct litifut_arch *arch,
					     const struct litifut_arch_context *context,
					     const struct litifut_site_list *sites,
					     uint32_t **callees, struct litifut_error *error);

/* The block with which the function begins that the call at the end of `block` leads to, or NULL:
 * that is not known, or not in the graph. */
const struct litifut_graph_block *litifut_callee_of(const struct litifut_graph *graph,
						    const struct litifut_graph_block *block);

/* What code only reads to call functions that the graph follows; all 0: nothing is known to be so.
 */
struct litifut_called {
	const struct litifut_graph *graph;
	uint32_t start, end; /* words of the data, */
	uint8_t *words;      /* and a bit for each of them */
};

void litifut_called_release(struct litifut_called *called);

#endif
