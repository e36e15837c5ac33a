#include "rewriter/numbers.h"

#include <stdlib.h>

bool litifut_numbers_make(const struct litifut_graph *graph, struct litifut_numbers *numbers)
{
	const struct path_options options = {.id_bits = LITIFUT_NUMBERS_BITS};
	struct litifut_block *items = calloc(graph->count + 1, sizeof(*items));
	const struct path_blocks blocks = {.items = items, .count = graph->count, .recorded = true};
	bool made = items != NULL;

	*numbers = (struct litifut_numbers){0};
	for (size_t i = 0; i < graph->count && made; i++)
		items[i] = graph->items[i].block;
	made = made && path_graph_make(&blocks, &numbers->graph) &&
	       path_numbers_make(&numbers->graph.flow, &options, &numbers->paths);
	free(items);
	return made;
}

void litifut_numbers_release(struct litifut_numbers *numbers)
{
	path_graph_release(&numbers->graph);
	path_numbers_release(&numbers->paths);
}

bool litifut_numbers_fit(const struct litifut_numbers *numbers, size_t block)
{
	const struct path_flow *flow = &numbers->graph.flow;
	const uint32_t function = numbers->graph.function_of[block];
	const struct path_function *about = &flow->functions[function];

	if (function >= LITIFUT_NUMBERS_FUNCTIONS ||
	    numbers->paths.functions[function].paths > UINT64_C(1) << LITIFUT_NUMBERS_BITS)
		return false;
	for (uint32_t i = about->first; i < about->first + about->count; i++) {
		const struct path_node *node = &flow->nodes[i];

		/* what can't be reached has no numbers */
		if (node->begins && path_emission_of_start(&numbers->paths, i).too_many)
			return false;
		for (uint32_t j = node->first; node->count > 1 && j < node->first + node->count;
		     j++)
			if (path_emission_of_edge(&numbers->paths, j).too_many)
				return false;
	}
	return true;
}

static void add(struct litifut_number_calls *calls, uint32_t function, unsigned code,
		uint64_t number)
{
	struct litifut_number_call *call = &calls->items[calls->count++];

	*call = (struct litifut_number_call){.code = code, .word_count = 1};
	call->words[0] = LITIFUT_NUMBERS_WORD(function, (uint32_t)number);
}

struct litifut_number_calls litifut_numbers_of(const struct litifut_numbers *numbers, size_t block,
					       enum litifut_edge_way way)
{
	const struct path_graph *graph = &numbers->graph;
	const uint32_t function = graph->function_of[block];
	const uint32_t node = graph->node_of[block];
	const struct path_emission emission =
		way == LITIFUT_WAY_ENTERED
			? path_emission_of_start(&numbers->paths, node)
			: path_emission_of_edge(&numbers->paths,
						graph->flow.nodes[node].first +
							(way == LITIFUT_WAY_TAKEN));
	struct litifut_number_calls calls = {0};

	if (emission.ends && emission.goes_on && !emission.whole_count) {
		add(&calls, function, LITIFUT_NUMBERS_NEXT, emission.add);
		calls.items[0].words[1] = LITIFUT_NUMBERS_WORD(function, (uint32_t)emission.start);
		calls.items[0].word_count = 2;
		return calls;
	}
	if (emission.ends)
		add(&calls, function, LITIFUT_NUMBERS_END, emission.add);
	else if (emission.add)
		add(&calls, function, LITIFUT_NUMBERS_ADD, emission.add);
	for (unsigned i = 0; i < emission.whole_count; i++)
		add(&calls, function, LITIFUT_NUMBERS_WHOLE, emission.whole[i]);
	if (emission.goes_on)
		add(&calls, function, LITIFUT_NUMBERS_BEGIN, emission.start);
	return calls;
}
