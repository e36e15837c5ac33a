#include "rewriter/edges_paths.h"

#include <stdlib.h>

#include "rewriter/callees.h"
#include "rewriter/edges.h"
#include "rewriter/edges_labels.h"
#include "rewriter/paths.h"
#include "rewriter/sites.h"
#include "rewriter/spawning.h"

#define TRAP_BYTES 4 /* of an instruction, at most */

/* Does the block begin with a branch that needs a stone, and may yet get one? */
static bool may_join(const struct litifut_edges_judge *judge, size_t number)
{
	const struct litifut_graph_block *block = &judge->edges->graph.items[number];
	const struct litifut_edge *edge = litifut_edges_branch_of(judge, number);

	return edge && edge->wants_stone && !litifut_edges_is_recorded(block) &&
	       edge->address == block->block.start;
}

/* Judges what the paths want and what was not judged yet; `waits`: without what a stone for a
 * branch may decide. */
static void judge_wanted(struct litifut_edges_judge *judge, const struct litifut_paths *paths,
			 uint8_t kind, bool waits)
{
	struct litifut_graph *graph = &judge->edges->graph;

	for (size_t i = 0; i < graph->count; i++) {
		if (paths->wanted[i] != kind || judge->judged[i] || (waits && may_join(judge, i)))
			continue;
		judge->judged[i] = 1;
		if (litifut_edges_join_branch(judge, i))
			graph->items[i].block.entered_reason = LITIFUT_SITE_PATCHED;
		else
			litifut_edges_judge_entry(judge, i, LITIFUT_SITE_PATCHED,
						  kind == LITIFUT_ENTERED_RECORD,
						  LITIFUT_EDGE_START);
	}
}

/* Does code that is not followed jump into the middle of the function, and does that code make
 * calls as well? The reader could not know where the function returns to then. */
static bool is_shared(const struct litifut_edges_judge *judge, const struct litifut_paths *paths,
		      const struct litifut_graph_block *block)
{
	return judge->session->arch->edges->shares_code &&
	       !(block->block.flags & LITIFUT_BLOCK_FUNCTION) &&
	       litifut_targets_has(&paths->reached, block->block.start);
}

/* Is it nothing but a trap, to which a label leads? A compiler has put it where control does not
 * come; if it does, the thread goes on in a handler, or ends, and only the last block is not known.
 * In firmware the handler of an interrupt that comes before could not be told from that of the
 * trap. */
static bool only_traps(const struct litifut_edges_judge *judge,
		       const struct litifut_graph_block *block)
{
	return judge->session->context.system && block->block.ends == LITIFUT_ENDS_STOP &&
	       !(block->block.flags & LITIFUT_BLOCK_FUNCTION) &&
	       block->block.end - block->block.start <= TRAP_BYTES;
}

/* Does it stay in itself, as a handler of faults that is nothing but a loop? Each round would
 * record its start, and nothing that came before would stay in the ring. */
static bool stays(const struct litifut_graph_block *block)
{
	return block->block.ends == LITIFUT_ENDS_BRANCH &&
	       !(block->block.flags & LITIFUT_BLOCK_CONDITIONAL) &&
	       block->block.flags & LITIFUT_BLOCK_FUNCTION &&
	       (block->block.target & ~1u) == block->block.start;
}

/* Leaves functions in which something is missing, and those that would fill the ring alone. False:
 * there are no more. */
static bool leave_incomplete(struct litifut_edges_judge *judge, struct litifut_paths *paths)
{
	const struct litifut_graph *graph = &judge->edges->graph;
	bool left = false;

	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];

		if (paths->left[i] ||
		    (!(block->block.flags & LITIFUT_BLOCK_CONDITIONAL &&
		       !litifut_edges_is_recorded(block)) &&
		     !is_shared(judge, paths, block) &&
		     !(paths->wanted[i] == LITIFUT_ENTERED_RECORD && stays(block)) &&
		     !(paths->wanted[i] == LITIFUT_ENTERED_RECORD && !only_traps(judge, block) &&
		       block->block.entered_reason != LITIFUT_SITE_PATCHED)))
			continue;
		litifut_paths_leave(paths, i);
		left = true;
	}
	return left;
}

