/* Judging edges, giving them flags, writing their code and their table: more than 500 lines in one
 * file, because each step works on the same list. */
#include "rewriter/edges.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/sections.h"
#include "rewriter/paths.h"
#include "rewriter/sites.h"

static void take(struct litifut_targets *set, uint32_t address, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += 2)
		litifut_targets_add(set, address + at);
}

/* What stays the same while the edges of an image are judged. */
struct judge {
	struct litifut_session *session;
	struct litifut_edges *edges;
	struct litifut_targets taken;
	size_t branches;                   /* edges before the first entry, by block */
	struct litifut_code_range *ranges; /* of this section */
	size_t range_count;
	uint16_t section;
};

struct litifut_edge_place litifut_edge_place_of(const struct litifut_session *session,
						size_t number, const struct litifut_targets *taken)
{
	const struct litifut_graph *graph = &session->edges->graph;
	const struct litifut_graph_block *block = &graph->items[number];
	const struct litifut_symbol *function = &session->image.symbols[block->function - 1];
	const struct litifut_graph_block *next =
		number + 1 < graph->count && block[1].block.start == block->block.end ? block + 1
										      : NULL;

	return (struct litifut_edge_place){
		.image = &session->image,
		.context = &session->context,
		.section = &session->image.sections[block->section],
		.graph = graph,
		.block = block,
		.next = next,
		.taken = taken,
		.function_end = litifut_image_function_end(&session->image, function),
		.far = session->far.bits && litifut_targets_has(&session->far, block->block.start),
	};
}

static uint32_t instruction_word(const struct litifut_session *session,
				 const struct litifut_graph_block *block, uint32_t address,
				 unsigned length)
{
	const struct litifut_section *section = &session->image.sections[block->section];
	const uint8_t *code = section->bytes + (address - section->address);
	const bool big = session->image.big_endian;

	if (length == 2)
		return litifut_get16(big, code);
	if (block->block.flags & LITIFUT_BLOCK_THUMB)
		return (uint32_t)litifut_get16(big, code) << 16 | litifut_get16(big, code + 2);
	return litifut_get32(big, code);
}

