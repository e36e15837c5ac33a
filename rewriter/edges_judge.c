#include "rewriter/edges_judge.h"

#include <stdlib.h>

#include "rewriter/edges.h"
#include "rewriter/sites.h"

static uint32_t instruction_word(const struct litifut_session *session, uint16_t number, bool thumb,
				 uint32_t address, unsigned length)
{
	const struct litifut_section *section = &session->image.sections[number];
	const uint8_t *code = section->bytes + (address - section->address);
	const bool big = session->image.file.big_endian;

	if (length == 2)
		return litifut_get16(big, code);
	if (thumb)
		return (uint32_t)litifut_get16(big, code) << 16 | litifut_get16(big, code + 2);
	return litifut_get32(big, code);
}

/* Lists the edge as a site, so that islands are planned for it and `litifut info` shows it. */
static struct litifut_edge *add_site(struct litifut_edges_judge *judge, size_t number, bool entry,
				     bool end, unsigned reason)
{
	struct litifut_session *session = judge->session;
	struct litifut_site_list *list = &session->sites;
	const struct litifut_graph_block *block = &judge->edges->graph.items[number];
	const bool thumb = block->block.flags & LITIFUT_BLOCK_THUMB;
	const uint32_t last =
		block->block.branch ? block->block.branch : block->block.end - block->last;
	const uint32_t address = entry && !end ? block->block.start : last;
	const unsigned least = thumb || block->block.end - address < 4 ? 2 : 4;
	const unsigned length = entry ? least : block->length;
	struct litifut_found_site *site = &list->items[list->count];
	struct litifut_edge *edge = &judge->edges->items[judge->edges->count++];

	*edge = (struct litifut_edge){.block = (uint32_t)number, .entry = entry, .end = end};
	*site = (struct litifut_found_site){
		.site = {.address = address,
			 .return_address = entry ? address : block->block.end,
			 .instruction =
				 instruction_word(session, block->section, thumb, address, length),
			 .callee = entry ? 0 : block->block.target,
			 .kind = entry ? LITIFUT_SITE_BLOCK : LITIFUT_SITE_BRANCH,
			 .reason = (uint8_t)reason,
			 .thumb = thumb,
			 .length = (uint8_t)length,
			 .site_class = LITIFUT_SITE_CLASS_EDGE},
		.instruction = {.class = LITIFUT_CLASS_CALL_DIRECT,
				.length = 4, /* what its replacement reaches */
				.thumb = thumb},
		.function = block->function,
		.section = block->section,
	};
	list->count++;
	return edge;
}

static enum litifut_status enter_section(struct litifut_edges_judge *judge, uint16_t section,
					 struct litifut_error *error)
{
	const struct litifut_session *session = judge->session;

	if (judge->ranges && judge->section == section)
		return LITIFUT_OK;
	free(judge->ranges);
	judge->ranges = NULL;
	judge->section = section;
	return session->arch->code_ranges(&session->image, &session->image.sections[section],
					  &judge->ranges, &judge->range_count, error);
}

void litifut_edges_set_reason(struct litifut_edges_judge *judge, size_t item, unsigned reason)
{
	struct litifut_edge *edge = &judge->edges->items[item];
	struct litifut_block *block = &judge->edges->graph.items[edge->block].block;

	judge->session->sites.items[item].site.reason = (uint8_t)reason;
	if (edge->entry && !edge->end)
		block->entered_reason = (uint8_t)reason;
	else if (!edge->entry)
		block->reason = (uint8_t)reason;
	if (reason == LITIFUT_SITE_PATCHED && !edge->stone_bytes)
		litifut_edges_take(&judge->taken, edge->address, edge->bytes);
}

/* For places where only a 16-bit branch fits: nearby code makes room for the rest. */
enum litifut_status litifut_edges_find_stones(struct litifut_edges_judge *judge, bool entries,
					      struct litifut_error *error)
{
	struct litifut_session *session = judge->session;
	enum litifut_status status = LITIFUT_OK;

