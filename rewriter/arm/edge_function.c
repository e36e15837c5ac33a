#include "rewriter/arm/edge_function.h"

#include <string.h>

#include "rewriter/arm/edge_forms.h"
#include "rewriter/arm/scaled_jump.h"
#include "rewriter/arm/table_call.h"
#include "rewriter/arm/tail.h"
#include "rewriter/arm/word_table.h"

/* A32 `add pc, pc, rN, lsl #2`: one instruction for numbers that are too large follows, and then a
 * branch for each other one. Labels them; false: the jump is of another form. */
static bool label_branches(const struct litifut_image *image, struct litifut_graph *graph,
			   size_t number, size_t end)
{
	const struct litifut_graph_block *block = &graph->items[number];
	const struct litifut_section *section = &image->sections[block->section];
	const uint32_t jump = block->block.branch;
	const uint32_t word = litifut_get32(false, section->bytes + (jump - section->address));
	bool found = false;

	if (block->block.flags & LITIFUT_BLOCK_THUMB || !litifut_arm_skips_branches(word))
		return false;
	for (uint32_t at = jump + 8; number + 1 < end; at += 4) {
		struct litifut_graph_block *each = &graph->items[++number];

		if (each->block.start < at) {
			at -= 4;
			continue;
		}
		if (each->block.start != at || each->block.branch != at ||
		    each->block.ends != LITIFUT_ENDS_BRANCH ||
		    each->block.flags & LITIFUT_BLOCK_CONDITIONAL)
			break;
		each->block.flags |= LITIFUT_BLOCK_LABEL;
		found = true;
	}
	return found;
}

/* A32 `add pc, pc, rN`: it skips so many bytes of what follows, and no table holds where it ends.
 * glibc's memcpy enters its last copies so. */
static bool skips_code(const struct litifut_image *image, const struct litifut_graph_block *block)
{
	const struct litifut_section *section = &image->sections[block->section];

	return !(block->block.flags & LITIFUT_BLOCK_THUMB) &&
	       (litifut_get32(false, section->bytes + (block->block.branch - section->address)) &
		0x0ffff010) == 0x008ff000;
}

/* Does the jump at the end of the block lead through the table after it, or out of the function? */
static bool is_explained(const struct litifut_image *image,
			 const struct litifut_arch_context *context,
			 const struct litifut_graph *graph, const struct litifut_graph_block *block)
{
	const struct litifut_symbol *function = &image->symbols[block->function - 1];
	const struct litifut_section *section = &image->sections[block->section];
	const bool thumb = block->block.flags & LITIFUT_BLOCK_THUMB;
	struct litifut_cramped_call call = {
		.address = block->block.branch,
		.tail = true,
		.section = section,
		.function_start = function->address,
		.function_end = litifut_image_function_end(image, function),
		.before = {block->last},
	};

	litifut_arm_decode(&context->cpu, section->bytes + (call.address - section->address),
			   block->length, call.address,
			   thumb ? LITIFUT_CODE_THUMB : LITIFUT_CODE_PLAIN, &call.instruction);
	/* tbb and tbh have no class */
	return (thumb && block->length == 4 && call.instruction.class == LITIFUT_CLASS_OTHER) ||
	       (call.instruction.class != LITIFUT_CLASS_OTHER &&
		litifut_arm_is_indirect_tail(image, context, &call, &graph->labels));
}

/* Is it a switch of Thumb-1 code (table_call.h), or does it look like one by the name of what it
 * calls? */
static bool is_table_call(const struct litifut_image *image,
			  const struct litifut_arch_context *context,
			  const struct litifut_graph_block *block)
{
	const struct litifut_block *at = &block->block;
	struct litifut_arm_table_call call;
	const struct litifut_symbol *callee;

	if (at->ends != LITIFUT_ENDS_CALL || !at->target || !(at->flags & LITIFUT_BLOCK_THUMB))
		return false;
	callee = litifut_image_function_start(image, at->target & ~1u);
	if (callee && strstr(callee->name, LITIFUT_ARM_TABLE_HELPER))
		return true;
	return litifut_arm_short_branches(&context->cpu) &&
	       litifut_arm_table_call(image, &image->sections[block->section], at->branch, &call);
}