/* LITIFUT_MODE=balllarus: numbers the paths as far as is known now, and leaves functions that have
 * too many of them, or into which another that has no start goes on. */
static enum litifut_status leave_numberless(struct litifut_edges_judge *judge,
					    struct litifut_paths *paths, bool *left,
					    struct litifut_error *error)
{
	struct litifut_edges *edges = judge->edges;
	const struct litifut_graph *graph = &edges->graph;

	*left = false;
	for (size_t i = 0; i < graph->count; i++) {
		struct litifut_block *block = &graph->items[i].block;

		block->entered = !paths->left[i] && paths->wanted[i] &&
				 block->entered_reason == LITIFUT_SITE_PATCHED;
	}
	litifut_numbers_release(&edges->numbers);
	if (!litifut_numbers_make(graph, &edges->numbers))
		return litifut_error_memory(error, judge->session->image.path);
	for (size_t i = 0; i < graph->count; i++) {
		const bool starts = graph->items[i].block.flags & LITIFUT_BLOCK_FUNCTION;
		const bool joined =
			i && !starts && graph->items[i - 1].function != graph->items[i].function;

		if (joined && !paths->left[i - 1]) {
			litifut_paths_leave(paths, i - 1);
			*left = true;
		}
		if (paths->left[i] || (i && !starts) || litifut_numbers_fit(&edges->numbers, i))
			continue;
		litifut_paths_leave(paths, i);
		*left = true;
	}
	return LITIFUT_OK;
}

/* Nothing of a function that is left is recorded. */
static void give_up(struct litifut_edges *edges, struct litifut_site_list *sites,
		    const struct litifut_paths *paths)
{
	for (size_t i = 0; i < edges->graph.count; i++)
		if (paths->left[i])
			edges->graph.items[i].block.flags |= LITIFUT_BLOCK_LEFT;
	for (size_t i = 0; i < edges->count; i++) {
		struct litifut_block *block = &edges->graph.items[edges->items[i].block].block;
		uint8_t *reason = edges->items[i].entry ? &block->entered_reason : &block->reason;

		if (edges->items[i].end && edges->graph.items[edges->items[i].block].jump_register)
			reason = &sites->items[i].site.reason;
		else if (edges->items[i].end)
			continue;
		if (!(block->flags & LITIFUT_BLOCK_LEFT) || *reason != LITIFUT_SITE_PATCHED)
			continue;
		*reason = LITIFUT_SITE_FUNCTION_LEFT;
		sites->items[i].site.reason = LITIFUT_SITE_FUNCTION_LEFT;
	}
}

/* Labels that a later block records need nothing themselves, nor do blocks between the two. */
static void drop_put_off(struct litifut_edges *edges, struct litifut_site_list *sites,
			 const struct litifut_paths *paths)
{
	size_t kept = 0;

	for (size_t i = 0; i < edges->count; i++) {
		const struct litifut_edge *edge = &edges->items[i];

		if (edge->entry && !edge->end && !paths->wanted[edge->block] &&
		    !paths->left[edge->block] &&
		    sites->items[i].site.reason != LITIFUT_SITE_PATCHED) {
			edges->graph.items[edge->block].block.entered_reason = LITIFUT_SITE_PATCHED;
			continue;
		}
		edges->items[kept] = edges->items[i];
		sites->items[kept++] = sites->items[i];
	}
	edges->count = sites->count = kept;
}

static void give_bits(struct litifut_edges *edges, struct litifut_site_list *sites,
		      const struct litifut_paths *paths)
{
	drop_put_off(edges, sites, paths);
	give_up(edges, sites, paths);
	for (size_t i = 0; i < edges->graph.count; i++)
		if (edges->graph.items[i].jump_register && !paths->left[i])
			edges->graph.items[i].block.flags |= LITIFUT_BLOCK_RECORDS_JUMP;
	for (size_t i = 0; i < edges->count; i++) {
		const struct litifut_edge *edge = &edges->items[i];
		struct litifut_block *block = &edges->graph.items[edge->block].block;

		if (sites->items[i].site.reason != LITIFUT_SITE_PATCHED || edge->end)
			continue;
		if (edge->entry || edge->enters)
			block->entered = paths->wanted[edge->block];
		if (!edge->entry)
			block->taken = block->passed = 1;
	}
}

