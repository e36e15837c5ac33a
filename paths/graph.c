/* Each block becomes a node. A call or a jump into another function that is made under a condition
 * gets a separate node, so that a node either calls or decides. */
#include "paths/graph.h"

#include <stdlib.h>

struct maker {
	struct path_graph *graph;
	const struct path_blocks *blocks;
	uint32_t first_block, end_block; /* of the function */
	uint32_t *labels;                /* blocks of it that jumps may lead to */
	size_t label_count;
	uint32_t spare;      /* the next node of the function that is not of one block */
	uint32_t dispatcher; /* the last one, that leads to all labels; if there are any */
};

uint32_t path_block_at(const struct path_blocks *blocks, uint32_t address)
{
	size_t low = 0, high = blocks->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (blocks->items[middle].start < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < blocks->count && blocks->items[low].start == address ? (uint32_t)low
									  : PATH_NO_BLOCK;
}

/* The function that begins at an address, or to which a veneer there leads; PATH_UNKNOWN. */
static uint32_t function_at(const struct maker *maker, uint32_t address, bool veneers)
{
	uint32_t block = path_block_at(maker->blocks, address & ~1u);

	if (block == PATH_NO_BLOCK && veneers && address && maker->blocks->lead) {
		const uint32_t lead = maker->blocks->lead(maker->blocks->context, address);

		if (lead)
			block = path_block_at(maker->blocks, lead & ~1u);
	}
	if (block == PATH_NO_BLOCK)
		return PATH_UNKNOWN;
	const uint32_t function = maker->graph->function_of[block];
	return maker->graph->first_block[function] == block ? function : PATH_UNKNOWN;
}

/* What one way out of a block is. */
struct way {
	uint32_t target; /* node of the function, or PATH_EXIT */
	uint32_t callee; /* entered before: PATH_UNKNOWN, none that is known */
};

static struct way way_to(const struct maker *maker, uint32_t address, bool veneers)
{
	const uint32_t block = path_block_at(maker->blocks, address & ~1u);

	if (block != PATH_NO_BLOCK && block >= maker->first_block && block < maker->end_block)
		return (struct way){maker->graph->node_of[block], PATH_UNKNOWN};
	return (struct way){PATH_EXIT, function_at(maker, address, veneers)};
}

static struct way way_out(const struct maker *maker, const struct litifut_block *block)
{
	struct way way = {PATH_EXIT, PATH_UNKNOWN};

	if (block->ends == LITIFUT_ENDS_BRANCH)
		return way_to(maker, block->target, true);
	if (block->ends == LITIFUT_ENDS_CALL) {
		way = way_to(maker, block->end,
			     false); /* a function that begins there is not meant */
		way.callee = function_at(maker, block->target, true);
	} else if (block->ends == LITIFUT_ENDS_ON) {
		way = way_to(maker, block->end, false);
	}
	return way;
}

/* How many nodes a block needs besides its own. */
static unsigned spare_nodes(const struct maker *maker, const struct litifut_block *block)
{
	if (!(block->flags & LITIFUT_BLOCK_CONDITIONAL))
		return 0;
	return (way_to(maker, block->end, false).callee != PATH_UNKNOWN) +
	       (block->ends == LITIFUT_ENDS_CALL || way_out(maker, block).callee != PATH_UNKNOWN);
}

/* The node of a way under a condition. */
static uint32_t through_spare(struct maker *maker, const struct way *way, bool calls)
{
	return calls || way->callee != PATH_UNKNOWN ? maker->spare++ : way->target;
}

static void add_spare(struct maker *maker, uint32_t block, const struct way *way)
{
	const uint32_t node = path_flow_node(&maker->graph->flow, way->callee);

	path_flow_edge(&maker->graph->flow, way->target);
	maker->graph->block_of[node] = block;
}

static void add_block(struct maker *maker, uint32_t number)
{
	struct path_graph *graph = maker->graph;
	const struct litifut_block *block = &maker->blocks->items[number];
	const bool conditional = block->flags & LITIFUT_BLOCK_CONDITIONAL;
	const struct way out = way_out(maker, block);
	struct way passed = way_to(maker, block->end, false);
	const uint32_t node = path_flow_node(&graph->flow, conditional ? PATH_UNKNOWN : out.callee);

	if (graph->flow.no_memory)
		return;
	graph->flow.nodes[node].begins = maker->blocks->recorded && block->entered;
	graph->block_of[node] = number;
	graph->branches += conditional;
	graph->unknown_calls += block->ends == LITIFUT_ENDS_CALL && out.callee == PATH_UNKNOWN;
	if (conditional)
		path_flow_edge(&graph->flow, through_spare(maker, &passed, false));
	if (block->ends == LITIFUT_ENDS_STOP && !conditional)
		return;
	if (block->ends == LITIFUT_ENDS_JUMP) {
		graph->jumps++;
		if (maker->label_count) /* the node that leads to all of them */
			path_flow_edge(&graph->flow, maker->dispatcher);
	}
	path_flow_edge(&graph->flow,
		       conditional ? through_spare(maker, &out, block->ends == LITIFUT_ENDS_CALL)
				   : out.target);
}

/* The nodes that through_spare() has given numbers, in that order. */
static void add_spares(struct maker *maker, uint32_t number)
{
	const struct litifut_block *block = &maker->blocks->items[number];
	const struct way out = way_out(maker, block);
	const struct way passed = way_to(maker, block->end, false);

	if (!(block->flags & LITIFUT_BLOCK_CONDITIONAL))
		return;
	if (passed.callee != PATH_UNKNOWN)
		add_spare(maker, number, &passed);
	if (block->ends == LITIFUT_ENDS_CALL || out.callee != PATH_UNKNOWN)
		add_spare(maker, number, &out);
}

static void add_dispatcher(struct maker *maker)
{
	const uint32_t node = path_flow_node(&maker->graph->flow, PATH_UNKNOWN);

	for (size_t i = 0; i < maker->label_count; i++)
		path_flow_edge(&maker->graph->flow, maker->graph->node_of[maker->labels[i]]);
	maker->graph->block_of[node] = PATH_NO_BLOCK;
}

/* Returns how many nodes the function has. */
static uint32_t enter_function(struct maker *maker, uint32_t function)
{
	uint32_t nodes;

	maker->first_block = maker->graph->first_block[function];
	maker->end_block = maker->graph->first_block[function + 1];
	maker->label_count = 0;
	nodes = maker->end_block - maker->first_block;
	for (uint32_t i = maker->first_block; i < maker->end_block; i++) {
		nodes += spare_nodes(maker, &maker->blocks->items[i]);
		if (maker->blocks->recorded ||
		    !(maker->blocks->items[i].flags & LITIFUT_BLOCK_LABEL))
			continue;
		maker->labels[maker->label_count++] = i;
	}
	return nodes + (maker->label_count > 0);
}

static void add_function(struct maker *maker, uint32_t function)
{
	struct path_graph *graph = maker->graph;
	const uint32_t nodes = enter_function(maker, function);
	const uint32_t first = graph->node_of[maker->first_block];

	path_flow_function(&graph->flow);
	maker->spare = first + maker->end_block - maker->first_block;
	maker->dispatcher = first + nodes - 1;
	for (uint32_t i = maker->first_block; i < maker->end_block; i++)
		add_block(maker, i);
	for (uint32_t i = maker->first_block; i < maker->end_block; i++)
		add_spares(maker, i);
	if (maker->label_count)
		add_dispatcher(maker);
}

/* A function begins with the block that says so. Returns how many there are. */
static size_t number_functions(struct path_graph *graph, const struct path_blocks *blocks)
{
	size_t count = 0;

	for (uint32_t i = 0; i < blocks->count; i++) {
		if (!i || blocks->items[i].flags & LITIFUT_BLOCK_FUNCTION)
			graph->first_block[count++] = i;
		graph->function_of[i] = (uint32_t)count - 1;
	}
	graph->first_block[count] = (uint32_t)blocks->count;
	return count;
}

/* Gives blocks their nodes. Returns how many nodes there will be. */
static uint32_t number_nodes(struct maker *maker, size_t functions)
{
	struct path_graph *graph = maker->graph;
	uint32_t node = 0;

	for (uint32_t f = 0; f < functions; f++) {
		uint32_t next = node + enter_function(maker, f);

		for (uint32_t i = maker->first_block; i < maker->end_block; i++)
			graph->node_of[i] = node++;
		node = next;
	}
	return node;
}

bool path_graph_make(const struct path_blocks *blocks, struct path_graph *graph)
{
	const size_t count = blocks->count + 1;
	struct maker maker = {
		.graph = graph, .blocks = blocks, .labels = calloc(count, sizeof(*maker.labels))};
	size_t functions;

	*graph = (struct path_graph){
		.node_of = calloc(count, sizeof(*graph->node_of)),
		.function_of = calloc(count, sizeof(*graph->function_of)),
		.first_block = calloc(count, sizeof(*graph->first_block)),
	};
	if (maker.labels && graph->node_of && graph->function_of && graph->first_block) {
		functions = number_functions(graph, blocks);
		graph->block_of = calloc((size_t)number_nodes(&maker, functions) + 1,
					 sizeof(*graph->block_of));
		for (uint32_t f = 0; graph->block_of && f < functions; f++)
			add_function(&maker, f);
	}
	free(maker.labels);
	return graph->block_of && !graph->flow.no_memory;
}

void path_graph_release(struct path_graph *graph)
{
	free(graph->node_of);
	free(graph->function_of);
	free(graph->block_of);
	free(graph->first_block);
	path_flow_release(&graph->flow);
	*graph = (struct path_graph){0};
}
