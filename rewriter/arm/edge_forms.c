#include "rewriter/arm/edge_forms.h"

#include "rewriter/arm/tasks.h"
#include "rewriter/arm/thumb1.h"

const uint8_t *litifut_arm_edge_code(const struct litifut_edge_place *place, uint32_t address)
{
	return place->section->bytes + (address - place->section->address);
}

struct litifut_arm_displaced litifut_arm_edge_thumb(const struct litifut_edge_place *place,
						    uint32_t address)
{
	const uint8_t *code = litifut_arm_edge_code(place, address);
	const uint16_t first = litifut_get16(false, code);

	if (!litifut_arm_thumb_is_wide(first))
		return (struct litifut_arm_displaced){address, first, 2};
	return (struct litifut_arm_displaced){
		address, (uint32_t)first << 16 | litifut_get16(false, code + 2), 4};
}

bool litifut_arm_edge_has_only_links(const struct litifut_edge_place *place)
{
	return litifut_arm_short_branches(&place->context->cpu);
}

bool litifut_arm_edge_moves(const struct litifut_edge_place *place,
			    const struct litifut_arm_displaced *displaced)
{
	switch (litifut_arm_analyse(displaced).treatment) {
	case LITIFUT_ARM_MOVES:
	case LITIFUT_ARM_LOADS_LITERAL:
	case LITIFUT_ARM_FORMS_ADDRESS:
		return !litifut_arm_edge_has_only_links(place) ||
		       litifut_arm_thumb1_displaceable(displaced);
	case LITIFUT_ARM_LOADS_PAIR:
	case LITIFUT_ARM_ADDS_PC:
	case LITIFUT_ARM_LOADS_VECTOR:
		return !litifut_arm_edge_has_only_links(place);
	default:
		return false;
	}
}

bool litifut_arm_edge_ends_anywhere(const struct litifut_edge_place *place,
				    const struct litifut_graph_block *block)
{
	const struct litifut_arm_displaced end = litifut_arm_edge_thumb(place, block->block.branch);

	switch (block->block.ends) {
	case LITIFUT_ENDS_BRANCH:
		return block->block.target & 1;
	case LITIFUT_ENDS_RETURN:
		return true;
	case LITIFUT_ENDS_JUMP: /* bx rN, mov pc, rN */
		return end.length == 2 &&
		       ((end.instruction & 0xff87) == 0x4700 ||
			(end.instruction & 0xff87) == 0x4687) &&
		       (end.instruction >> 3 & 15) != 15;
	case LITIFUT_ENDS_CALL: /* bl, blx; blx rN */
		return block->block.target
			       ? block->block.target & 1 || !litifut_arm_edge_has_only_links(place)
			       : end.length == 2 && (end.instruction & 0xff87) == 0x4780 &&
					 (end.instruction >> 3 & 15) < LITIFUT_ARM_LR;
	default:
		return false;
	}
}

bool litifut_arm_edge_find_conditional(const struct litifut_edge_place *place,
				       struct litifut_arm_conditional *found)
{
	const struct litifut_block *block = &place->block->block;

	for (uint32_t at = block->start; at < block->branch;
	     at += litifut_arm_edge_thumb(place, at).length) {
		const uint16_t half = litifut_get16(false, litifut_arm_edge_code(place, at));
		const unsigned count = litifut_arm_it_length(half);
		unsigned condition = half >> 4 & 15;
		uint32_t inner = at + 2;

		if (!count)
			continue;
		for (unsigned i = 1; i < count && inner < block->branch; i++) {
			const struct litifut_arm_displaced each =
				litifut_arm_edge_thumb(place, inner);

			if (litifut_arm_analyse(&each).treatment != LITIFUT_ARM_MOVES ||
			    (each.length == 4 && litifut_arm_task_access(each.instruction)))
				break;
			inner += each.length;
		}
		if (inner != block->branch)
			continue;
		*found = (struct litifut_arm_conditional){.address = at};
		if (count > 1) {
			const unsigned mask = half & 15;

			condition = (condition & 14) | (mask >> (5 - count) & 1);
			found->shorter =
				(uint16_t)((half & 0xfff0) | (mask & (0xfu << (6 - count))) |
					   1u << (5 - count));
		}
		found->branch = (uint16_t)(0xd000 | condition << 8);
		return condition < 14;
	}
	return false;
}

