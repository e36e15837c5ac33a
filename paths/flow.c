#include "paths/flow.h"

#include <stdlib.h>

#include "common/memory.h"

/* The array with room for one more; it doubles. */
static void *with_room(struct path_flow *flow, void *items, size_t count, size_t *capacity,
		       size_t size)
{
	const size_t more = *capacity ? 2 * *capacity : 16;
	void *resized;

	if (flow->no_memory || count < *capacity)
		return items;
	resized = litifut_memory_resized(items, more, size);
	flow->no_memory = !resized;
	if (!resized)
		return items;
	*capacity = more;
	return resized;
}

uint32_t path_flow_function(struct path_flow *flow)
{
	flow->functions = with_room(flow, flow->functions, flow->function_count,
				    &flow->function_capacity, sizeof(*flow->functions));
	if (flow->no_memory)
		return 0;
	flow->functions[flow->function_count] =
		(struct path_function){.first = (uint32_t)flow->node_count, .traced = true};
	return (uint32_t)flow->function_count++;
}

uint32_t path_flow_node(struct path_flow *flow, uint32_t callee)
{
	flow->nodes = with_room(flow, flow->nodes, flow->node_count, &flow->node_capacity,
				sizeof(*flow->nodes));
	if (flow->no_memory)
		return 0;
	flow->nodes[flow->node_count] =
		(struct path_node){.first = (uint32_t)flow->edge_count, .callee = callee};
	flow->functions[flow->function_count - 1].count++;
	return (uint32_t)flow->node_count++;
}

uint32_t path_flow_edge(struct path_flow *flow, uint32_t target)
{
	flow->edges = with_room(flow, flow->edges, flow->edge_count, &flow->edge_capacity,
				sizeof(*flow->edges));
	if (flow->no_memory)
		return 0;
	flow->edges[flow->edge_count] = target;
	flow->nodes[flow->node_count - 1].count++;
	return (uint32_t)flow->edge_count++;
}

void path_flow_release(struct path_flow *flow)
{
	free(flow->functions);
	free(flow->nodes);
	free(flow->edges);
	*flow = (struct path_flow){0};
}
