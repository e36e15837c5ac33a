/* LITIFUT_MODE=units: of some functions, the units, it is recorded where they start and where they
 * end, and nothing else. Both are records of the address (litifut_bits_enter). A unit ends where it
 * returns or jumps to another function. If its code has no room for one of these, it is left.
 *
 *	start:	push {r4, lr}		b.w  code		code:	record
 *		bl   f						push {r4, lr}
 *		...			...			...
 *		pop  {r4, pc}		b.w  code2		code2:	what stood before the end
 *								record
 *								pop {r4, pc}
 *
 * Where there is no room at an end itself, the ways to it record it: branches that lead there, and
 * the block before. A unit that is so short that its start and its end have one piece of code
 * records its end by a bit. */
#include "rewriter/units.h"

#include <stdlib.h>

#include "rewriter/callees.h"
#include "rewriter/edges.h"
#include "rewriter/program_code.h"
#include "rewriter/spawning.h"

/* What of a block is recorded. */
enum want {
	WANT_START = 1,
	WANT_END = 2,    /* of the unit, at the end of the block, which is not conditional */
	WANT_TAKEN = 4,  /* the same where the conditional branch is taken, */
	WANT_PASSED = 8, /* or passed */
	WANT_WAYS = 16   /* where tokens are recorded (tokens.h): of a conditional branch, both */
};

struct units {
	struct litifut_edges_judge *judge;
	struct litifut_graph *graph;
	uint8_t *want;   /* for each block: bits of enum want */
	uint8_t *judged; /* likewise: those that have an edge */
	uint8_t *left;   /* those of functions that make a child, which record nothing */
};

/* Has the function a name that options->units ask for, or do interrupts enter it? */
static bool is_unit(const struct litifut_session *session,
		    const struct litifut_rewrite_options *options,
		    const struct litifut_symbol *function)
{
	for (size_t i = 0; i < session->event_count; i++)
		if (session->events[i] == function->address)
			return true;
	return litifut_is_named(options->units, function->name);
}

/* The function that a block at the address stands in; 0: none, or it is not the start of a block.
 */
static uint32_t function_at(const struct litifut_graph *graph, uint32_t address)
{
	const struct litifut_graph_block *block = litifut_graph_at(graph, address & ~1u);

	return block ? block->function : 0;
}

/* Does control leave the function by the end of the block, but for its condition? `labels`: data
 * may lead into the function, as the tables of its switches do. */
static bool leaves(const struct units *units, const struct litifut_graph_block *block, bool labels)
{
	switch (block->block.ends) {
	case LITIFUT_ENDS_RETURN:
		return true;
	case LITIFUT_ENDS_BRANCH:
		return function_at(units->graph, block->block.target) != block->function;
	case LITIFUT_ENDS_JUMP:
		return !labels;
	default:
		return false;
	}
}

/* Does control go on from the block into the function behind it? Not from what fills the room
 * between a call that never returns and that function. */
static bool goes_into_another(const struct units *units, const struct litifut_graph_block *block)
{
	const bool conditional = block->block.flags & LITIFUT_BLOCK_CONDITIONAL;
	const bool fills = block->behind_call && block->block.end - block->block.start <= 4 &&
			   !litifut_targets_has(&units->graph->targets, block->block.start);
	const uint32_t next = function_at(units->graph, block->block.end);

	return (block->block.ends == LITIFUT_ENDS_ON || conditional) && next &&
	       next != block->function && !fills;
}

/* Fills what has to be recorded of the unit with the blocks from `first` to before `end`. Returns
 * why it must be left. */
static unsigned want_unit(struct units *units, size_t first, size_t end)
{
	const struct litifut_graph_block *items = units->graph->items;
	const bool tokens = units->judge->session->context.tokens;
	bool labels = false;

	if (!(items[first].block.flags & LITIFUT_BLOCK_FUNCTION))
		return LITIFUT_SITE_CODE_AS_DATA;
	for (size_t i = first; i < end; i++)
		labels |= (items[i].block.flags & LITIFUT_BLOCK_LABEL) != 0;
	for (size_t i = first; i < end; i++) /* its ways have no tokens */
		if (tokens && labels && items[i].block.ends == LITIFUT_ENDS_JUMP)
			return LITIFUT_SITE_UNKNOWN_JUMP;
	units->want[first] |= WANT_START;
	for (size_t i = first; i < end; i++) {
		const struct litifut_graph_block *block = &items[i];
		const bool conditional = block->block.flags & LITIFUT_BLOCK_CONDITIONAL;

		/* each round of a loop would look like a start */
		if (block->block.ends == LITIFUT_ENDS_BRANCH &&
		    (block->block.target & ~1u) == items[first].block.start)
			return LITIFUT_SITE_BRANCH_TARGET;
		if (tokens && conditional)
			units->want[i] |= WANT_WAYS;
		if (leaves(units, block, labels))
			units->want[i] |= conditional ? WANT_TAKEN : WANT_END;
		if (goes_into_another(units, block))
			units->want[i] |= conditional ? WANT_PASSED : WANT_END;
	}
	return LITIFUT_SITE_PATCHED;
}