/* Lists the edge as a site, so that islands are planned for it and `litifut info` shows it. */
static struct litifut_edge *add_site(struct judge *judge, size_t number, bool entry,
				     unsigned reason)
{
	struct litifut_session *session = judge->session;
	struct litifut_site_list *list = &session->sites;
	const struct litifut_graph_block *block = &judge->edges->graph.items[number];
	const bool thumb = block->block.flags & LITIFUT_BLOCK_THUMB;
	const uint32_t address = entry ? block->block.start : block->block.branch;
	const unsigned least = thumb || block->block.end - address < 4 ? 2 : 4;
	const unsigned length = entry ? least : block->length;
	struct litifut_found_site *site = &list->items[list->count];
	struct litifut_edge *edge = &judge->edges->items[judge->edges->count++];

	*edge = (struct litifut_edge){.block = (uint32_t)number, .entry = entry};
	*site = (struct litifut_found_site){
		.site = {.address = address,
			 .return_address = entry ? address : block->block.end,
			 .instruction = instruction_word(session, block, address, length),
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

static enum litifut_status enter_section(struct judge *judge, uint16_t section,
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

static void set_reason(struct judge *judge, size_t item, unsigned reason)
{
	struct litifut_edge *edge = &judge->edges->items[item];
	struct litifut_block *block = &judge->edges->graph.items[edge->block].block;

	judge->session->sites.items[item].site.reason = (uint8_t)reason;
	if (edge->entry)
		block->entered_reason = (uint8_t)reason;
	else
		block->reason = (uint8_t)reason;
	if (reason == LITIFUT_SITE_PATCHED && !edge->stone_bytes)
		take(&judge->taken, edge->address, edge->bytes);
}

/* For places where only a 16-bit branch fits: nearby code makes room for the rest. */
static enum litifut_status find_stones(struct judge *judge, bool entries,
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
		take(&judge->taken, edge->address, 2);
		if (status || !session->arch->detour->find_stone(
				      &session->context, judge->ranges, judge->range_count,
				      &judge->edges->graph.targets, &judge->taken, &call))
			continue;
		edge->stone = call.stone;
		edge->stone_bytes = (uint8_t)call.stone_bytes;
		edge->bytes = 2;
		set_reason(judge, i, LITIFUT_SITE_PATCHED);
		take(&judge->taken, call.stone, call.stone_bytes);
	}
	return status;
}

/* The same for branches. First without the code that records, or may have to record, the start of a
 * block in `spared`: it can't do both. What finds no other code then may have that, too. */
static enum litifut_status find_branch_stones(struct judge *judge, const uint8_t *spared,
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
			take(&judge->taken, edge.address, edge.bytes);
	}
	status = find_stones(judge, false, error);
	litifut_targets_release(&judge->taken);
	judge->taken = taken;
	for (size_t i = 0; i < judge->edges->count; i++) {
		const struct litifut_edge *edge = &judge->edges->items[i];

		if (edge->stone_bytes) {
			take(&judge->taken, edge->address, edge->bytes);
			take(&judge->taken, edge->stone, edge->stone_bytes);
		}
	}
	return status ? status : find_stones(judge, false, error);
}

/* The branch at the end of the block; `function` is why its function must be left, or
 * LITIFUT_SITE_PATCHED. */
static void judge_branch(struct judge *judge, size_t number, unsigned function)
{
	const struct litifut_edge_place place =
		litifut_edge_place_of(judge->session, number, &judge->taken);
	unsigned reason = function;
	struct litifut_edge *edge;

	if (!(place.block->block.flags & LITIFUT_BLOCK_CONDITIONAL))
		return;
	if (place.block->exclusive)
		reason = LITIFUT_SITE_EXCLUSIVE;
	edge = add_site(judge, number, false, reason);
	if (reason == LITIFUT_SITE_PATCHED)
		reason = judge->session->arch->edges->judge_branch(&place, edge);
	set_reason(judge, judge->edges->count - 1, reason);
}

static bool is_recorded(const struct litifut_graph_block *block)
{
	return block->block.flags & LITIFUT_BLOCK_CONDITIONAL &&
	       block->block.reason == LITIFUT_SITE_PATCHED;
}

/* Is the block's own start to be recorded, as no recorded branch shows that it was reached? */
static bool wants_entry(const struct litifut_graph_block *block)
{
	return !is_recorded(block) &&
	       (block->block.flags & (LITIFUT_BLOCK_FUNCTION | LITIFUT_BLOCK_LABEL) ||
		block->unrecorded || block->behind_call);
}

static void judge_entry(struct judge *judge, size_t number, unsigned function, bool needed)
{
	const struct litifut_edge_place place =
		litifut_edge_place_of(judge->session, number, &judge->taken);
	unsigned reason = function;
	struct litifut_edge *edge;

	if (place.block->first_exclusive)
		reason = LITIFUT_SITE_EXCLUSIVE;
	edge = add_site(judge, number, true, reason);
	edge->needed = needed;
	if (reason == LITIFUT_SITE_PATCHED)
		reason = judge->session->arch->edges->judge_entry(&place, edge);
	set_reason(judge, judge->edges->count - 1, reason);
}

/* Blocks behind a conditional branch that is not recorded. */
static void lead_to_unrecorded(struct litifut_graph *graph)
{
	for (size_t i = 0; i < graph->count; i++) {
		struct litifut_graph_block *block = &graph->items[i];
		struct litifut_graph_block *next;

		if (!(block->block.flags & LITIFUT_BLOCK_CONDITIONAL) || is_recorded(block))
			continue;
		next = litifut_graph_at(graph, block->block.end);
		if (next)
			next->unrecorded = true;
		next = block->block.ends == LITIFUT_ENDS_BRANCH
			       ? litifut_graph_at(graph, block->block.target & ~1u)
			       : NULL;
		if (next)
			next->unrecorded = true;
	}
}

/* Judges all of the graph. */
static void judge_all(struct judge *judge, bool entries, const uint8_t *functions)
{
	const struct litifut_graph *graph = &judge->edges->graph;

	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];

		if (!entries)
			judge_branch(judge, i, functions[i]);
		else if (wants_entry(block))
			judge_entry(judge, i, functions[i], false);
	}
}

/* functions[i]: why the code of the function of block number i must be left. */
static void judge_functions(struct judge *judge, uint8_t *functions)
{
	struct litifut_session *session = judge->session;
	struct litifut_graph *graph = &judge->edges->graph;
	const struct litifut_arch_edges *arch = session->arch->edges;

	for (size_t first = 0, end; first < graph->count; first = end) {
		unsigned reason = LITIFUT_SITE_PATCHED;

		for (end = first + 1; end < graph->count &&
				      graph->items[end].function == graph->items[first].function;)
			end++;
		if (arch->judge_function)
			reason = arch->judge_function(&session->image, &session->context, graph,
						      first, end);
		if (session->left && session->left[graph->items[first].function])
			reason = session->left[graph->items[first].function];
		memset(functions + first, (int)reason, end - first);
	}
}

/* That of the branch at the end of the block, or NULL. */
static struct litifut_edge *branch_of(const struct judge *judge, size_t number)
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

/* The branch at the start of the block moves as a whole, and the entry with it. */
static bool joins_branch(struct judge *judge, size_t number)
{
	struct litifut_edge *edge = branch_of(judge, number);
	const struct litifut_graph_block *block = &judge->edges->graph.items[number];

	if (!edge || !is_recorded(block))
		return false;
	if (judge->session->arch->edges->join) {
		const struct litifut_edge_place place =
			litifut_edge_place_of(judge->session, number, &judge->taken);

		edge->enters = judge->session->arch->edges->join(&place, edge);
		if (edge->enters)
			take(&judge->taken, edge->address, edge->bytes);
	} else {
		edge->enters = edge->address == block->block.start && !edge->stone_bytes;
	}
	return edge->enters;
}

