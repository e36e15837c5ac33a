#include "rewriter/mips/edge_judge.h"

#include "rewriter/mips/edge_bits.h"
#include "rewriter/mips/edge_flags.h"
#include "rewriter/mips/edge_forms.h"

enum { RA = LITIFUT_MIPS_RA };

#define WHOLE_MOST 32 /* bytes before a branch */

/* A branch that reads $at, as that of an atomic operation does, whose start has room for a number:
 * all of its block may move, where nothing in $at lives at its start. No instruction comes between
 * an exclusive load and its store then that was not there before. */
static bool takes_whole(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t start = block->start;

	if (start == block->branch || block->branch - start > WHOLE_MOST ||
	    litifut_mips_is_slot(place, start) ||
	    litifut_mips_edge_has_target(place, start, block->branch + 8) ||
	    !litifut_edge_is_free(place, start, block->branch + 8 - start) ||
	    !litifut_mips_at_is_free(place, start))
		return false;
	for (uint32_t at = start; at < block->branch; at += 4) {
		const uint32_t word = litifut_mips_word_at(place, at);

		if (!litifut_mips_can_move(word) && !litifut_mips_is_exclusive(word))
			return false;
	}
	edge->address = start;
	edge->before = (uint8_t)(block->branch - start);
	return true;
}

static unsigned judge_branch_place(const struct litifut_edge_place *place,
				   struct litifut_edge *edge)
{
	const struct litifut_graph_block *block = place->block;
	const uint32_t branch = block->block.branch;
	uint32_t slot;

	edge->address = branch;
	edge->bytes = 8;
	/* the code of a way always records something, and that of a unit would not */
	if (block->block.ends != LITIFUT_ENDS_BRANCH || place->context->units)
		return LITIFUT_SITE_SPECIAL_FORM;
	if (branch + 8 > place->function_end && place->function_end > branch)
		return LITIFUT_SITE_SPECIAL_FORM;
	slot = litifut_mips_word_at(place, branch + 4);
	if (!litifut_mips_can_move(slot))
		return LITIFUT_SITE_DELAY_SLOT;
	if (!litifut_mips_at_is_free(place, block->block.target) ||
	    !litifut_mips_at_is_free(place, block->block.end))
		return LITIFUT_SITE_SPECIAL_CALLEE;
	if (place->context->bits && (litifut_mips_names_at(litifut_mips_word_at(place, branch)) ||
				     litifut_mips_names_at(slot))) {
		if (takes_whole(place, edge))
			return LITIFUT_SITE_PATCHED;
		/* the number of an island may come before the test; then the function is of no use
		 */
		if (place->context->cpu.position_independent)
			return LITIFUT_SITE_SPECIAL_CALLEE;
	}
	if (litifut_mips_is_target(place, branch + 4)) {
		edge->bytes = 4; /* it stays */
		if (!litifut_mips_comes_first(block, litifut_mips_word_at(place, branch), slot))
			return LITIFUT_SITE_BRANCH_TARGET;
	}
	return litifut_edge_is_free(place, branch, edge->bytes) ? LITIFUT_SITE_PATCHED
								: LITIFUT_SITE_BRANCH_TARGET;
}

static void find_free(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	if (!place->context->bits)
		litifut_mips_find_free_for_flags(place, edge);
	else if (!place->context->units)
		litifut_mips_find_free_for_bits(place, edge);
}

unsigned litifut_mips_judge_branch(const struct litifut_edge_place *place,
				   struct litifut_edge *edge)
{
	const unsigned reason = judge_branch_place(place, edge);

	if (reason == LITIFUT_SITE_PATCHED)
		find_free(place, edge);
	return reason;
}

/* Does the instruction read and write nothing but general registers and memory? */
static bool is_simple(uint32_t word)
{
	const unsigned operation = word >> 26;
	const unsigned function = word & 0x3f;

	if (operation == 0)
		return function < 0x08 || function == 0x0a || function == 0x0b ||
		       (function >= 0x20 && function <= 0x2b);
	return (operation >= 0x08 && operation <= 0x0f) ||
	       (operation >= 0x20 && operation <= 0x2b) || operation == 0x2e;
}

/* Of two that are simple: is what the second does the same before the first? */
static bool is_independent(uint32_t first, uint32_t second)
{
	const bool stores = first >> 26 >= 0x28 || second >> 26 >= 0x28;
	const bool both = first >> 26 >= 0x20 && second >> 26 >= 0x20;

	if (stores && both)
		return false;
	for (unsigned reg = 1; reg < 32; reg++)
		if ((litifut_mips_writes(first, reg) && litifut_mips_may_name(second, reg)) ||
		    (litifut_mips_writes(second, reg) && litifut_mips_may_name(first, reg)))
			return false;
	return true;
}

/* A block of one instruction, which may move, and goes on in the next one. */
static bool is_tight(const struct litifut_edge_place *place)
{
	const struct litifut_graph_block *block = place->block;
	const struct litifut_graph_block *next = place->next;
	const uint32_t start = block->block.start;
	uint32_t first;

	if (!place->context->bits || block->block.ends != LITIFUT_ENDS_ON ||
	    block->block.end - start != 4 || !next || next->function != block->function ||
	    start + 8 > place->function_end || litifut_mips_is_slot(place, start) ||
	    !litifut_edge_is_free(place, start, 4))
		return false;
	first = litifut_mips_word_at(place, start);
	return litifut_mips_can_move(first) && !litifut_mips_names_at(first) &&
	       litifut_mips_at_is_free(place, start);
}