static bool is_patched(const struct units *units, size_t item)
{
	return units->judge->session->sites.items[item].site.reason == LITIFUT_SITE_PATCHED;
}

/* The last edge that was judged: has it room, or may a stone make some? */
static bool has_room(const struct units *units)
{
	const size_t last = units->judge->edges->count - 1;

	return is_patched(units, last) || units->judge->edges->items[last].wants_stone;
}

/* The ways to block number `number` are to record its end. False: more than those leads there, or
 * what is before a way does not belong to the end. */
static bool want_ways(struct units *units, size_t first, size_t end, size_t number)
{
	const struct litifut_graph_block *items = units->graph->items;
	const struct litifut_graph_block *to = &items[number];

	if (to->block.flags & (LITIFUT_BLOCK_FUNCTION | LITIFUT_BLOCK_LABEL) ||
	    to->block.ends == LITIFUT_ENDS_CALL || to->block.end - to->block.start > 4)
		return false;
	units->want[number] &= (uint8_t)~WANT_END;
	for (size_t i = first; i < end; i++) {
		const struct litifut_block *block = &items[i].block;
		const bool conditional = block->flags & LITIFUT_BLOCK_CONDITIONAL;
		const bool leads = block->ends == LITIFUT_ENDS_BRANCH &&
				   (block->target & ~1u) == to->block.start;
		const bool passes = block->end == to->block.start &&
				    (conditional || block->ends == LITIFUT_ENDS_ON ||
				     block->ends == LITIFUT_ENDS_CALL);

		if (leads)
			units->want[i] |= conditional ? WANT_TAKEN : WANT_END;
		if (passes)
			units->want[i] |= conditional ? WANT_PASSED : WANT_END;
		if ((leads || passes) && !conditional && units->judged[i])
			return false;
	}
	return true;
}

/* The end of a unit at the end of a block. A function of one short block has one piece of code. */
static bool judge_end(struct units *units, size_t first, size_t end, size_t number)
{
	litifut_edges_judge_entry(units->judge, number, LITIFUT_SITE_PATCHED, true,
				  LITIFUT_EDGE_END);
	if (has_room(units)) {
		units->judged[number] = 1;
		return true;
	}
	if (!want_ways(units, first, end, number))
		return false;
	litifut_edges_drop_last(units->judge);
	return true;
}

/* The start of a unit, or if it has no room, the branch at its end, which moves as a whole. */
static bool judge_start(struct units *units, size_t first)
{
	struct litifut_edges_judge *judge = units->judge;
	size_t item;

	litifut_edges_judge_entry(judge, first, LITIFUT_SITE_PATCHED, true, LITIFUT_EDGE_START);
	if (is_patched(units, judge->edges->count - 1) ||
	    !(units->graph->items[first].block.flags & LITIFUT_BLOCK_CONDITIONAL))
		return has_room(units);
	litifut_edges_drop_last(judge);
	item = judge->edges->count;
	if (units->judged[first])
		while (judge->edges->items[--item].block != first)
			;
	else
		litifut_edges_judge_branch(judge, first, LITIFUT_SITE_PATCHED);
	units->judged[first] = 1;
	return is_patched(units, item) && litifut_edges_join(judge, &judge->edges->items[item]);
}

/* The branches of a unit that are recorded for one of the reasons in `want', both ways. */
static bool judge_branches(struct units *units, size_t first, size_t end, unsigned want)
{
	for (size_t i = first; i < end; i++) {
		if (!(units->want[i] & want) || units->judged[i])
			continue;
		litifut_edges_judge_branch(units->judge, i, LITIFUT_SITE_PATCHED);
		if (!has_room(units))
			return false;
		units->judged[i] = 1;
	}
	return true;
}

/* Judges the records that a unit needs. False: one of them has no room. */
static bool judge_unit(struct units *units, size_t first, size_t end)
{
	bool again = true;

	/* they have the least choice */
	if (!judge_branches(units, first, end, WANT_WAYS))
		return false;
	if (units->want[first] & WANT_END) {
		litifut_edges_judge_entry(units->judge, first, LITIFUT_SITE_PATCHED, true,
					  LITIFUT_EDGE_WHOLE);
		if (is_patched(units, units->judge->edges->count - 1)) {
			units->judged[first] = 1;
			return true;
		}
		litifut_edges_drop_last(units->judge);
	}
	if (!judge_start(units, first))
		return false;
	while (again) {
		again = false;
		for (size_t i = first; i < end; i++) {
			if (!(units->want[i] & WANT_END) || units->judged[i])
				continue;
			if (!judge_end(units, first, end, i))
				return false;
			again = true;
		}
	}
	return judge_branches(units, first, end, WANT_TAKEN | WANT_PASSED);
}

/* The edges of a unit, which are those from `from` on. If one of them has no room, none is
 * recorded. */
