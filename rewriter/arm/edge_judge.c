#include "rewriter/arm/edge_judge.h"

#include "cpu/arm/uses.h"
#include "rewriter/arm/dead.h"
#include "rewriter/arm/edge_forms.h"
#include "rewriter/arm/edge_record.h"
#include "rewriter/arm/link_register.h"
#include "rewriter/arm/plain.h"

#define BRANCH_BYTES 4u

/* Does lr hold nothing at the address? */
static bool link_is_free(const struct litifut_edge_place *place, uint32_t address)
{
	const uint32_t start = place->image->symbols[place->block->function - 1].address;
	const uint32_t section_end = place->section->address + place->section->size;

	return litifut_arm_link_is_free(place->section, start,
					place->function_end < section_end ? place->function_end
									  : section_end,
					true, start, address);
}

/* Where flags are set: the number of a register, and one more; 0: there is none. */
static uint8_t free_for_flag(uint32_t dead, bool link)
{
	for (unsigned reg = 0; reg < 4; reg++)
		if (dead & 1u << reg)
			return (uint8_t)(reg + 1);
	return link && dead & 1u << LITIFUT_ARM_LR ? LITIFUT_ARM_LR + 1 : 0;
}

/* Of litifut_bits_free. */
static const uint8_t free_pairs[] = {0x3, 0x5, 0x9};

static uint8_t free_at(const struct litifut_edge_place *place, uint32_t address)
{
	const uint32_t start = place->image->symbols[place->block->function - 1].address;
	const uint32_t section_end = place->section->address + place->section->size;
	const uint32_t dead = litifut_arm_dead(
		place->section, start,
		place->function_end < section_end ? place->function_end : section_end,
		place->block->block.flags & LITIFUT_BLOCK_THUMB, address);

	if (!place->context->bits)
		return free_for_flag(dead, !litifut_arm_edge_has_only_links(place));
	if (~dead & LITIFUT_ARM_USES_FLAGS)
		return LITIFUT_ARM_FREE_NOTHING;
	for (unsigned i = 0; i < sizeof(free_pairs) && dead & 1u << LITIFUT_ARM_LR; i++)
		if (!(free_pairs[i] & ~dead))
			return (uint8_t)(LITIFUT_ARM_FREE_PAIR + i);
	return LITIFUT_ARM_FREE_FLAGS;
}

/* Looks for what is free where the edge sets flags or records bits; its address is known. */
static void find_free(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;

	if (place->context->bits && (!place->context->system || place->context->units))
		return;
	if ((edge->entry && !edge->end) || edge->enters)
		edge->free[LITIFUT_WAY_ENTERED] = free_at(place, edge->address);
	if (edge->entry || block->ends != LITIFUT_ENDS_BRANCH)
		return;
	edge->free[LITIFUT_WAY_PASSED] = free_at(place, block->end);
	if (!(block->target & 1) == !(block->flags & LITIFUT_BLOCK_THUMB))
		edge->free[LITIFUT_WAY_TAKEN] = free_at(place, block->target & ~1u);
	/* the first call is the one that records the start: it alone may return to the first bytes
	 * of the code (edge_call_bytes of struct cpu) */
	for (unsigned way = 0; way < 3 && edge->enters && block->flags & LITIFUT_BLOCK_THUMB; way++)
		if (way != LITIFUT_WAY_TAKEN && edge->free[way] > LITIFUT_ARM_FREE_FLAGS)
			edge->free[way] = LITIFUT_ARM_FREE_FLAGS;
}

/* Does the block end with a call of a part of the same function? In libgcc's multiplication and
 * division of floating-point numbers such a part may return to the function's caller. */
static bool calls_own_part(const struct litifut_edge_place *place)
{
	const struct litifut_block *block = &place->block->block;
	const struct litifut_graph_block *part;

	if (block->ends != LITIFUT_ENDS_CALL || !block->target)
		return false;
	part = litifut_graph_at(place->graph, block->target & ~1u);
	return part && part->function == place->block->function && part > place->graph->items &&
	       part[-1].function == part->function;
}

static unsigned judge_in_block(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_graph_block *block = place->block;
	struct litifut_arm_conditional conditional;

	if (!litifut_arm_edge_find_conditional(place, &conditional) ||
	    !litifut_arm_edge_ends_anywhere(place, block) || calls_own_part(place))
		return LITIFUT_SITE_SPECIAL_FORM;
	edge->address = conditional.address;
	edge->before = (uint8_t)(block->block.branch - conditional.address);
	edge->bytes = (uint8_t)(edge->before + block->length);
	return litifut_edge_is_free(place, edge->address, edge->bytes) ? LITIFUT_SITE_PATCHED
								       : LITIFUT_SITE_BRANCH_TARGET;
}