/* Does the block begin with a branch that needs a stone, and may yet get one? */
static bool may_join(const struct judge *judge, size_t number)
{
	const struct litifut_graph_block *block = &judge->edges->graph.items[number];
	const struct litifut_edge *edge = branch_of(judge, number);

	return edge && edge->wants_stone && !is_recorded(block) &&
	       edge->address == block->block.start;
}

/* Judges what the paths want and what was not judged yet; `waits`: without what a stone for a
 * branch may decide. */
static void judge_wanted(struct judge *judge, const struct litifut_paths *paths, uint8_t *judged,
			 uint8_t kind, bool waits)
{
	struct litifut_graph *graph = &judge->edges->graph;

	for (size_t i = 0; i < graph->count; i++) {
		if (paths->wanted[i] != kind || judged[i] || (waits && may_join(judge, i)))
			continue;
		judged[i] = 1;
		if (joins_branch(judge, i))
			graph->items[i].block.entered_reason = LITIFUT_SITE_PATCHED;
		else
			judge_entry(judge, i, LITIFUT_SITE_PATCHED, kind == LITIFUT_ENTERED_RECORD);
	}
}

/* Does code that is not followed jump into the middle of the function, and does that code make
 * calls as well? The reader could not know where the function returns to then. */
static bool is_shared(const struct judge *judge, const struct litifut_paths *paths,
		      const struct litifut_graph_block *block)
{
	return judge->session->arch->edges->shares_code &&
	       !(block->block.flags & LITIFUT_BLOCK_FUNCTION) &&
	       litifut_targets_has(&paths->reached, block->block.start);
}

/* Leaves functions in which something is missing. False: there are no more. */
static bool leave_incomplete(struct judge *judge, struct litifut_paths *paths)
{
	const struct litifut_graph *graph = &judge->edges->graph;
	bool left = false;

	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];

		if (paths->left[i] ||
		    (!(block->block.flags & LITIFUT_BLOCK_CONDITIONAL && !is_recorded(block)) &&
		     !is_shared(judge, paths, block) &&
		     !(paths->wanted[i] == LITIFUT_ENTERED_RECORD &&
		       block->block.entered_reason != LITIFUT_SITE_PATCHED)))
			continue;
		litifut_paths_leave(paths, i);
		left = true;
	}
	return left;
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

		if (!(block->flags & LITIFUT_BLOCK_LEFT) || *reason != LITIFUT_SITE_PATCHED)
			continue;
		*reason = LITIFUT_SITE_FUNCTION_LEFT;
		sites->items[i].site.reason = LITIFUT_SITE_FUNCTION_LEFT;
	}
}

