#include "rewriter/mips/edge_function.h"

#include "rewriter/mips/edge_forms.h"

enum { AT = 1, GP = 28, SP = 29, RA = LITIFUT_MIPS_RA };

/* Is $at read in the block before it is written? */
static bool reads_at_first(const struct litifut_edge_place *place,
			   const struct litifut_graph_block *block)
{
	for (uint32_t at = block->block.start; at < block->block.end; at += 4) {
		const uint32_t word = litifut_mips_word_at(place, at);

		if (litifut_mips_reads_at(word))
			return true;
		if (litifut_mips_sets_at(word) && !(block->likely && at > block->block.branch))
			return false;
	}
	return false;
}

/* Does the function jump by tables that were not looked at, because they are relative to its own
 * global pointer? */
static bool has_other_tables(const struct litifut_arch_context *context)
{
	return context->bits && context->cpu.position_independent &&
	       !litifut_mips_facts(context)->got.alone;
}

/* Is the jump by $at of this block a branch that was too far for one, and has no target that was
 * found? Clang makes the jumps of switches by $at as well: there it holds a word of a table, or the
 * sum of one and the global pointer. */
static bool is_far_branch(const struct litifut_edge_place *place,
			  const struct litifut_graph_block *block)
{
	for (uint32_t at = block->block.branch; at > block->block.start;) {
		const uint32_t word = litifut_mips_word_at(place, at -= 4);
		const unsigned left = word >> 21 & 31;
		const unsigned right = word >> 16 & 31;

		if (!litifut_mips_writes(word, AT))
			continue;
		if (word >> 26 == 0x23) /* lw */
			return left == SP || left == GP;
		return (word & 0xfc0007ff) != 0x21 || !left || !right || left == RA || right == RA;
	}
	return true;
}

/* May control enter the function, or leave the middle of a block, in a way that the graph does not
 * have? Where data has labels of the function, its jumps lead to these: all words of the data are
 * taken for entries of tables. A call into the function itself reads the pc, and data may follow.
 */
static bool is_unknown(const struct litifut_edge_place *place,
		       const struct litifut_graph_block *block, uint32_t start, uint32_t end,
		       bool labels)
{
	const uint32_t target = block->block.target;

	switch (block->block.ends) {
	case LITIFUT_ENDS_CALL:
		return target > start && target < end;
	case LITIFUT_ENDS_JUMP:
		if ((litifut_mips_word_at(place, block->block.branch) >> 21 & 31) == AT &&
		    is_far_branch(place, block))
			return true;
		return (!labels || has_other_tables(place->context)) &&
		       (litifut_mips_word_at(place, block->block.branch) >> 21 & 31) !=
			       LITIFUT_MIPS_T9;
	default:
		return false;
	}
}

unsigned litifut_mips_judge_function(const struct litifut_image *image,
				     const struct litifut_arch_context *context,
				     struct litifut_graph *graph, size_t first, size_t end)
{
	const struct litifut_graph_block *items = graph->items;
	const struct litifut_symbol *function = &image->symbols[items[first].function - 1];
	const struct litifut_section *section = &image->sections[items[first].section];
	const struct litifut_edge_place place = {.context = context, .section = section};
	const uint32_t behind = items[end - 1].block.end;
	bool lives = false;
	bool labels = false;
	bool unknown = false;

	if (function->address & 3)
		return LITIFUT_SITE_UNKNOWN_JUMP;
	for (size_t i = first; i < end; i++) {
		lives = lives || reads_at_first(&place, &items[i]);
		labels |= (items[i].block.flags & LITIFUT_BLOCK_LABEL) != 0;
	}
	for (size_t i = first; i < end; i++) {
		graph->items[i].scratch_lives = lives;
		unknown |= is_unknown(&place, &items[i], function->address, behind, labels);
	}
	return unknown ? LITIFUT_SITE_UNKNOWN_JUMP : LITIFUT_SITE_PATCHED;
}
