/* The control-flow graph of a program's functions, from the blocks of its code. The rewriter and
 * the post-processor make it from the same blocks, so that both have the same numbers. */
#ifndef LITIFUT_PATHS_GRAPH_H
#define LITIFUT_PATHS_GRAPH_H

#include <litifut/module_format.h>

#include "paths/flow.h"

#define PATH_NO_BLOCK UINT32_MAX

/* Blocks by address; a function begins with the block that says so. */
struct path_blocks {
	const struct litifut_block *items;
	size_t count;
	/* Where the veneer at the address leads; 0: there is none. NULL: veneers are not followed,
	 * and functions behind them are not known as callees. */
	uint32_t (*lead)(const void *context, uint32_t address);
	const void *context;
	/* LITIFUT_MODE=balllarus: a path begins at each block whose start is recorded, and ends
	 * with a jump by a register or a table. Else such a jump leads to all labels. */
	bool recorded;
};

struct path_graph {
	struct path_flow flow;
	uint32_t *node_of;     /* block number -> its node */
	uint32_t *function_of; /* block number -> its function */
	/* node -> its block. A call or jump under a condition has a separate node, whose block is
	 * that of the branch. */
	uint32_t *block_of;
	uint32_t *first_block; /* of a function */
	size_t branches;       /* conditional ones */
	size_t jumps;          /* by a register or a table: any label of the function may follow */
	size_t unknown_calls;  /* whose callee is not in the graph */
};

/* The block that starts at the address, or PATH_NO_BLOCK. */
uint32_t path_block_at(const struct path_blocks *blocks, uint32_t address);

/* Release with path_graph_release(), on failure as well. False: no memory. */
bool path_graph_make(const struct path_blocks *blocks, struct path_graph *graph);
void path_graph_release(struct path_graph *graph);

#endif