/* Labels that the next block records need nothing themselves. */
static void drop_put_off(struct litifut_edges *edges, struct litifut_site_list *sites,
			 const struct litifut_paths *paths)
{
	size_t kept = 0;

	for (size_t i = 0; i < edges->count; i++) {
		const struct litifut_edge *edge = &edges->items[i];

		if (edge->entry && paths->later[edge->block] && !paths->wanted[edge->block] &&
		    !paths->left[edge->block]) {
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
	for (size_t i = 0; i < edges->count; i++) {
		const struct litifut_edge *edge = &edges->items[i];
		struct litifut_block *block = &edges->graph.items[edge->block].block;

		if (sites->items[i].site.reason != LITIFUT_SITE_PATCHED)
			continue;
		if (edge->entry || edge->enters)
			block->entered = paths->wanted[edge->block];
		if (!edge->entry)
			block->taken = block->passed = 1;
	}
}

/* Is the start of the function not code? Then it has code that an assembler has marked as data,
 * from which control comes to its blocks unseen. */
static bool begins_as_data(const struct judge *judge, size_t block)
{
	const struct litifut_graph *graph = &judge->edges->graph;
	const struct litifut_symbol *symbols = judge->session->image.symbols;
	const uint32_t function = graph->items[block].function;

	return (!block || graph->items[block - 1].function != function) &&
	       !litifut_graph_at(graph, symbols[function - 1].address & ~1u);
}

/* Judges entries for LITIFUT_MODE=paths, when branches have been judged. What a reader can't do
 * without comes first, then stepping stones for branches, which take room from others. */
static enum litifut_status judge_paths(struct judge *judge, const uint8_t *functions,
				       struct litifut_error *error)
{
	struct litifut_graph *graph = &judge->edges->graph;
	const bool stones = LITIFUT_ARCH_GET(judge->session->arch, detour, find_stone) != NULL;
	struct litifut_paths paths;
	uint8_t *judged = calloc(graph->count + 1, 1);
	uint8_t *spared = calloc(graph->count + 1, 1);
	enum litifut_status status = litifut_paths_start(
		judge->session, graph, judge->session->arch->edges->add_addresses,
		judge->session->arch->edges->may_call, &paths, error);
	bool branches = true;
	bool again = true;

	if (!status && (!judged || !spared))
		status = litifut_error_memory(error, judge->session->image.path);
	for (size_t i = 0; i < graph->count && !status; i++)
		if (!paths.left[i] &&
		    (functions[i] != LITIFUT_SITE_PATCHED || begins_as_data(judge, i)))
			litifut_paths_leave(&paths, i);
	litifut_paths_want(&paths);
	while (again && !status) {
		judge_wanted(judge, &paths, judged, LITIFUT_ENTERED_RECORD, stones && branches);
		for (size_t i = 0; i < judge->session->unlent_count; i++)
			take(&judge->taken, judge->session->unlent[i], 4);
		if (stones)
			status = find_stones(judge, true, error);
		if (!status && stones && branches) {
			for (size_t i = 0; i < graph->count; i++)
				spared[i] = !paths.left[i] && !judged[i] &&
					    (paths.wanted[i] == LITIFUT_ENTERED_BIT ||
					     graph->items[i].block.flags & LITIFUT_BLOCK_FUNCTION);
			status = find_branch_stones(judge, spared, error);
		}
		branches = false;
		judge_wanted(judge, &paths, judged, LITIFUT_ENTERED_RECORD, false);
		judge_wanted(judge, &paths, judged, LITIFUT_ENTERED_BIT, false);
		if (!status && stones)
			status = find_stones(judge, true, error);
		/* Not in firmware: an interrupt between the two blocks would be shown too early. */
		again = !status &&
			((judge->session->context.system && litifut_paths_put_off(&paths)) ||
			 leave_incomplete(judge, &paths));
		litifut_paths_want(&paths);
		for (size_t i = 0; i < graph->count && !again; i++)
			again = paths.wanted[i] && !judged[i];
	}
	if (!status)
		give_bits(judge->edges, &judge->session->sites, &paths);
	litifut_paths_release(&paths);
	free(judged);
	free(spared);
	return status;
}

/* The next flag of the room. */
static uint32_t next_flag(const struct litifut_session *session, uint32_t *last)
{
	do
		++*last;
	while (session->flags_in_table
		       ? *last < LITIFUT_FLAGS_HEAD || !((session->flags + *last) & 0xff)
		       : *last % LITIFUT_FLAGS_PIECE < LITIFUT_FLAGS_HEAD || !(*last & 0xff));
	return *last;
}

static void give_flags(struct litifut_session *session)
{
	struct litifut_edges *edges = session->edges;
	const struct litifut_site_list *sites = &session->sites;
	uint32_t last = session->flags_in_table ? LITIFUT_FLAGS_HEAD - 1 : 0;
	uint32_t count = 0;

	for (size_t i = 0; i < edges->count; i++) {
		struct litifut_block *block = &edges->graph.items[edges->items[i].block].block;

		if (sites->items[i].site.reason != LITIFUT_SITE_PATCHED)
			continue;
		if (edges->items[i].entry) {
			block->entered = next_flag(session, &last);
			count++;
		} else {
			count += 2;
			block->taken = next_flag(session, &last);
			block->passed = next_flag(session, &last);
		}
	}
	/* with as many left out as there can be at any address: the table has none yet in the plan
	 */
	edges->flags_bytes = session->flags_in_table
				     ? count + count / 255 + 1
				     : (last / LITIFUT_FLAGS_PIECE + 1) * LITIFUT_FLAGS_PIECE;
}

/* Judges entries for LITIFUT_MODE=coverage, when branches have been judged. */
static enum litifut_status judge_flags(struct judge *judge, const uint8_t *functions,
				       struct litifut_error *error)
{
	const struct litifut_graph *graph = &judge->edges->graph;
	const bool stones = LITIFUT_ARCH_GET(judge->session->arch, detour, find_stone) != NULL;
	enum litifut_status status = LITIFUT_OK;

	if (stones) {
		uint8_t *spared = calloc(graph->count + 1, 1);

		for (size_t i = 0; i < graph->count && spared; i++)
			spared[i] = functions[i] == LITIFUT_SITE_PATCHED &&
				    wants_entry(&graph->items[i]);
		status = spared ? find_branch_stones(judge, spared, error)
				: litifut_error_memory(error, judge->session->image.path);
		free(spared);
	}
	lead_to_unrecorded(&judge->edges->graph);
	judge_all(judge, true, functions);
	if (!status && stones)
		status = find_stones(judge, true, error);
	if (!status)
		give_flags(judge->session);
	return status;
}

static enum litifut_status reserve(struct judge *judge, struct litifut_error *error)
{
	struct litifut_session *session = judge->session;
	const size_t most = 2 * judge->edges->graph.count + 1;

	judge->edges->items = calloc(most, sizeof(*judge->edges->items));
	session->sites.items = calloc(most, sizeof(*session->sites.items));
	session->sites.capacity = most;
	for (size_t i = 0; i < judge->edges->graph.count; i++)
		session->sites.text_bytes += judge->edges->graph.items[i].block.end -
					     judge->edges->graph.items[i].block.start;
	return judge->edges->items && session->sites.items
		       ? LITIFUT_OK
		       : litifut_error_memory(error, session->image.path);
}

#define GRAIN_LEAST 4
#define GRAIN_MOST 7

/* The least with which the numbers are enough: for the room that there is, or that will be asked
 * for. */
static void choose_grain(struct litifut_session *session)
{
	const struct litifut_symbol *room =
		litifut_image_symbol(&session->image, LITIFUT_TRAMPOLINES);
	const uint32_t has = room ? room->size : 0;
	unsigned *grain = &session->context.grain;
	size_t least;

	if (*grain || !session->arch->edges->near_bytes)
		return;
	*grain = GRAIN_LEAST;
	least = litifut_edges_bytes(session);
	for (; session->context.cpu.position_independent && *grain < GRAIN_MOST; ++*grain) {
		const size_t bytes = has >= least ? has : litifut_edges_bytes(session) / 15 * 16;

		if (bytes <= (size_t)0x10000 << *grain)
			break;
	}
}

enum litifut_status litifut_edges_find(struct litifut_session *session,
				       const struct litifut_rewrite_options *options,
				       struct litifut_error *error)
{
	struct litifut_edges *edges = calloc(1, sizeof(*edges));
	struct judge judge = {.session = session, .edges = edges};
	enum litifut_status status;
	uint8_t *functions = NULL;

	session->edges = edges;
	if (!edges)
		return litifut_error_memory(error, session->image.path);
	status = litifut_graph_make(&session->image, session->arch, &session->context, options,
				    &edges->graph, error);
	if (!status)
		status = litifut_targets_create(session->image.text_start, session->image.text_end,
						&judge.taken, error);
	if (!status)
		status = reserve(&judge, error);
	if (!status) {
		functions = calloc(edges->graph.count + 1, sizeof(*functions));
		if (!functions)
			status = litifut_error_memory(error, session->image.path);
	}
	if (!status) {
		/* the room for trampolines is code as well, and is written to later */
		for (size_t i = 0; i < session->image.own_count; i++) {
			const struct litifut_symbol *own =
				&session->image.symbols[session->image.own[i]];

			/* what is in the file only has addresses that mean nothing */
			if (own->section < session->image.section_count &&
			    session->image.sections[own->section].flags & SHF_ALLOC &&
			    litifut_image_section_at(&session->image, own->address, own->size))
				take(&judge.taken, own->address, own->size);
		}
		for (size_t i = 0; i < session->fixed_count; i++)
			take(&judge.taken, session->fixed[i], 4);
		judge_functions(&judge, functions);
		judge_all(&judge, false, functions);
		judge.branches = edges->count;
	}
	if (!status)
		status = session->context.bits ? judge_paths(&judge, functions, error)
					       : judge_flags(&judge, functions, error);
	free(functions);
	free(judge.ranges);
	litifut_targets_release(&judge.taken);
	if (!status)
		choose_grain(session);
	return status;
}

/* Bytes of the code that edges share, a multiple of 16; 0: there is none. */
static uint32_t shared_bytes(const struct litifut_session *session)
{
	const struct litifut_arch_edges *arch = session->arch->edges;
	const uint32_t bytes =
		(uint32_t)(session->context.bits ? arch->bits_bytes : arch->mark_bytes);
	const uint32_t last = session->context.grain > 4 ? (1u << session->context.grain) - 1 : 15;

	return (bytes + last) & ~last;
}

/* The code that edges share is in reach of what stands so many bytes behind it. */
#define MARK_INTERVAL 0x10000u

static bool is_handler(const struct litifut_session *session,
		       const struct litifut_graph_block *block)
{
	for (size_t i = 0; i < session->handler_count; i++)
		if (session->handlers[i] == block->block.start)
			return true;
	return false;
}

/* Bytes of the code of edge number `item`, as if all were near it: the size does not depend on
 * where that is. */
static uint32_t edge_bytes(const struct litifut_session *session, size_t item)
{
	const struct litifut_arch_edges *arch = session->arch->edges;
	const struct litifut_targets none = {0};
	const struct litifut_edge *edge = &session->edges->items[item];
	const struct litifut_edge_place place = litifut_edge_place_of(session, edge->block, &none);
	const uint32_t start = place.block->block.start;
	const uint32_t bits = arch->bits_bytes ? start & ~15u : start | 1;
	struct litifut_edge_code code = {
		.flags = start & ~0xfffu,
		.mark = start & ~15u,
		.bits = {bits, bits, bits},
		.tasks = {session->tasks[0] ? bits : 0, session->tasks[1] ? bits : 0},
		.interrupt = is_handler(session, place.block) ? bits : 0,
		.gate = start & ~15u,
		.landings = &session->landings};

	return arch->write(&place, edge, start & ~15u, &code) ? code.bytes
							      : (uint32_t)arch->bytes_max;
}

/* A step makes the code of an entry longer by its bytes. */
#define STEPS_EACH 0x8000u

size_t litifut_edges_bytes(const struct litifut_session *session)
{
	size_t bytes = 0;

	for (size_t i = 0; session->edges && i < session->edges->count; i++)
		if (session->sites.items[i].site.reason == LITIFUT_SITE_PATCHED)
			bytes += edge_bytes(session, i);
	if (session->arch->edges->near_bytes)
		bytes += (session->image.text_end - session->image.text_start) / STEPS_EACH
			 << session->context.grain;
	return bytes + (bytes ? (bytes / MARK_INTERVAL + 2) * (shared_bytes(session) + 16) : 0);
}

struct writer {
	struct litifut_session *session;
	struct litifut_rooms *rooms;
	struct litifut_frames *frames;
	struct litifut_changes *changes;
	uint32_t flags;
	uint32_t mark; /* the last one made; 0: none */
	uint32_t bits[3];
	struct litifut_landings landings; /* those of the session, and steps */
	bool trial;                       /* nothing is changed: what is out of reach? */
	size_t far;                       /* so many are, */
	size_t helped;                    /* of which so many would not be with an island */
};

static enum litifut_status no_room(const struct writer *writer, struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_SPACE, writer->session->image.path, ".text",
				 LITIFUT_NO_ADDRESS, "room for the code of branches is not enough");
}

/* Copies the tracer's code that records bits. False: it is not as it must be. */
static bool copy_bits(const struct writer *writer, uint32_t address, uint8_t *place)
{
	const struct litifut_image *image = &writer->session->image;
	const uint32_t bytes = (uint32_t)writer->session->arch->edges->bits_bytes;
	const uint32_t from = writer->bits[0];
	const struct litifut_section *section = litifut_image_section_at(image, from, bytes);
	const struct litifut_symbol *distance = litifut_image_symbol(image, LITIFUT_BITS_DISTANCE);
	static const uint8_t plain[1]; /* DW_CFA_nop: its caller is where the link register leads */
	uint8_t *word;

	if (!section || !distance || distance->address < from ||
	    distance->address + 4 > from + bytes)
		return false;
	memcpy(place, section->bytes + (from - section->address), bytes);
	word = place + (distance->address - from);
	litifut_put32(image->big_endian, word,
		      litifut_get32(image->big_endian, word) + from - address);
	if (!writer->trial)
		litifut_frames_add_rules(writer->frames, address, bytes, plain, sizeof(plain));
	return true;
}

/* Writes another copy of the code that all edges share, after the code so far. */
static enum litifut_status make_mark(struct writer *writer, struct litifut_error *error)
{
	const struct litifut_session *session = writer->session;
	const uint32_t bytes = shared_bytes(session);
	uint32_t address;
	uint8_t *place = litifut_rooms_take(writer->rooms, bytes, &address);

	if (!place)
		return no_room(writer, error);
	memset(place, 0, bytes);
	if (!session->context.bits)
		session->arch->edges->write_mark(&session->context, address, place);
	else if (!copy_bits(writer, address, place))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, session->image.path, NULL,
					 writer->bits[0],
					 "the tracer is of another version than this rewriter");
	writer->mark = address;
	return LITIFUT_OK;
}