/* Exceptions out of calls in the region go on at the pad: blocks have that in place of a flag. */
static void give_pad(void *context, uint32_t start, uint32_t end, uint32_t pad)
{
	struct litifut_graph *graph = context;
	size_t number = pad ? litifut_graph_first_behind(graph, start) : graph->count;

	for (; number < graph->count && graph->items[number].block.start < end; number++) {
		struct litifut_block *block = &graph->items[number].block;

		if (block->ends == LITIFUT_ENDS_CALL &&
		    !(block->flags & LITIFUT_BLOCK_CONDITIONAL) && block->branch >= start &&
		    block->branch < end)
			block->passed = pad & ~1u;
	}
}

/* Is the start of the function not code? Then it has code that an assembler has marked as data,
 * from which control comes to its blocks unseen. */
static bool begins_as_data(const struct litifut_edges_judge *judge, size_t block)
{
	const struct litifut_graph *graph = &judge->edges->graph;
	const struct litifut_symbol *symbols = judge->session->image.symbols;
	const uint32_t function = graph->items[block].function;

	return (!block || graph->items[block - 1].function != function) &&
	       !litifut_graph_at(graph, symbols[function - 1].address & ~1u);
}

/* Is the end of the block in code that has moved already? */
static bool end_has_moved(const struct litifut_edges_judge *judge,
			  const struct litifut_graph_block *block)
{
	return litifut_targets_has(&judge->taken, block->block.branch);
}

/* The ends of blocks that make a child, also in functions that are left. Code that was moved for
 * another reason prepares the recorder as well. */
static enum litifut_status judge_ends(struct litifut_edges_judge *judge, const uint8_t *functions,
				      struct litifut_error *error)
{
	const struct litifut_graph *graph = &judge->edges->graph;

	for (size_t i = 0; i < graph->count; i++)
		if (graph->items[i].spawns && functions[i] == LITIFUT_SITE_PATCHED &&
		    !end_has_moved(judge, &graph->items[i]))
			litifut_edges_judge_entry(judge, i, LITIFUT_SITE_PATCHED, false,
						  LITIFUT_EDGE_END);
	return LITIFUT_ARCH_GET(judge->session->arch, detour, find_stone)
		       ? litifut_edges_find_stones(judge, true, error)
		       : LITIFUT_OK;
}

/* Jumps whose code records where they lead. */
static enum litifut_status judge_jumps(struct litifut_edges_judge *judge,
				       struct litifut_paths *paths, struct litifut_error *error)
{
	const struct litifut_graph *graph = &judge->edges->graph;
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 0; i < graph->count && !status; i++) {
		const size_t item = judge->edges->count;

		if (!graph->items[i].jump_register || paths->left[i] ||
		    end_has_moved(judge, &graph->items[i]))
			continue;
		litifut_edges_judge_entry(judge, i, LITIFUT_SITE_PATCHED, true, LITIFUT_EDGE_END);
		if (LITIFUT_ARCH_GET(judge->session->arch, detour, find_stone))
			status = litifut_edges_find_stones(judge, true, error);
		if (judge->session->sites.items[item].site.reason != LITIFUT_SITE_PATCHED)
			litifut_paths_leave(paths, i);
	}
	return status;
}

/* Stepping stones for the starts of blocks. A function whose start they take has to be left if one
 * that calls it is left. */
static enum litifut_status find_entry_stones(struct litifut_edges_judge *judge,
					     const struct litifut_paths *paths, uint8_t *spared,
					     struct litifut_error *error)
{
	const struct litifut_graph *graph = &judge->edges->graph;

	for (size_t i = 0; i < graph->count; i++)
		spared[i] = !paths->left[i] && !judge->judged[i] &&
			    graph->items[i].block.flags & LITIFUT_BLOCK_FUNCTION;
	return litifut_edges_find_sparing_stones(judge, true, spared, error);
}