/* The instruction behind the branch moves along: how many bytes; 0: it can't. */
static unsigned behind(const struct litifut_edge_place *place)
{
	const struct litifut_graph_block *next = place->next;
	struct litifut_arm_displaced first;

	if (!next || next->first_exclusive || next->function != place->block->function ||
	    litifut_targets_has(&place->graph->targets, next->block.start))
		return 0;
	first = litifut_arm_edge_thumb(place, next->block.start);
	if (!litifut_edge_is_free(place, first.address, first.length))
		return 0;
	if (next->block.ends != LITIFUT_ENDS_ON && next->block.branch == next->block.start)
		return !(next->block.flags & LITIFUT_BLOCK_CONDITIONAL) &&
				       next->block.ends != LITIFUT_ENDS_CALL &&
				       litifut_arm_edge_ends_anywhere(place, next)
			       ? first.length
			       : 0;
	if (first.length == 2 && litifut_arm_it_length((uint16_t)first.instruction))
		return 0;
	return litifut_arm_edge_moves(place, &first) ? first.length : 0;
}

static unsigned judge_thumb_branch(const struct litifut_edge_place *place,
				   struct litifut_edge *edge)
{
	const struct litifut_graph_block *block = place->block;

	edge->address = block->block.branch;
	if (litifut_arm_edge_has_only_links(place) && !link_is_free(place, block->block.branch))
		return LITIFUT_SITE_TOO_SHORT;
	if (block->in_block)
		return judge_in_block(place, edge);
	if (block->block.ends != LITIFUT_ENDS_BRANCH)
		return LITIFUT_SITE_SPECIAL_FORM;
	edge->bytes = block->length;
	if (!litifut_edge_is_free(place, edge->address, edge->bytes))
		return LITIFUT_SITE_BRANCH_TARGET;
	if (block->length == BRANCH_BYTES)
		return LITIFUT_SITE_PATCHED;
	if (block->last && !block->last_in_block) {
		const struct litifut_arm_displaced last =
			litifut_arm_edge_thumb(place, block->block.branch - block->last);

		if (litifut_arm_edge_moves(place, &last) &&
		    litifut_edge_is_free(place, last.address, last.length)) {
			edge->address = last.address;
			edge->before = block->last;
			edge->bytes += block->last;
			return LITIFUT_SITE_PATCHED;
		}
	}
	edge->after = (uint8_t)behind(place);
	edge->bytes += edge->after;
	if (edge->after)
		return LITIFUT_SITE_PATCHED;
	edge->wants_stone = true;
	return LITIFUT_SITE_BRANCH_TARGET;
}

static unsigned judge_plain_branch(const struct litifut_edge_place *place,
				   struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t word = litifut_get32(false, litifut_arm_edge_code(place, block->branch));
	const uint32_t always = (word & 0x0fffffff) | LITIFUT_ARM_ALWAYS;

	edge->address = block->branch;
	edge->bytes = 4;
	if (!litifut_edge_is_free(place, edge->address, 4))
		return LITIFUT_SITE_BRANCH_TARGET;
	switch (block->ends) {
	case LITIFUT_ENDS_BRANCH:
		return LITIFUT_SITE_PATCHED;
	case LITIFUT_ENDS_CALL:
		return block->target ? LITIFUT_SITE_PATCHED
		       : (word & 0x0ffffff0) == 0x012fff30 && (word & 15) < LITIFUT_ARM_LR
			       ? LITIFUT_SITE_PATCHED
			       : LITIFUT_SITE_SPECIAL_FORM;
	default:
		return litifut_arm_edge_is_plain_switch(place) ||
				       litifut_arm_plain_treatment(always, block->branch) ==
					       LITIFUT_ARM_PLAIN_ENDS
			       ? LITIFUT_SITE_PATCHED
			       : LITIFUT_SITE_SPECIAL_FORM;
	}
}

unsigned litifut_arm_judge_branch(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	find_free(place, edge);
	return place->block->block.flags & LITIFUT_BLOCK_THUMB ? judge_thumb_branch(place, edge)
							       : judge_plain_branch(place, edge);
}

/* Somewhere in the block, where lr holds nothing. */
static unsigned judge_linked_entry(const struct litifut_edge_place *place,
				   struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	unsigned reason = LITIFUT_SITE_TOO_SHORT;
	struct litifut_arm_moved moved;

	for (uint32_t at = block->start; at < block->end;
	     at += litifut_arm_edge_thumb(place, at).length) {
		if (!link_is_free(place, at))
			continue;
		reason = LITIFUT_SITE_BRANCH_TARGET;
		if (!litifut_arm_edge_gather(place, at, BRANCH_BYTES, &moved)) {
			if (!edge->wants_stone && litifut_arm_edge_gather(place, at, 2, &moved) &&
			    moved.bytes == 2) {
				edge->address = at;
				edge->bytes = 2;
				edge->wants_stone = true;
			}
			continue;
		}
		edge->wants_stone = false;
		edge->address = at;
		edge->bytes = (uint8_t)moved.bytes;
		return LITIFUT_SITE_PATCHED;
	}
	return reason;
}