static void replace(struct writer *writer, const struct litifut_graph_block *block,
		    uint32_t address, const uint8_t *code, unsigned length, uint32_t entry)
{
	litifut_changes_add(writer->changes, address, code, length, entry,
			    block->block.flags & LITIFUT_BLOCK_THUMB ? LITIFUT_CODE_THUMB
								     : LITIFUT_CODE_PLAIN);
}

static void out_of_reach(struct writer *writer, size_t item)
{
	const struct litifut_edge *edge = &writer->session->edges->items[item];
	struct litifut_block *block = &writer->session->edges->graph.items[edge->block].block;

	writer->far++;
	writer->helped += !edge->near;
	if (writer->trial && edge->near) {
		litifut_targets_add(&writer->session->far, block->start);
		return;
	}
	if (writer->trial) {
		writer->session->left[writer->session->edges->graph.items[edge->block].function] =
			LITIFUT_SITE_OUT_OF_REACH;
		return;
	}
	writer->session->sites.items[item].site.reason = LITIFUT_SITE_OUT_OF_REACH;
	if (edge->entry) {
		block->entered = 0;
		block->entered_reason = LITIFUT_SITE_OUT_OF_REACH;
	} else {
		block->taken = block->passed = 0;
		block->reason = LITIFUT_SITE_OUT_OF_REACH;
	}
}