enum litifut_status litifut_edges_judge_paths(struct litifut_edges_judge *judge,
					      const uint8_t *functions, struct litifut_error *error)
{
	struct litifut_graph *graph = &judge->edges->graph;
	const struct litifut_arch *arch = judge->session->arch;
	const bool stones = LITIFUT_ARCH_GET(arch, detour, find_stone) != NULL;
	struct litifut_paths paths = {0};
	struct litifut_called called = {0};
	uint8_t *spared = calloc(graph->count + 1, 1);
	const bool shown = litifut_edges_need_ways(judge->session);
	enum litifut_status status =
		judge->session->context.system
			? litifut_callees_find(judge->session, graph, shown, error)
			: LITIFUT_OK;
	bool branches = true;
	bool again = true;

	if (judge->session->context.system && arch->edges->find_called &&
	    !judge->session->all_entered && !status)
		arch->edges->find_called(&judge->session->image, arch, &judge->session->context,
					 graph, &called);
	if (!status)
		status = litifut_paths_start(judge->session, graph, arch->edges->add_addresses,
					     arch->edges->may_call, &called, &paths, error);
	litifut_called_release(&called);
	judge->judged = calloc(graph->count + 1, 1);
	judge->wanted = paths.wanted;
	if (!status && (!judge->judged || !spared))
		status = litifut_error_memory(error, judge->session->image.path);
	if (!status && judge->session->context.system)
		status = litifut_spawning_find(judge->session, graph, paths.left, error);
	for (size_t i = 0; i < graph->count && !status; i++)
		if (!paths.left[i] &&
		    (functions[i] != LITIFUT_SITE_PATCHED || begins_as_data(judge, i)))
			litifut_paths_leave(&paths, i);
	if (!status)
		status = judge_jumps(judge, &paths, error);
	if (!status)
		litifut_paths_want(&paths);
	while (again && !status) {
		judge_wanted(judge, &paths, LITIFUT_ENTERED_RECORD, stones && branches);
		for (size_t i = 0; i < judge->session->unlent_count; i++)
			litifut_edges_take(&judge->taken, judge->session->unlent[i], 4);
		if (stones)
			status = find_entry_stones(judge, &paths, spared, error);
		if (!status && stones && branches) {
			for (size_t i = 0; i < graph->count; i++)
				spared[i] = !paths.left[i] && !judge->judged[i] &&
					    (paths.wanted[i] == LITIFUT_ENTERED_BIT ||
					     graph->items[i].block.flags & LITIFUT_BLOCK_FUNCTION);
			status = litifut_edges_find_sparing_stones(judge, false, spared, error);
		}
		branches = false;
		judge_wanted(judge, &paths, LITIFUT_ENTERED_RECORD, false);
		judge_wanted(judge, &paths, LITIFUT_ENTERED_BIT, false);
		if (!status && stones)
			status = find_entry_stones(judge, &paths, spared, error);
		/* Not in firmware: an interrupt between the two blocks would be shown too early. */
		again = !status &&
			((judge->session->context.system && litifut_paths_put_off(&paths)) ||
			 leave_incomplete(judge, &paths));
		if (!status && !again && judge->session->context.numbers)
			status = leave_numberless(judge, &paths, &again, error);
		litifut_paths_want(&paths);
		for (size_t i = 0; i < graph->count && !again; i++)
			again = paths.wanted[i] && !judge->judged[i];
	}
	if (!status)
		status = judge_ends(judge, functions, error);
	if (!status) {
		give_bits(judge->edges, &judge->session->sites, &paths);
		status = litifut_edges_number_labels(judge->session, &paths, error);
	}
	if (!status && LITIFUT_ARCH_GET(judge->session->arch, flow, landing_pads))
		judge->session->arch->flow->landing_pads(&judge->session->image, give_pad, graph);
	litifut_paths_release(&paths);
	free(judge->judged);
	judge->judged = NULL;
	judge->wanted = NULL;
	free(spared);
	return status;
}