/* Makes a jump to the labels in the table of the switch at the end of the block. False: they are
 * not known. */
static bool follow_table(const struct litifut_image *image, struct litifut_graph *graph,
			 size_t number)
{
	struct litifut_graph_block *block = &graph->items[number];

	if (!litifut_arm_follows_table(image, graph, number))
		return false;
	block->block.ends = LITIFUT_ENDS_JUMP;
	block->block.target = 0;
	/* what fills up to a table of words */
	if (number + 1 < graph->count && block[1].block.start == block->block.end)
		block[1].led_to = block[1].behind_call = false;
	return true;
}

/* Is the `bx lr` at the end of the block not a return, but a switch whose register lr is? */
static bool is_switch_by_link(const struct litifut_image *image,
			      const struct litifut_graph_block *block)
{
	return block->block.ends == LITIFUT_ENDS_RETURN &&
	       block->block.flags & LITIFUT_BLOCK_THUMB && block->length == 2 &&
	       litifut_arm_begins_table(&image->sections[block->section],
					&image->symbols[block->function - 1],
					(block->block.end + 3) & ~3u);
}

/* Where a jump leads whose numbers are known are labels, unless its own code records which of them
 * it leads to. */
static void label_places(const struct litifut_arch_context *context, struct litifut_graph *graph,
			 size_t number, const struct litifut_arm_scaled *jump)
{
	struct litifut_graph_block *from = &graph->items[number];

	if (from->block.flags & LITIFUT_BLOCK_THUMB && litifut_edges_skip_records(context))
		from->jump_register = (uint8_t)(jump->reg + 1);
	for (int64_t i = jump->first; i <= jump->last; i++) {
		const uint32_t address = jump->base + (uint32_t)i * jump->step;

		if (litifut_arm_scaled_is_own(jump, from, address))
			continue;
		litifut_targets_add(&graph->targets, address);
		litifut_graph_at(graph, address)->unreached = false;
		if (!from->jump_register)
			litifut_graph_at(graph, address)->block.flags |= LITIFUT_BLOCK_LABEL;
	}
}

/* In T32 code neighbours move, so all that leads between them must be known; in all code, what is
 * executed follows from what leads there. Where neither data nor a table has a label in the
 * function, a jump may lead anywhere, and so may one to an address and a number of which the code
 * does not show how large it is (scaled_jump.h). */
unsigned litifut_arm_judge_function(const struct litifut_image *image,
				    const struct litifut_arch_context *context,
				    struct litifut_graph *graph, size_t first, size_t end)
{
	bool labels = false;
	bool jumps = false;

	if (litifut_arm_is_table_helper(image, graph->items[first].block.start))
		return LITIFUT_SITE_UNKNOWN_JUMP;
	for (size_t i = first; i < end; i++) {
		if (is_table_call(image, context, &graph->items[i]) &&
		    !follow_table(image, graph, i))
			return LITIFUT_SITE_UNKNOWN_JUMP;
		labels |= (graph->items[i].block.flags & LITIFUT_BLOCK_LABEL) != 0;
	}
	for (size_t i = first; i < end; i++) {
		struct litifut_arm_scaled scaled;

		if (is_switch_by_link(image, &graph->items[i]))
			graph->items[i].block.ends = LITIFUT_ENDS_JUMP;
		if (graph->items[i].block.ends != LITIFUT_ENDS_JUMP)
			continue;
		if (label_branches(image, graph, i, end)) {
			labels = true;
			continue;
		}
		switch (litifut_arm_scaled_jump(image, graph, i, &scaled)) {
		case LITIFUT_ARM_SCALED_KNOWN:
			label_places(context, graph, i, &scaled);
			break;
		case LITIFUT_ARM_SCALED_UNKNOWN:
			return LITIFUT_SITE_UNKNOWN_JUMP;
		default:
			if (skips_code(image, &graph->items[i]))
				return LITIFUT_SITE_UNKNOWN_JUMP;
			jumps |= !labels && !is_explained(image, context, graph, &graph->items[i]);
			break;
		}
	}
	return jumps && !labels ? LITIFUT_SITE_UNKNOWN_JUMP : LITIFUT_SITE_PATCHED;
}