static enum litifut_status write_edge(struct writer *writer, size_t item,
				      struct litifut_error *error)
{
	static const struct litifut_targets none;
	struct litifut_session *session = writer->session;
	const struct litifut_arch_edges *arch = session->arch->edges;
	const struct litifut_edge *edge = &session->edges->items[item];
	const struct litifut_edge_place place = litifut_edge_place_of(session, edge->block, &none);
	struct litifut_rooms *rooms = writer->rooms;
	struct litifut_edge_code code = {
		.flags = writer->flags,
		.bits = {writer->bits[0], writer->bits[1], writer->bits[2]},
		.tasks = {session->tasks[0], session->tasks[1]},
		.interrupt = is_handler(session, place.block) ? session->interrupt : 0,
		.gate = rooms->items[rooms->own].address,
		.landings = &writer->landings};
	const struct litifut_detour *detour = &code.detour;
	const bool shared = shared_bytes(session) != 0;
	enum litifut_status status = LITIFUT_OK;
	bool done = false;
	uint32_t address;
	uint8_t *bytes;

	for (unsigned tries = 0; tries < (shared ? 2 : 1) && !done && !status; tries++) {
		const struct litifut_room *room = &rooms->items[rooms->own];

		/* with one that is near the edge fails for another reason */
		if (tries && room->address + room->used - writer->mark < MARK_INTERVAL)
			break;
		if (shared && (!writer->mark || tries))
			status = make_mark(writer, error);
		code.mark = writer->mark;
		for (unsigned i = 0; i < 3 && shared; i++)
			code.bits[i] = writer->mark + (writer->bits[i] - writer->bits[0]);
		if (!status)
			done = arch->write(&place, edge, room->address + room->used, &code);
	}
	if (status)
		return status;
	if (!done && edge->step && !writer->trial) /* others need it */
		return no_room(writer, error);
	if (!done) {
		out_of_reach(writer, item);
		return LITIFUT_OK;
	}
	bytes = litifut_rooms_take(rooms, code.bytes, &address);
	if (!bytes)
		return no_room(writer, error);
	/* ways onward may have been put in between */
	if (!arch->write(&place, edge, address, &code)) {
		out_of_reach(writer, item);
		return LITIFUT_OK;
	}
	if (writer->trial)
		return LITIFUT_OK;
	memcpy(bytes, code.code, code.bytes);
	session->sites.items[item].site.exit = address;
	if (detour->stone_bytes) {
		replace(writer, place.block, detour->address, detour->code, detour->length,
			detour->stone + 4);
		replace(writer, place.block, detour->stone, detour->stone_code, 4,
			detour->stone_trampoline);
		replace(writer, place.block, detour->stone + 4, detour->stone_code + 4,
			detour->stone_bytes - 4, address);
	} else {
		replace(writer, place.block, detour->address, detour->code, detour->length,
			detour->entry ? detour->entry : address);
	}
	if (edge->step) {
		uint8_t step[LITIFUT_EDGE_STEP_BYTES];

		if (!arch->write_step(&session->context, edge->address + LITIFUT_EDGE_STEP,
				      edge->step, step))
			return no_room(writer, error);
		replace(writer, place.block, edge->address + LITIFUT_EDGE_STEP, step, sizeof(step),
			edge->step);
	}
	for (unsigned i = 0; i < 2; i++)
		if (detour->frames[i].bytes)
			litifut_frames_add(writer->frames, &detour->frames[i]);
	return LITIFUT_OK;
}

