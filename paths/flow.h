/* The control-flow graphs of the functions of a program, as numbers only: what paths are counted
 * in. */
#ifndef LITIFUT_PATHS_FLOW_H
#define LITIFUT_PATHS_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATH_EXIT UINT32_MAX    /* in the place of a node: out of the function */
#define PATH_UNKNOWN UINT32_MAX /* in the place of a function */

/* Nodes are numbered through the whole program, those of one function stand together. */
struct path_node {
	uint32_t first; /* of its edges */
	uint32_t count; /* 0: the program ends there */
	/* A function that is called in the node, before one of the edges is followed. Of other
	 * calls nothing is known: PATH_UNKNOWN. */
	uint32_t callee;
	/* A path begins wherever control comes to the node, and each edge to it ends one. */
	bool begins;
};

struct path_function {
	uint32_t first; /* node, where the function is entered */
	uint32_t count;
	bool traced;
	bool entered_otherwise; /* not by the calls in the graph alone */
};

/* All zero: empty. */
struct path_flow {
	struct path_function *functions; /* owned, as all here */
	size_t function_count, function_capacity;
	struct path_node *nodes;
	size_t node_count, node_capacity;
	uint32_t *edges; /* the node that each leads to, or PATH_EXIT */
	size_t edge_count, edge_capacity;
	bool no_memory; /* something could not be added, and nothing is any more */
};

/* Each adds behind what there is, and returns the number. A node belongs to the last function, an
 * edge to the last node. */
uint32_t path_flow_function(struct path_flow *flow);
uint32_t path_flow_node(struct path_flow *flow, uint32_t callee);
uint32_t path_flow_edge(struct path_flow *flow, uint32_t target);

void path_flow_release(struct path_flow *flow);

#endif