	for (size_t i = 0; i < judge->edges->count && !status; i++) {
		struct litifut_edge *edge = &judge->edges->items[i];
		const struct litifut_graph_block *block = &judge->edges->graph.items[edge->block];
		const struct litifut_symbol *function =
			&session->image.symbols[block->function - 1];
		struct litifut_cramped_call call = {
			.address = edge->address,
			.instruction = {.length = 2, .thumb = true},
			.section = &session->image.sections[block->section],
			.function_start = function->address,
			.function_end = litifut_image_function_end(&session->image, function),
			.may_link = true,
		};

		if (!edge->wants_stone || edge->entry != entries ||
		    session->sites.items[i].site.reason == LITIFUT_SITE_PATCHED ||
		    litifut_targets_has(&judge->taken, edge->address))
			continue;
		status = enter_section(judge, block->section, error);
		litifut_edges_take(&judge->taken, edge->address, 2);
		if (status || !session->arch->detour->find_stone(
				      &session->context, judge->ranges, judge->range_count,
				      &judge->edges->graph.targets, &judge->taken, &call))
			continue;
		edge->stone = call.stone;
		edge->stone_bytes = (uint8_t)call.stone_bytes;
		edge->bytes = 2;
		litifut_edges_set_reason(judge, i, LITIFUT_SITE_PATCHED);
		litifut_edges_take(&judge->taken, call.stone, call.stone_bytes);
	}
	return status;
}

enum litifut_status litifut_edges_find_sparing_stones(struct litifut_edges_judge *judge,
						      bool entries, const uint8_t *spared,
						      struct litifut_error *error)
{
	const struct litifut_graph *graph = &judge->edges->graph;
	struct litifut_targets taken;
	enum litifut_status status =
		litifut_targets_create(judge->taken.start, judge->taken.end, &taken, error);

	if (status)
		return status;
	litifut_targets_merge(&taken, &judge->taken);
	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_edge_place place =
			litifut_edge_place_of(judge->session, i, &judge->taken);
		struct litifut_edge edge = {.block = (uint32_t)i, .entry = true};

		if (spared[i] &&
		    judge->session->arch->edges->judge_entry(&place, &edge) == LITIFUT_SITE_PATCHED)
			litifut_edges_take(&judge->taken, edge.address, edge.bytes);
	}
	status = litifut_edges_find_stones(judge, entries, error);
	litifut_targets_release(&judge->taken);
	judge->taken = taken;
	for (size_t i = 0; i < judge->edges->count; i++) {
		const struct litifut_edge *edge = &judge->edges->items[i];

		if (edge->stone_bytes) {
			litifut_edges_take(&judge->taken, edge->address, edge->bytes);
			litifut_edges_take(&judge->taken, edge->stone, edge->stone_bytes);
		}
	}
	return status ? status : litifut_edges_find_stones(judge, entries, error);
}

void litifut_edges_judge_branch(struct litifut_edges_judge *judge, size_t number, unsigned function)
{
	const struct litifut_edge_place place =
		litifut_edge_place_of(judge->session, number, &judge->taken);
	unsigned reason = function;
	struct litifut_edge *edge;

	if (!(place.block->block.flags & LITIFUT_BLOCK_CONDITIONAL))
		return;
	if (place.block->exclusive)
		reason = LITIFUT_SITE_EXCLUSIVE;
	edge = add_site(judge, number, false, false, reason);
	if (reason == LITIFUT_SITE_PATCHED)
		reason = judge->session->arch->edges->judge_branch(&place, edge);
	litifut_edges_set_reason(judge, judge->edges->count - 1, reason);
}

bool litifut_edges_is_recorded(const struct litifut_graph_block *block)
{
	return block->block.flags & LITIFUT_BLOCK_CONDITIONAL &&
	       block->block.reason == LITIFUT_SITE_PATCHED;
}

struct litifut_edge *litifut_edges_branch_of(const struct litifut_edges_judge *judge, size_t number)
{
	size_t low = 0;
	size_t high = judge->branches;

	while (low < high) {
		const size_t middle = (low + high) / 2;

		if (judge->edges->items[middle].block < number)
			low = middle + 1;
		else
			high = middle;
	}
	return low < judge->branches && judge->edges->items[low].block == number
		       ? &judge->edges->items[low]
		       : NULL;
}

