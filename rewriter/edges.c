#include "rewriter/edges.h"

#include <stdlib.h>

struct litifut_edge_place litifut_edge_place_of(const struct litifut_session *session,
						size_t number, const struct litifut_targets *taken)
{
	const struct litifut_graph *graph = &session->edges->graph;
	const struct litifut_graph_block *block = &graph->items[number];
	const struct litifut_symbol *function = &session->image.symbols[block->function - 1];
	const struct litifut_graph_block *next =
		number + 1 < graph->count && block[1].block.start == block->block.end ? block + 1
										      : NULL;

	return (struct litifut_edge_place){
		.image = &session->image,
		.context = &session->context,
		.section = &session->image.sections[block->section],
		.graph = graph,
		.block = block,
		.next = next,
		.taken = taken,
		.function_end = litifut_image_function_end(&session->image, function),
		.far = session->far.bits && litifut_targets_has(&session->far, block->block.start),
		.dead = session->dead,
		.target = block->block.target,
	};
}

void litifut_edges_release(struct litifut_edges *edges)
{
	if (!edges)
		return;
	litifut_graph_release(&edges->graph);
	litifut_numbers_release(&edges->numbers);
	free(edges->items);
	free(edges);
}