/* Where the code of an entry begins: behind what must stay the first instruction of a function. */
static uint32_t entry_of(const struct litifut_edge_place *place, const struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;

	if (!edge->end)
		return block->flags & LITIFUT_BLOCK_THUMB &&
				       litifut_arm_is_landing(
					       litifut_arm_edge_thumb(place, block->start)
						       .instruction)
			       ? block->start + 4
			       : block->start;
	return block->branch ? block->branch : block->end - place->block->last;
}

/* LITIFUT_MODE=units, or a jump whose code records where it leads: the end of the block, with what
 * stands before it, as little as is enough. */
static unsigned judge_thumb_end(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t last = block->branch ? block->branch : block->end;
	unsigned conditional = 0; /* instructions of an IT block to come */
	unsigned length, bytes;
	struct litifut_arm_moved moved;

	edge->address = last;
	if (block->ends == LITIFUT_ENDS_CALL) /* it would end before the call */
		return LITIFUT_SITE_SPECIAL_FORM;
	for (uint32_t at = block->start; at < block->end; at += length) {
		const struct litifut_arm_displaced each = litifut_arm_edge_thumb(place, at);

		length = each.length;
		bytes = block->end - at > BRANCH_BYTES ? block->end - at : BRANCH_BYTES;
		if (!conditional &&
		    (!litifut_arm_edge_has_only_links(place) || link_is_free(place, at)) &&
		    litifut_arm_edge_gather(place, at, bytes, &moved)) {
			edge->address = at;
			edge->bytes = (uint8_t)moved.bytes;
		}
		conditional = conditional   ? conditional - 1
			      : length == 2 ? litifut_arm_it_length((uint16_t)each.instruction)
					    : 0;
	}
	if (edge->bytes)
		return LITIFUT_SITE_PATCHED;
	edge->bytes = 2;
	edge->wants_stone =
		block->branch &&
		(!litifut_arm_edge_has_only_links(place) || link_is_free(place, last)) &&
		litifut_arm_edge_gather(place, last, 2, &moved) && moved.bytes == 2;
	return LITIFUT_SITE_BRANCH_TARGET;
}

static unsigned judge_thumb_entry(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	struct litifut_arm_moved moved;

	if (edge->end && edge->needed && (place->context->units || place->block->jump_register))
		return judge_thumb_end(place, edge);
	edge->address = entry_of(place, edge);
	if (edge->whole &&
	    (block->end - edge->address < BRANCH_BYTES || litifut_arm_edge_has_only_links(place) ||
	     !litifut_arm_edge_gather(place, edge->address, block->end - edge->address, &moved)))
		return LITIFUT_SITE_BRANCH_TARGET;
	if (edge->whole) {
		edge->bytes = (uint8_t)moved.bytes;
		return LITIFUT_SITE_PATCHED;
	}
	if (litifut_arm_edge_has_only_links(place))
		return judge_linked_entry(place, edge);
	if (litifut_arm_edge_gather(place, edge->address, BRANCH_BYTES, &moved)) {
		edge->bytes = (uint8_t)moved.bytes;
		return LITIFUT_SITE_PATCHED;
	}
	edge->bytes = 2;
	edge->wants_stone =
		litifut_arm_edge_gather(place, edge->address, 2, &moved) && moved.bytes == 2;
	return LITIFUT_SITE_BRANCH_TARGET;
}

static unsigned judge_plain_entry(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t start = entry_of(place, edge);
	const uint32_t word = litifut_get32(false, litifut_arm_edge_code(place, start));

	edge->address = start;
	edge->bytes = 4;
	if (edge->whole && block->branch != start)
		return LITIFUT_SITE_BRANCH_TARGET;
	if (edge->end && edge->needed && block->ends == LITIFUT_ENDS_CALL)
		return LITIFUT_SITE_SPECIAL_FORM;
	if (!litifut_edge_is_free(place, edge->address, 4))
		return LITIFUT_SITE_BRANCH_TARGET;
	if (block->ends == LITIFUT_ENDS_CALL && block->branch == start) {
		if (block->flags & LITIFUT_BLOCK_CONDITIONAL)
			return LITIFUT_SITE_SPECIAL_FORM;
		return judge_plain_branch(place, edge);
	}
	return litifut_arm_plain_treatment(word, start) == LITIFUT_ARM_PLAIN_STUCK
		       ? LITIFUT_SITE_SPECIAL_FORM
		       : LITIFUT_SITE_PATCHED;
}

unsigned litifut_arm_judge_entry(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	const unsigned reason = place->block->block.flags & LITIFUT_BLOCK_THUMB
					? judge_thumb_entry(place, edge)
					: judge_plain_entry(place, edge);

	find_free(place, edge);
	return reason;
}

/* The start of a block need not be recorded at its first instruction. */
bool litifut_arm_join_entry(const struct litifut_edge_place *place, struct litifut_edge *edge)
{
	if (litifut_arm_edge_has_only_links(place))
		return !edge->stone_bytes;
	if (edge->address != entry_of(place, edge))
		return false;
	edge->enters = true;
	find_free(place, edge);
	return true;
}