/* The tracer's code that records bits. False: it is not linked in. */
static bool find_bits(struct writer *writer)
{
	static const char *const names[] = LITIFUT_BITS_SYMBOLS;

	for (unsigned i = 0; i < 3; i++) {
		const struct litifut_symbol *symbol =
			litifut_image_symbol(&writer->session->image, names[i]);

		if (!symbol)
			return false;
		writer->bits[i] = symbol->address | symbol->thumb;
	}
	return true;
}

struct place {
	uint32_t address; /* of the edge */
	uint32_t bytes;   /* of its code */
	size_t item;
	unsigned row; /* its code stands in such rows, one after the other */
};

enum row { ROW_STEP, ROW_BEFORE, ROW_FAR, ROW_BEHIND, ROW_LAST };

static int by_row(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->item < b->item ? -1 : a->item > b->item;
}

/* Code of edges before the room stands at its start, that of the nearest behind it at its end, and
 * in both ascending, so that the distance from an edge to its code is about the same for all. The
 * `places` are sorted by address; `end` is that of the room. */
static void choose_rows(const struct litifut_session *session, struct place *places, size_t count,
			uint32_t start, uint32_t end)
{
	const uint32_t reach = session->arch->edges->near_bytes;
	uint32_t bytes = 0;

	for (size_t i = 0; i < count && reach; i++) {
		places[i].row = session->edges->items[places[i].item].step ? ROW_STEP : ROW_BEFORE;
		if (places[i].address < start || places[i].row == ROW_STEP)
			continue;
		bytes += places[i].bytes;
		places[i].row =
			places[i].address - end < reach && bytes < reach ? ROW_BEHIND : ROW_FAR;
		if (session->edges->items[places[i].item].near)
			places[i].row = ROW_LAST;
	}
	if (count)
		qsort(places, count, sizeof(*places), by_row);
}

static enum litifut_status write_all(struct writer *writer, struct litifut_error *error)
{
	struct litifut_session *session = writer->session;
	const struct litifut_room *room = &writer->rooms->items[writer->rooms->own];
	const struct litifut_edges *edges = session->edges;
	struct place *places = calloc(edges->count + 1, sizeof(*places));
	enum litifut_status status =
		places ? LITIFUT_OK : litifut_error_memory(error, session->image.path);
	size_t count = 0;

	if (!status)
		status = litifut_edge_steps_choose(session, &writer->landings, error);
	for (size_t i = 0; i < edges->count && !status; i++)
		if (session->sites.items[i].site.reason == LITIFUT_SITE_PATCHED)
			places[count++] = (struct place){
				.address = edges->items[i].address,
				.bytes = edge_bytes(session, i),
				.item = i,
			};
	if (count)
		qsort(places, count, sizeof(*places), by_row);
	choose_rows(session, places, count, room->address, room->address + room->size);
	for (size_t i = 0; i < count && !status; i++)
		status = write_edge(writer, places[i].item, error);
	free(writer->landings.items);
	writer->landings.items = NULL;
	free(places);
	return status;
}

