#include "postproc/measure/call_tree.h"

#include <stdlib.h>

uint32_t post_call_tree_below(struct post_call_tree *tree, uint32_t parent, uint32_t function)
{
	struct post_key key = {{parent, function}};
	uint32_t number = post_table_find(&tree->index, key);

	if (number != POST_NONE)
		return number;
	POST_GROW(tree->nodes, tree->count, tree->capacity);
	number = tree->count++;
	tree->nodes[number] = (struct post_tree_node){.parent = parent, .function = function};
	post_table_put(&tree->index, key, number);
	return number;
}

void post_call_tree_release(struct post_call_tree *tree)
{
	post_table_release(&tree->index);
	free(tree->nodes);
}
