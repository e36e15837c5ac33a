/* LITIFUT_MODE=paths: a function or a label to which a pointer, a table or code that is not
 * followed may lead records that control comes there. The code shows without that where a direct
 * call or a branch leads. So such a way leads to the code of the target's edge, behind the record,
 * where that is in reach: from the code of an edge, or by a changed instruction. */
#include "rewriter/edges.h"

#include "rewriter/callees.h"
#include "rewriter/edges_judge.h"

uint32_t litifut_edges_behind_target(const struct litifut_session *session,
				     const struct litifut_graph_block *block)
{
	const struct litifut_graph *graph = &session->edges->graph;
	const struct litifut_graph_block *target = NULL;

	if (!session->arch->edges->lead || !litifut_edges_skip_records(&session->context) ||
	    block->block.flags & LITIFUT_BLOCK_LEFT || block->spawns)
		return 0;
	if (block->block.ends == LITIFUT_ENDS_CALL)
		target = litifut_callee_of(graph, block);
	else if (block->block.ends == LITIFUT_ENDS_BRANCH)
		target = litifut_graph_at(graph, block->block.target & ~1u);
	if (!target || !target->behind || target->spawns ||
	    (target->block.flags ^ block->block.flags) & LITIFUT_BLOCK_THUMB)
		return 0;
	return target->behind | (target->block.flags & LITIFUT_BLOCK_THUMB ? 1 : 0);
}

/* Marks what is changed already, or has moved, or is changed when the program is loaded. */
static void take_changed(const struct litifut_session *session,
			 const struct litifut_changes *changes, struct litifut_targets *taken)
{
	const struct litifut_edges *edges = session->edges;

	for (size_t i = 0; i < changes->count; i++)
		litifut_edges_take(taken, changes->items[i].address, changes->items[i].length);
	for (size_t i = 0; i < edges->count; i++)
		if (session->sites.items[i].site.reason == LITIFUT_SITE_PATCHED)
			litifut_edges_take(taken, edges->items[i].address, edges->items[i].bytes);
	for (size_t i = 0; i < session->fixed_count; i++)
		litifut_edges_take(taken, session->fixed[i], 4);
}

enum litifut_status litifut_edges_lead_behind(struct litifut_session *session,
					      struct litifut_changes *changes,
					      struct litifut_error *error)
{
	struct litifut_graph *graph = &session->edges->graph;
	struct litifut_targets taken;
	enum litifut_status status = litifut_targets_create(session->image.text_start,
							    session->image.text_end, &taken, error);

	if (status)
		return status;
	take_changed(session, changes, &taken);
	for (size_t i = 0; i < graph->count; i++) {
		struct litifut_edge_place place = litifut_edge_place_of(session, i, &taken);
		struct litifut_block *block = &graph->items[i].block;
		uint8_t code[4];

		place.target = litifut_edges_behind_target(session, place.block);
		if (!place.target || block->flags & LITIFUT_BLOCK_CONDITIONAL ||
		    !litifut_edge_is_free(&place, block->branch, sizeof(code)) ||
		    !session->arch->edges->lead(&place, code))
			continue;
		litifut_changes_add(changes, block->branch, code, sizeof(code), place.target & ~1u,
				    block->flags & LITIFUT_BLOCK_THUMB ? LITIFUT_CODE_THUMB
								       : LITIFUT_CODE_PLAIN);
		block->flags |= LITIFUT_BLOCK_LEADS_BEHIND;
	}
	litifut_targets_release(&taken);
	return LITIFUT_OK;
}
