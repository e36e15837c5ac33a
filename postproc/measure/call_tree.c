/* Distinct stacks. */
#include "postproc/measure/call_tree.h"

#include <stdlib.h>

#include "postproc/timeline/nesting.h"

uint32_t post_call_tree_find(const struct post_call_tree *tree, uint32_t parent, uint32_t function)
{
	return post_table_find(&tree->index, (struct post_key){{parent, function}});
}

/* The node of `function` below node `parent` (POST_NONE: at the root), made when it is new. */
static uint32_t node_below(struct post_call_tree *tree, uint32_t parent, uint32_t function)
{
	struct post_key key = {{parent, function}};
	uint32_t number = post_call_tree_find(tree, parent, function);

	if (number != POST_NONE)
		return number;
	for (uint32_t above = tree->merge_recursion ? parent : POST_NONE; above != POST_NONE;
	     above = tree->nodes[above].parent) {
		if (tree->nodes[above].function == function)
			return above;
	}
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
	frame->number = node_below(tree, parent, function);
	if (event->site != POST_NONE && !(event->flags & POST_EVENT_BEFORE))
		tree->nodes[frame->number].calls++;
}

struct ordering {
	const struct post_call_tree *tree;
	const uint64_t *total;
};

static int by_parent(const void *left, const void *right, void *context)
{
	const struct ordering *ordering = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	uint32_t x = post_tree_parent(ordering->tree, a), y = post_tree_parent(ordering->tree, b);

	if (x != y)
		return x < y ? -1 : 1;
	if (ordering->total[a] != ordering->total[b])
		return ordering->total[a] > ordering->total[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

void post_tree_order_make(struct post_tree_order *order, const struct post_call_tree *tree)
{
	*order = (struct post_tree_order){
		.total = post_allocate(tree->count + (size_t)1, sizeof(*order->total)),
		.order = post_allocate(tree->count + (size_t)1, sizeof(*order->order)),
		.first = post_allocate(tree->count + (size_t)1, sizeof(*order->first)),
	};
	struct ordering ordering = {tree, order->total};

	for (uint32_t i = tree->count; i-- > 0;) { /* children come before their parents here */
		order->order[i] = i;
		order->total[i] += tree->timed ? tree->nodes[i].self : tree->nodes[i].calls;
		if (tree->nodes[i].parent != POST_NONE)
			order->total[tree->nodes[i].parent] += order->total[i];
		else
			order->sum += order->total[i];
	}
	qsort_r(order->order, tree->count, sizeof(*order->order), by_parent, &ordering);
	for (uint32_t i = tree->count; i-- > 0;)
		order->first[post_tree_parent(tree, order->order[i])] = i;
}

void post_tree_order_release(struct post_tree_order *order)
{
	free(order->total);
	free(order->order);
	free(order->first);
	*order = (struct post_tree_order){0};
}

void post_call_tree_release(struct post_call_tree *tree)
{
	free(tree->nodes);
	post_table_release(&tree->index);
	*tree = (struct post_call_tree){0};
}
