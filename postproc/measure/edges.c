/* Summing up calls. */
#include "postproc/measure/edges.h"

#include <stdlib.h>
#include <string.h>

int post_function_compare(const struct post_session *session, uint32_t a, uint32_t b)
{
	const struct post_function *left = &session->functions[a], *right = &session->functions[b];
	int order = strcmp(left->name, right->name);

	if (!order)
		order = strcmp(session->modules[left->module].name,
			       session->modules[right->module].name);
	if (!order)
		order = left->address < right->address ? -1 : left->address > right->address;
	return order ? order : a < b ? -1 : a > b;
}

static int compare_edges(const void *left, const void *right, void *context)
{
	const struct post_edge *a = left, *b = right;

	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	int order = post_function_compare(context, a->caller, b->caller);
	return order ? order : post_function_compare(context, a->callee, b->callee);
}

void post_edges_collect(const struct post_session *session, struct post_edges *edges)
{
	struct post_table index = {0};

	*edges = (struct post_edges){0};
	for (size_t i = 0; i < session->call_count; i++) {
		const struct post_call *call = &session->calls[i];
		struct post_key key = {{call->caller, call->callee}};
		if (call->hidden || !call->count)
			continue;
		uint32_t number = post_table_find(&index, key);
		if (number == POST_NONE) {
			number = (uint32_t)edges->count;
			POST_GROW(edges->items, edges->count, edges->capacity);
			edges->items[edges->count++] =
				(struct post_edge){.caller = call->caller, .callee = call->callee};
			post_table_put(&index, key, number);
		}
		edges->items[number].count += call->count;
		edges->items[number].sites++;
		edges->total += call->count;
	}
	post_table_release(&index);
	if (edges->count)
		qsort_r(edges->items, edges->count, sizeof(*edges->items), compare_edges,
			(void *)session);
}

void post_edges_release(struct post_edges *edges)
{
	free(edges->items);
	*edges = (struct post_edges){0};
}

static int compare_tallies(const void *left, const void *right, void *context)
{
	const struct post_tally *a = left, *b = right;

	if (a->calls != b->calls)
		return a->calls > b->calls ? -1 : 1;
	if (a->made != b->made)
		return a->made > b->made ? -1 : 1;
	return post_function_compare(context, a->function, b->function);
}

void post_tallies_collect(const struct post_session *session, const struct post_edges *edges,
			  struct post_tallies *tallies)
{
	size_t kept = 0;

	tallies->items = post_allocate(session->function_count, sizeof(*tallies->items));
	for (size_t i = 0; i < edges->count; i++) {
		const struct post_edge *edge = &edges->items[i];
		tallies->items[edge->callee].calls += edge->count;
		tallies->items[edge->callee].callers++;
		tallies->items[edge->caller].made += edge->count;
		tallies->items[edge->caller].callees++;
	}
	for (size_t i = 0; i < session->function_count; i++) {
		struct post_tally tally = tallies->items[i];
		tally.function = (uint32_t)i;
		if (tally.calls || tally.made)
			tallies->items[kept++] = tally;
	}
	tallies->count = kept;
	qsort_r(tallies->items, kept, sizeof(*tallies->items), compare_tallies, (void *)session);
}

void post_tallies_release(struct post_tallies *tallies)
{
	free(tallies->items);
	*tallies = (struct post_tallies){0};
}
