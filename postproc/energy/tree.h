/* Paths of calls: a node for each chain of functions that was seen, with what it has used. */
#ifndef LITIFUT_POSTPROC_ENERGY_TREE_H
#define LITIFUT_POSTPROC_ENERGY_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "postproc/energy/power.h"

#define ENERGY_NO_FUNCTION UINT32_MAX
#define ENERGY_ROOT 0 /* time in which no traced function was open */

/* How many parts of hooks lie inside the node's own time. */
struct energy_hook_counts {
	uint64_t enter_before; /* before the clock is read: in the caller */
	uint64_t enter_after;  /* after it: in the callee */
	uint64_t exit_before;  /* in the callee */
	uint64_t exit_after;   /* in the caller */
	uint64_t interrupts;   /* of the tracer's clock */
};

struct energy_node {
	uint32_t function;
	uint32_t parent; /* smaller than its own number */
	uint64_t calls;
	double joules[ENERGY_CHANNELS]; /* self, with hooks */
	double seconds;                 /* self, with hooks */
	double unknown;                 /* of it, without samples */
	struct energy_hook_counts hooks;
	double later; /* joules that its calls have caused after their end, or beside it */
};

struct energy_tree {
	struct energy_node *nodes;
	size_t count, capacity;
	uint32_t *slots;
	size_t slot_count;
	bool failed; /* no memory */
	bool folded; /* too many paths: some are kept without their callers */
};

/* Makes the root. */
void energy_tree_start(struct energy_tree *tree);

/* The node of `function` called on the path `parent`. */
uint32_t energy_tree_child(struct energy_tree *tree, uint32_t parent, uint32_t function);

void energy_tree_release(struct energy_tree *tree);

#endif