/* Leaves all functions of which something is out of reach: without the rest of it a reader can't do
 * anything with a function. What is left then may need more of others. */
static enum litifut_status leave_far(struct writer *writer,
				     const struct litifut_rewrite_options *options,
				     struct litifut_error *error)
{
	struct litifut_session *session = writer->session;
	struct litifut_rooms *rooms = writer->rooms;
	const uint32_t used = rooms->items[rooms->own].used;
	enum litifut_status status = LITIFUT_OK;

	if (!session->far.bits)
		status = litifut_targets_create(session->image.text_start, session->image.text_end,
						&session->far, error);
	if (status)
		return status;
	if (!session->left)
		session->left = calloc(session->image.symbol_count + 2, 1);
	if (!session->left)
		return litifut_error_memory(error, session->image.path);
	rooms->frames = NULL;
	writer->trial = true;
	do {
		writer->far = writer->helped = 0;
		writer->mark = 0;
		status = write_all(writer, error);
		rooms->items[rooms->own].used = used;
		if (!status && writer->helped && options->all_in_reach)
			status = litifut_error_set(error, LITIFUT_ERROR_SPACE, session->image.path,
						   ".text", LITIFUT_NO_ADDRESS,
						   "%zu branches are out of reach", writer->helped);
		if (!status && writer->far) {
			litifut_edges_release(session->edges);
			litifut_sites_release(&session->sites);
			status = litifut_edges_find(session, options, error);
		}
	} while (!status && writer->far);
	writer->trial = false;
	writer->mark = 0;
	rooms->frames = writer->frames;
	return status;
}

enum litifut_status litifut_edges_write(struct litifut_session *session,
					const struct litifut_rewrite_options *options,
					struct litifut_rooms *rooms, struct litifut_frames *frames,
					struct litifut_changes *changes,
					struct litifut_error *error)
{
	const struct litifut_symbol *flags =
		litifut_image_symbol(&session->image, LITIFUT_FLAGS_SYMBOL);
	struct writer writer = {
		.session = session, .rooms = rooms, .frames = frames, .changes = changes};

	if (rooms->own < rooms->count && session->context.bits && find_bits(&writer)) {
		enum litifut_status status = leave_far(&writer, options, error);

		return status ? status : write_all(&writer, error);
	}
	if (session->flags_in_table && rooms->own < rooms->count) {
		writer.flags = session->flags;
		return write_all(&writer, error);
	}
	if (!flags || flags->size < session->edges->flags_bytes || rooms->own == rooms->count)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, session->image.path, NULL,
					 LITIFUT_NO_ADDRESS, "room for flags is not enough");
	if (flags->address % 4096)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, session->image.path,
					 NULL, flags->address,
					 "the linker has not put the flags at the start of a page");
	writer.flags = flags->address;
	return write_all(&writer, error);
}

/* Is it code of the program, and not new code of the rewriter? */
static bool is_original(const struct litifut_session *session, const struct litifut_change *change)
{
	return !change->in_place &&
	       litifut_image_section_at(&session->image, change->address, change->length);
}

uint8_t *litifut_edges_table(const struct litifut_session *session,
			     const struct litifut_changes *changes, size_t *bytes)
{
	const struct litifut_graph *graph = &session->edges->graph;
	const struct litifut_symbol *flags =
		litifut_image_symbol(&session->image, LITIFUT_FLAGS_SYMBOL);
	struct litifut_blocks_header header = {
		.count = (uint32_t)graph->count,
		.flags_address = flags ? flags->address : 0,
		.flags_bytes = session->edges->flags_bytes,
	};
	const bool big = session->image.big_endian;
	uint8_t *table;
	uint8_t *at;

	for (size_t i = 0; i < changes->count; i++)
		header.originals += is_original(session, &changes->items[i]);
	*bytes = sizeof(header) + graph->count * sizeof(struct litifut_block) +
		 (size_t)header.originals * sizeof(struct litifut_original);
	table = malloc(*bytes);
	if (!table)
		return NULL;
	elf_write_blocks_header(big, table, &header);
	at = table + sizeof(header);
	for (size_t i = 0; i < graph->count; i++, at += sizeof(struct litifut_block))
		elf_write_block(big, at, &graph->items[i].block);
	for (size_t i = 0; i < changes->count; i++) {
		const struct litifut_change *change = &changes->items[i];
		struct litifut_original original = {change->address, change->length, {0}};
		const struct litifut_section *section =
			litifut_image_section_at(&session->image, change->address, change->length);

		if (!is_original(session, change))
			continue;
		memcpy(original.bytes, section->bytes + (change->address - section->address),
		       change->length);
		elf_write_original(big, at, &original);
		at += sizeof(original);
	}
	return table;
}

void litifut_edges_release(struct litifut_edges *edges)
{
	if (!edges)
		return;
	litifut_graph_release(&edges->graph);
	free(edges->items);
	free(edges);
}
