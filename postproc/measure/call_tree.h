/* The tree of all stacks that occurred: a function below another one, with what happened
 * there. Flame graphs and top-down trees are drawn from it. */
#ifndef LITIFUT_POSTPROC_MEASURE_CALL_TREE_H
#define LITIFUT_POSTPROC_MEASURE_CALL_TREE_H

#include "postproc/model/session.h"
#include "postproc/timeline/event.h"

struct post_tree_node {
	uint32_t parent; /* POST_NONE: a lane begins with it */
	uint32_t function;
	uint64_t calls;
	uint64_t self; /* ticks, of calls whose return is known, and of those that were cut */
};

struct post_call_tree {
	struct post_tree_node *nodes; /* a parent stands before its children */
	uint32_t count, capacity;
	bool timed; /* some `self` is known */
	/* Whoever makes the tree sets this: a function that is called below itself, directly or
	 * not, gets no second node there, and what it does is counted at its first one. */
	bool merge_recursion;
	struct post_table index;
};

/* Takes an event of a nested timeline. Uses the numbers of the frames. */
void post_call_tree_take(struct post_call_tree *tree, const struct post_session *session,
			 const struct post_timeline_event *event);

/* The node of `function` below node `parent` (POST_NONE: at the root); POST_NONE: there is none. */
uint32_t post_call_tree_find(const struct post_call_tree *tree, uint32_t parent, uint32_t function);

/* The nodes in the order in which a tree is shown. */
struct post_tree_order {
	uint64_t *total; /* by node: its time, or its calls where there is none, and all below */
	uint32_t *order; /* the nodes, those of one parent side by side, most cost first */
	uint32_t *first; /* by node: where its children begin in `order`; [count]: the roots */
	uint64_t sum;
};

/* The parent of a node; the number of nodes for a root. */
static inline uint32_t post_tree_parent(const struct post_call_tree *tree, uint32_t node)
{
	uint32_t parent = tree->nodes[node].parent;

	return parent == POST_NONE ? tree->count : parent;
}

/* `order` is overwritten. Where a node has no children, `first` is not that of one. */
void post_tree_order_make(struct post_tree_order *order, const struct post_call_tree *tree);
void post_tree_order_release(struct post_tree_order *order);

void post_call_tree_release(struct post_call_tree *tree);

#endif
