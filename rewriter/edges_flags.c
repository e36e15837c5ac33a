#include "rewriter/edges_flags.h"

#include <stdlib.h>

#include "rewriter/edges.h"
#include "rewriter/sites.h"

/* Is the block's own start to be recorded, as no recorded branch shows that it was reached? */
static bool wants_entry(const struct litifut_graph_block *block)
{
	return !litifut_edges_is_recorded(block) &&
	       (block->block.flags & (LITIFUT_BLOCK_FUNCTION | LITIFUT_BLOCK_LABEL) ||
		block->unrecorded || block->behind_call);
}

/* Blocks behind a conditional branch that is not recorded. */
static void lead_to_unrecorded(struct litifut_graph *graph)
{
	for (size_t i = 0; i < graph->count; i++) {
		struct litifut_graph_block *block = &graph->items[i];
		struct litifut_graph_block *next;

		if (!(block->block.flags & LITIFUT_BLOCK_CONDITIONAL) ||
		    litifut_edges_is_recorded(block))
			continue;
		next = litifut_graph_at(graph, block->block.end);
		if (next)
			next->unrecorded = true;
		next = block->block.ends == LITIFUT_ENDS_BRANCH
			       ? litifut_graph_at(graph, block->block.target & ~1u)
			       : NULL;
		if (next)
			next->unrecorded = true;
	}
}

static void judge_entries(struct litifut_edges_judge *judge, const uint8_t *functions)
{
	const struct litifut_graph *graph = &judge->edges->graph;

	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];

		if (wants_entry(block))
			litifut_edges_judge_entry(judge, i, functions[i], false,
						  LITIFUT_EDGE_START);
	}
}

/* The next flag of the room. */
static uint32_t next_flag(const struct litifut_session *session, uint32_t *last)
{
	do
		++*last;
	while (session->flags_in_table
		       ? *last < LITIFUT_FLAGS_HEAD || !((session->flags + *last) & 0xff)
		       : *last % LITIFUT_FLAGS_PIECE < LITIFUT_FLAGS_HEAD || !(*last & 0xff));
	return *last;
}

static void give_flags(struct litifut_session *session)
{
	struct litifut_edges *edges = session->edges;
	const struct litifut_site_list *sites = &session->sites;
	uint32_t last = session->flags_in_table ? LITIFUT_FLAGS_HEAD - 1 : 0;
	uint32_t count = 0;

	for (size_t i = 0; i < edges->count; i++) {
		struct litifut_block *block = &edges->graph.items[edges->items[i].block].block;

		if (sites->items[i].site.reason != LITIFUT_SITE_PATCHED)
			continue;
		if (edges->items[i].entry) {
			block->entered = next_flag(session, &last);
			count++;
		} else {
			count += 2;
			block->taken = next_flag(session, &last);
			block->passed = next_flag(session, &last);
		}
	}
	/* with as many left out as there can be at any address: the table has none yet in the plan
	 */
	edges->flags_bytes = session->flags_in_table
				     ? count + count / 255 + 1
				     : (last / LITIFUT_FLAGS_PIECE + 1) * LITIFUT_FLAGS_PIECE;
}

enum litifut_status litifut_edges_judge_flags(struct litifut_edges_judge *judge,
					      const uint8_t *functions, struct litifut_error *error)
{
	const struct litifut_graph *graph = &judge->edges->graph;
	const bool stones = LITIFUT_ARCH_GET(judge->session->arch, detour, find_stone) != NULL;
	enum litifut_status status = LITIFUT_OK;

	if (stones) {
		uint8_t *spared = calloc(graph->count + 1, 1);

		for (size_t i = 0; i < graph->count && spared; i++)
			spared[i] = functions[i] == LITIFUT_SITE_PATCHED &&
				    wants_entry(&graph->items[i]);
		status = spared ? litifut_edges_find_sparing_stones(judge, false, spared, error)
				: litifut_error_memory(error, judge->session->image.path);
		free(spared);
	}
	lead_to_unrecorded(&judge->edges->graph);
	judge_entries(judge, functions);
	if (!status && stones)
		status = litifut_edges_find_stones(judge, true, error);
	if (!status)
		give_flags(judge->session);
	return status;
}