/* Of such a block: may the first instruction of the next one be executed before it? */
static bool can_turn(const struct litifut_edge_place *place)
{
	const uint32_t start = place->block->block.start;
	const uint32_t first = litifut_mips_word_at(place, start);
	const uint32_t second = litifut_mips_word_at(place, start + 4);

	return litifut_edge_is_free(place, start + 4, 4) && is_simple(first) && is_simple(second) &&
	       litifut_mips_can_move(second) && is_independent(first, second) &&
	       !litifut_mips_names_at(second);
}

/* Room for the entry of such a block, from the next one. */
static bool take_next(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const bool turns = can_turn(place);

	if (!turns && !place->may_shift)
		return false;
	edge->after = 4;
	edge->shifts = place->may_shift && (place->far || place->next_wanted || !turns);
	edge->near = !edge->shifts; /* the slot has no room for the number that an island needs */
	edge->borrows = edge->near && place->far;
	return true;
}

static bool any_names_at(const struct litifut_edge_place *place, uint32_t start, uint32_t end)
{
	for (uint32_t at = start; at < end; at += 4)
		if (litifut_mips_names_at(litifut_mips_word_at(place, at)))
			return true;
	return false;
}

static bool all_can_move(const struct litifut_edge_place *place, uint32_t start, uint32_t end)
{
	for (uint32_t at = start; at < end; at += 4)
		if (!litifut_mips_can_move(litifut_mips_word_at(place, at)))
			return false;
	return true;
}

static unsigned judge_entry_place(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint8_t shift = edge->end || edge->whole ? 0 : place->block->shift;
	const uint32_t start = edge->end ? block->branch : block->start;
	const uint32_t end = start + 8 + shift;
	const bool ends = block->ends != LITIFUT_ENDS_ON && block->branch < end;
	const bool slot = ends && block->ends != LITIFUT_ENDS_STOP;

	edge->address = start;
	edge->bytes = 8 + shift;
	edge->shift = shift;
	if ((edge->whole && !ends) ||
	    (edge->end && edge->needed && block->ends == LITIFUT_ENDS_CALL))
		return LITIFUT_SITE_SPECIAL_FORM;
	if (edge->needed && !edge->end && !shift && is_tight(place) && take_next(place, edge))
		return LITIFUT_SITE_PATCHED;
	if (place->far && block->end < end)
		return LITIFUT_SITE_OUT_OF_REACH;
	if (block->end < end || litifut_mips_is_slot(place, start) ||
	    litifut_mips_edge_has_target(place, start, end) ||
	    !litifut_edge_is_free(place, start, edge->bytes))
		return LITIFUT_SITE_BRANCH_TARGET;
	if (ends && (block->flags & LITIFUT_BLOCK_CONDITIONAL || block->end > place->function_end))
		return LITIFUT_SITE_SPECIAL_FORM;
	if (block->ends == LITIFUT_ENDS_STOP && (edge->whole || edge->end))
		return LITIFUT_SITE_SPECIAL_FORM;
	/* jalr into another register, and barriers */
	if (ends && !block->target && litifut_mips_word_at(place, block->branch) >> 26 == 0 &&
	    (litifut_mips_has_barrier(litifut_mips_word_at(place, block->branch)) ||
	     (block->ends == LITIFUT_ENDS_CALL &&
	      ((litifut_mips_word_at(place, block->branch) >> 11 & 31) != RA ||
	       (litifut_mips_word_at(place, block->branch) >> 21 & 31) == RA))))
		return LITIFUT_SITE_SPECIAL_FORM;
	if (slot && (block->target & 1 ||
		     !litifut_mips_can_move(litifut_mips_word_at(place, block->branch + 4))))
		return LITIFUT_SITE_SPECIAL_FORM;
	if (any_names_at(place, start, end) ||
	    (slot && litifut_mips_names_at(litifut_mips_word_at(place, block->branch + 4))) ||
	    !litifut_mips_at_is_free(place, start))
		return LITIFUT_SITE_SPECIAL_CALLEE;
	return all_can_move(place, start, ends ? block->branch : end) ? LITIFUT_SITE_PATCHED
								      : LITIFUT_SITE_SPECIAL_FORM;
}

unsigned litifut_mips_judge_entry(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const unsigned reason = judge_entry_place(place, edge);

	if (reason == LITIFUT_SITE_PATCHED)
		find_free(place, edge);
	return reason;
}

/* One instruction before the branch may move along, or all have already; two where the start of the
 * block makes room. */
static bool may_join(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint8_t shift = place->block->shift;
	const uint32_t before = block->branch - block->start;

	if (edge->before) {
		edge->shift = shift;
		edge->bytes = 8 + shift;
		return before >= shift;
	}
	if (litifut_mips_names_at(litifut_mips_word_at(place, block->branch)) ||
	    litifut_mips_names_at(litifut_mips_word_at(place, block->branch + 4)) ||
	    litifut_mips_is_slot(place, block->start) ||
	    !litifut_mips_at_is_free(place, block->start))
		return false;
	if (!before)
		return !shift;
	if (before > 4u + shift || edge->bytes != 8 ||
	    litifut_mips_edge_has_target(place, block->start, block->branch + 4) ||
	    !litifut_edge_is_free(place, block->start, before) ||
	    !all_can_move(place, block->start, block->branch) ||
	    any_names_at(place, block->start, block->branch))
		return false;
	edge->address = block->start;
	edge->before = (uint8_t)before;
	edge->shift = shift;
	edge->bytes = 8 + shift;
	return true;
}

bool litifut_mips_join_entry(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	if (!may_join(place, edge))
		return false;
	edge->enters = true;
	find_free(place, edge);
	return true;
}