bool litifut_arm_skips_branches(uint32_t word)
{
	return (word & 0x0ffffff0) == 0x008ff100;
}

bool litifut_arm_reads_table(uint32_t word)
{
	return (word & 0x0ffffff0) == 0x079ff100;
}

bool litifut_arm_edge_is_plain_switch(const struct litifut_edge_place *place)
{
	const struct litifut_block *block = &place->block->block;
	const uint32_t word = litifut_get32(false, litifut_arm_edge_code(place, block->branch));
	const struct litifut_section *section = place->section;
	uint32_t address = block->branch + 8;
	const struct litifut_graph_block *first;

	if ((word & 15) == 13 || (word & 15) == 15 ||
	    !(litifut_arm_skips_branches(word) || litifut_arm_reads_table(word)))
		return false;
	if (litifut_arm_reads_table(word)) {
		if (address - section->address > section->size - 4)
			return false;
		address = litifut_get32(false, litifut_arm_edge_code(place, address));
	}
	first = litifut_graph_at(place->graph, address);
	return first && first->function == place->block->function &&
	       first->block.flags & LITIFUT_BLOCK_LABEL;
}

/* An `it`, the last of the items so far, which begin at `start`, and all that it makes conditional.
 */
static bool gather_block(const struct litifut_edge_place *place, uint32_t start,
			 struct litifut_arm_moved *moved)
{
	const struct litifut_block *block = &place->block->block;
	unsigned left = litifut_arm_it_length((uint16_t)moved->items[moved->count].instruction);

	moved->bytes += 2;
	for (moved->count++; left; left--, moved->count++) {
		const uint32_t at = start + moved->bytes;
		struct litifut_arm_displaced *each = &moved->items[moved->count];

		if (moved->count == LITIFUT_ARM_MOVED_MAX || at >= block->end ||
		    (block->ends != LITIFUT_ENDS_ON && at == block->branch))
			return false;
		*each = litifut_arm_edge_thumb(place, at);
		/* nothing that takes more than one instruction */
		if (litifut_arm_analyse(each).treatment != LITIFUT_ARM_MOVES ||
		    (each->length == 4 && litifut_arm_task_access(each->instruction)) ||
		    !litifut_edge_is_free(place, at, each->length))
			return false;
		moved->bytes += each->length;
	}
	return true;
}

bool litifut_arm_edge_gather(const struct litifut_edge_place *place, uint32_t start,
			     unsigned wanted, struct litifut_arm_moved *moved)
{
	const struct litifut_graph_block *block = place->block;

	*moved = (struct litifut_arm_moved){0};
	while (moved->bytes < wanted) {
		const uint32_t at = start + moved->bytes;
		struct litifut_arm_displaced *each = &moved->items[moved->count];

		if (moved->with_end) {
			if (!litifut_edge_is_unused(place, at))
				return false;
			moved->bytes += 2;
			continue;
		}
		if (at >= block->block.end || moved->count == LITIFUT_ARM_MOVED_MAX)
			return false;
		*each = litifut_arm_edge_thumb(place, at);
		if (!litifut_edge_is_free(place, at, each->length))
			return false;
		moved->with_end = block->block.ends != LITIFUT_ENDS_ON && block->block.branch == at;
		if (!moved->with_end && each->length == 2 &&
		    litifut_arm_it_length((uint16_t)each->instruction)) {
			if (!gather_block(place, start, moved))
				return false;
			continue;
		}
		if (moved->with_end ? block->block.flags & LITIFUT_BLOCK_CONDITIONAL ||
					      !litifut_arm_edge_ends_anywhere(place, block)
				    : !litifut_arm_edge_moves(place, each))
			return false;
		moved->count++;
		moved->bytes += each->length;
	}
	return true;
}
