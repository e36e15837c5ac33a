/* Distinct stacks. */
#include "postproc/measure/call_tree.h"

#include <stdlib.h>

#include "postproc/timeline/nesting.h"

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

void post_call_tree_take(struct post_call_tree *tree, const struct post_session *session,
			 const struct post_timeline_event *event)
{
	if (event->kind > POST_EVENT_LEAVE)
		return;
	struct post_frame *frame = post_nesting_frame(session, event);
	if (event->kind == POST_EVENT_LEAVE) {
		if (frame->number >= tree->count || event->flags & POST_EVENT_BEFORE)
			return;
		tree->nodes[frame->number].self += event->value;
		tree->timed |= event->value != 0;
		return;
	}
	uint32_t parent = event->depth ? (uint32_t)frame[-1].number : POST_NONE;
	uint32_t function =
		event->site == POST_NONE ? event->callee : session->calls[event->site].callee;
	frame->number = post_call_tree_below(tree, parent, function);
	if (event->site != POST_NONE && !(event->flags & POST_EVENT_BEFORE))
		tree->nodes[frame->number].calls++;
}

void post_call_tree_release(struct post_call_tree *tree)
{
	free(tree->nodes);
	post_table_release(&tree->index);
	*tree = (struct post_call_tree){0};
}
