#include "postproc/paths/flow.h"

#include <stdlib.h>

#include "postproc/table.h"

uint32_t path_flow_function(struct path_flow *flow)
{
	POST_GROW(flow->functions, flow->function_count, flow->function_capacity);
	flow->functions[flow->function_count] =
		(struct path_function){.first = (uint32_t)flow->node_count, .traced = true};
	return (uint32_t)flow->function_count++;
}

uint32_t path_flow_node(struct path_flow *flow, uint32_t callee)
{
	POST_GROW(flow->nodes, flow->node_count, flow->node_capacity);
	flow->nodes[flow->node_count] =
		(struct path_node){.first = (uint32_t)flow->edge_count, .callee = callee};
	flow->functions[flow->function_count - 1].count++;
	return (uint32_t)flow->node_count++;
}

uint32_t path_flow_edge(struct path_flow *flow, uint32_t target)
{
	POST_GROW(flow->edges, flow->edge_count, flow->edge_capacity);
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