bool litifut_edges_join(struct litifut_edges_judge *judge, struct litifut_edge *edge)
{
	const struct litifut_edge_place place =
		litifut_edge_place_of(judge->session, edge->block, &judge->taken);

	if (!judge->session->arch->edges->join)
		edge->enters = edge->address == place.block->block.start && !edge->stone_bytes;
	else
		edge->enters = judge->session->arch->edges->join(&place, edge);
	if (edge->enters && judge->session->arch->edges->join)
		litifut_edges_take(&judge->taken, edge->address, edge->bytes);
	return edge->enters;
}

bool litifut_edges_join_branch(struct litifut_edges_judge *judge, size_t number)
{
	struct litifut_edge *edge = litifut_edges_branch_of(judge, number);

	return edge && litifut_edges_is_recorded(&judge->edges->graph.items[number]) &&
	       litifut_edges_join(judge, edge);
}

static bool shift_start(struct litifut_edges_judge *judge, size_t number, uint8_t bytes);

void litifut_edges_judge_entry(struct litifut_edges_judge *judge, size_t number, unsigned function,
			       bool needed, enum litifut_edge_part part)
{
	struct litifut_edge_place place =
		litifut_edge_place_of(judge->session, number, &judge->taken);
	const size_t item = judge->edges->count;
	const bool end = part == LITIFUT_EDGE_END;
	unsigned reason = function;
	struct litifut_edge *edge;

	if (!end && place.block->first_exclusive)
		reason = LITIFUT_SITE_EXCLUSIVE;
	edge = add_site(judge, number, true, end, reason);
	edge->needed = needed;
	edge->whole = part == LITIFUT_EDGE_WHOLE;
	place.may_shift = judge->judged && place.next && !judge->judged[number + 1];
	place.next_wanted = judge->judged && place.next && judge->wanted[number + 1];
	if (reason == LITIFUT_SITE_PATCHED)
		reason = judge->session->arch->edges->judge_entry(&place, edge);
	if (reason == LITIFUT_SITE_PATCHED && edge->shifts &&
	    !shift_start(judge, number + 1, edge->after)) {
		place.may_shift = edge->shifts = false;
		edge->after = 0;
		reason = judge->session->arch->edges->judge_entry(&place, edge);
	}
	litifut_edges_set_reason(judge, item, reason);
}

/* The first bytes of the block become the delay slot of the entry of the block before it, so its
 * start moves, and is recorded. False: that is not possible, and nothing has changed. */
static bool shift_start(struct litifut_edges_judge *judge, size_t number, uint8_t bytes)
{
	struct litifut_graph_block *block = &judge->edges->graph.items[number];
	const uint8_t reason = block->block.entered_reason;

	block->shift = bytes;
	judge->judged[number] = 1;
	if (litifut_edges_join_branch(judge, number)) {
		block->block.entered_reason = LITIFUT_SITE_PATCHED;
		return true;
	}
	litifut_edges_judge_entry(judge, number, LITIFUT_SITE_PATCHED, true, LITIFUT_EDGE_START);
	if (block->block.entered_reason == LITIFUT_SITE_PATCHED)
		return true;
	litifut_edges_drop_last(judge);
	block->block.entered_reason = reason;
	block->shift = 0;
	judge->judged[number] = 0;
	return false;
}

void litifut_edges_drop_last(struct litifut_edges_judge *judge)
{
	judge->edges->count--;
	judge->session->sites.count--;
}

void litifut_edges_add_strays(struct litifut_session *session)
{
	struct litifut_site_list *list = &session->sites;
	const struct litifut_graph *graph = &session->edges->graph;

	for (size_t i = 0; i < graph->stray_count; i++) {
		const struct litifut_graph_stray *stray = &graph->strays[i];

		list->items[list->count++] = (struct litifut_found_site){
			.site = {.address = stray->address,
				 .return_address = stray->address + stray->length,
				 .instruction =
					 instruction_word(session, stray->section, stray->thumb,
							  stray->address, stray->length),
				 .callee = stray->target,
				 .kind = LITIFUT_SITE_BRANCH,
				 .reason = LITIFUT_SITE_NO_FUNCTION,
				 .thumb = stray->thumb,
				 .length = stray->length,
				 .site_class = LITIFUT_SITE_CLASS_EDGE},
			.instruction = {.class = LITIFUT_CLASS_CALL_DIRECT,
					.length = 4,
					.thumb = stray->thumb},
			.section = stray->section,
		};
	}
}
