/* The tree of all stacks that occurred: a function below another one, with what happened
 * there. Flame graphs and top-down trees are drawn from it. */
#ifndef LITIFUT_POSTPROC_MEASURE_CALL_TREE_H
#define LITIFUT_POSTPROC_MEASURE_CALL_TREE_H

#include <stdint.h>

#include "postproc/table.h"

struct post_tree_node {
	uint32_t parent; /* a node with a smaller number; POST_NONE: the root of a stack */
	uint32_t function;
	uint64_t calls;
	uint64_t self; /* time in the function itself, where returns were recorded */
};

/* All zero to start with. */
struct post_call_tree {
	struct post_table index;
	struct post_tree_node *nodes;
	uint32_t count, capacity;
};

/* The node of `function` below node `parent` (POST_NONE: at the root), made when it is new. */
uint32_t post_call_tree_below(struct post_call_tree *tree, uint32_t parent, uint32_t function);

void post_call_tree_release(struct post_call_tree *tree);

#endif
