#include "rewriter/mips/edge_forms.h"

#include "cpu/mips/uses.h"
#include "cpu/step.h"
#include "rewriter/mips/dead.h"

enum { AT = 1 };

#define MOST_WAYS 256

uint32_t litifut_mips_dead_at(const struct litifut_edge_place *place, uint32_t address)
{
	const uint32_t section_end = place->section->address + place->section->size;
	const uint32_t start = place->image->symbols[place->block->function - 1].address;
	const uint32_t end = place->function_end < section_end ? place->function_end : section_end;
	const uint32_t text = place->image->text_start;
	struct litifut_edge_dead once = {0};
	struct litifut_edge_dead *known =
		place->dead && !(address & 3) && address - text < place->image->text_end - text
			? &place->dead[(address - text) / 4]
			: &once;

	if (known->start != start || known->end != end)
		*known = (struct litifut_edge_dead){
			start, end,
			litifut_mips_dead(place->context, place->section, start, end, address)};
	return known->dead;
}

uint32_t litifut_mips_named_by(uint32_t word)
{
	const struct litifut_mips_uses uses = litifut_mips_uses(word);

	return uses.reads | uses.writes;
}

/* sc reads what it writes. */
bool litifut_mips_reads_at(uint32_t word)
{
	return litifut_mips_may_read_at(word) || (word >> 26 == 0x38 && (word >> 16 & 31) == AT);
}

bool litifut_mips_names_at(uint32_t word)
{
	return litifut_mips_reads_at(word) || litifut_mips_writes(word, AT);
}

/* The blocks that are still to be looked at. */
struct ways {
	uint32_t seen[MOST_WAYS];
	unsigned count;
	unsigned done;
	bool failed;
};

static void add_way(struct ways *ways, uint32_t address)
{
	for (unsigned i = 0; i < ways->count; i++)
		if (ways->seen[i] == address)
			return;
	if (ways->count == MOST_WAYS)
		ways->failed = true;
	else
		ways->seen[ways->count++] = address;
}

/* Looks at a block up to where $at is written. */
static void follow(const struct litifut_edge_place *place, uint32_t address, struct ways *ways)
{
	const struct litifut_graph_block *block = litifut_graph_at(place->graph, address);

	/* another function's, or one that was left out: nothing lives in $at there */
	if (!block)
		return;
	for (uint32_t at = block->block.start; at < block->block.end; at += 4) {
		const uint32_t word = litifut_mips_word_at(place, at);

		if (litifut_mips_reads_at(word)) {
			ways->failed = true;
			return;
		}
		if (litifut_mips_sets_at(word) && !(block->likely && at > block->block.branch))
			return;
	}
	if (block->block.ends == LITIFUT_ENDS_BRANCH)
		add_way(ways, block->block.target);
	if (block->block.ends == LITIFUT_ENDS_ON ||
	    (block->block.ends == LITIFUT_ENDS_BRANCH &&
	     block->block.flags & LITIFUT_BLOCK_CONDITIONAL))
		add_way(ways, block->block.end);
}

bool litifut_mips_at_is_free(const struct litifut_edge_place *place, uint32_t address)
{
	struct ways ways;

	if (!place->block->scratch_lives)
		return true;
	ways.seen[0] = address;
	ways.count = 1;
	ways.done = 0;
	ways.failed = false;
	while (ways.done < ways.count && !ways.failed)
		follow(place, ways.seen[ways.done++], &ways);
	return !ways.failed;
}

bool litifut_mips_is_target(const struct litifut_edge_place *place, uint32_t address)
{
	return litifut_targets_has(&place->graph->targets, address);
}

bool litifut_mips_comes_first(const struct litifut_graph_block *block, uint32_t branch,
			      uint32_t slot)
{
	const unsigned operation = branch >> 26;

	if (slot == LITIFUT_MIPS_NOP)
		return true;
	if (block->likely || operation == 0x11 || operation == 0x12)
		return false;
	return !litifut_mips_writes(slot, branch >> 21 & 31) &&
	       !(operation == 0x04 || operation == 0x05
			 ? litifut_mips_writes(slot, branch >> 16 & 31)
			 : false);
}

bool litifut_mips_is_slot(const struct litifut_edge_place *place, uint32_t address)
{
	struct cpu_step step;
	unsigned block = 0;

	return address - place->section->address >= 4 &&
	       litifut_mips_step(&place->context->cpu,
				 place->section->bytes + (address - 4 - place->section->address), 4,
				 address - 4, LITIFUT_CODE_PLAIN, &block, &step) &&
	       step.slot;
}

bool litifut_mips_edge_has_target(const struct litifut_edge_place *place, uint32_t start,
				  uint32_t end)
{
	for (uint32_t at = start + 4; at < end; at += 4)
		if (litifut_mips_is_target(place, at))
			return true;
	return false;
}

bool litifut_mips_may_name(uint32_t word, unsigned reg)
{
	return (word >> 21 & 31) == reg || (word >> 16 & 31) == reg ||
	       (word >> 26 == 0 && (word >> 11 & 31) == reg);
}