static void give(struct units *units, size_t from, size_t until, bool all)
{
	struct litifut_edges *edges = units->judge->edges;

	for (size_t i = from; i < until; i++)
		all = all && is_patched(units, i);
	for (size_t i = from; i < until; i++) {
		const struct litifut_edge *edge = &edges->items[i];
		struct litifut_block *block = &units->graph->items[edge->block].block;
		const unsigned want = units->want[edge->block];

		if (!all) {
			if (is_patched(units, i))
				units->judge->session->sites.items[i].site.reason =
					LITIFUT_SITE_FUNCTION_LEFT;
			continue;
		}
		if (edge->whole)
			block->taken = LITIFUT_ENTERED_BIT;
		else if (edge->end || (!edge->entry && want & WANT_TAKEN))
			block->taken = LITIFUT_ENTERED_RECORD;
		if (edge->enters || (edge->entry && !edge->end))
			block->entered = LITIFUT_ENTERED_RECORD;
		if (!edge->entry && want & WANT_PASSED)
			block->passed = LITIFUT_ENTERED_RECORD;
	}
	for (size_t i = from; i < until && all; i++)
		for (size_t j = edges->items[i].block;; j--) {
			units->graph->items[j].block.flags &= (uint8_t)~LITIFUT_BLOCK_LEFT;
			if (!j ||
			    units->graph->items[j - 1].function != units->graph->items[j].function)
				break;
		}
}

/* Ends of blocks that make a child, so that the recorder is prepared (spawning.h). */
static void judge_spawns(struct units *units, const uint8_t *functions)
{
	for (size_t i = 0; i < units->graph->count; i++)
		if (units->graph->items[i].spawns && functions[i] == LITIFUT_SITE_PATCHED &&
		    !litifut_targets_has(&units->judge->taken, units->graph->items[i].block.branch))
			litifut_edges_judge_entry(units->judge, i, LITIFUT_SITE_PATCHED, false,
						  LITIFUT_EDGE_END);
}

/* A unit, and its edges from `from` to before `until`. */
struct unit {
	size_t from, until;
	bool all;
};

static size_t end_of(const struct litifut_graph *graph, size_t first)
{
	size_t end = first + 1;

	while (end < graph->count && graph->items[end].function == graph->items[first].function)
		end++;
	return end;
}

static enum litifut_status judge_all(struct units *units, struct unit *found, size_t *count,
				     const struct litifut_rewrite_options *options,
				     const uint8_t *functions, struct litifut_error *error)
{
	const struct litifut_session *session = units->judge->session;
	const bool stones = LITIFUT_ARCH_GET(session->arch, detour, find_stone) != NULL;
	enum litifut_status status = LITIFUT_OK;

	for (size_t first = 0, end; first < units->graph->count; first = end) {
		unsigned reason = functions[first];
		struct unit *unit = &found[*count];

		end = end_of(units->graph, first);
		for (size_t i = first; i < end; i++)
			units->graph->items[i].block.flags |= LITIFUT_BLOCK_LEFT;
		if (!is_unit(session, options,
			     &session->image.symbols[units->graph->items[first].function - 1]))
			continue;
		++*count;
		unit->from = units->judge->edges->count;
		if (reason == LITIFUT_SITE_PATCHED && units->left[first])
			reason = LITIFUT_SITE_SPECIAL_CALLEE;
		if (reason == LITIFUT_SITE_PATCHED)
			reason = want_unit(units, first, end);
		if (reason == LITIFUT_SITE_PATCHED)
			unit->all = judge_unit(units, first, end);
		else
			litifut_edges_judge_entry(units->judge, first, reason, true,
						  LITIFUT_EDGE_START);
		unit->until = units->judge->edges->count;
	}
	if (stones)
		status = litifut_edges_find_stones(units->judge, true, error);
	return status || !stones ? status : litifut_edges_find_stones(units->judge, false, error);
}

enum litifut_status litifut_units_judge(struct litifut_edges_judge *judge,
					const struct litifut_rewrite_options *options,
					const uint8_t *functions, struct litifut_error *error)
{
	struct litifut_graph *graph = &judge->edges->graph;
	struct units units = {.judge = judge,
			      .graph = graph,
			      .want = calloc(graph->count + 1, 1),
			      .judged = calloc(graph->count + 1, 1),
			      .left = calloc(graph->count + 1, 1)};
	struct unit *found = calloc(graph->count + 1, sizeof(*found));
	size_t count = 0;
	enum litifut_status status =
		units.want && units.judged && units.left && found
			? LITIFUT_OK
			: litifut_error_memory(error, judge->session->image.path);

	if (!status && judge->session->context.system)
		status = litifut_callees_find(judge->session, graph, false, error);
	if (!status && judge->session->context.system)
		status = litifut_spawning_find(judge->session, graph, units.left, error);
	if (!status)
		status = judge_all(&units, found, &count, options, functions, error);
	for (size_t i = 0; i < count && !status; i++)
		give(&units, found[i].from, found[i].until, found[i].all);
	if (!status)
		judge_spawns(&units, functions);
	free(found);
	free(units.want);
	free(units.judged);
	free(units.left);
	return status;
}
