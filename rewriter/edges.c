/* Which edges are recorded, and by which flag or bit (edges_write.c writes them). It is one file of
 * more than 500 lines, because each step judges the same list again: branches, then the starts of
 * blocks, then what the room of both leaves. */
#include "rewriter/edges.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/callees.h"
#include "rewriter/edges_judge.h"
#include "rewriter/exclusive_edges.h"
#include "rewriter/paths.h"
#include "rewriter/sites.h"
#include "rewriter/spawning.h"

#define TRAP_BYTES 4 /* of an instruction, at most */

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
		.dead = session->dead,
		.target = block->block.target,
	};
}

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

/* Lists conditional branches that belong to no function. They have no edges, and stand behind the
 * sites that have. */
static void add_strays(struct litifut_session *session)
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

/* The same, first without the code that records, or may have to record, the start of a block in
 * `spared`: it can't do both. What finds no other code then may have that, too. */
static enum litifut_status find_sparing_stones(struct litifut_edges_judge *judge, bool entries,
					       const uint8_t *spared, struct litifut_error *error)
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

/* The branch at the end of the block; `function` is why its function must be left, or
 * LITIFUT_SITE_PATCHED. */
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

void litifut_edges_drop_last(struct litifut_edges_judge *judge)
{
	judge->edges->count--;
	judge->session->sites.count--;
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
static void judge_all(struct litifut_edges_judge *judge, bool entries, const uint8_t *functions)
{
	const struct litifut_graph *graph = &judge->edges->graph;

	for (size_t i = 0; i < graph->count; i++) {
		const struct litifut_graph_block *block = &graph->items[i];

		if (!entries)
			litifut_edges_judge_branch(judge, i, functions[i]);
		else if (wants_entry(block))
			litifut_edges_judge_entry(judge, i, functions[i], false,
						  LITIFUT_EDGE_START);
	}
}

/* functions[i]: why the code of the function of block number i must be left. */
static void judge_functions(struct litifut_edges_judge *judge, uint8_t *functions)
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
static struct litifut_edge *branch_of(const struct litifut_edges_judge *judge, size_t number)
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

/* The branch at the start of the block moves as a whole, and the entry with it. */
static bool joins_branch(struct litifut_edges_judge *judge, size_t number)
{
	struct litifut_edge *edge = branch_of(judge, number);

	return edge && is_recorded(&judge->edges->graph.items[number]) &&
	       litifut_edges_join(judge, edge);
}

/* The first bytes of the block become the delay slot of the entry of the block before it, so its
 * start moves, and is recorded. False: that is not possible, and nothing has changed. */
static bool shift_start(struct litifut_edges_judge *judge, size_t number, uint8_t bytes)
{
	struct litifut_graph_block *block = &judge->edges->graph.items[number];
	const uint8_t reason = block->block.entered_reason;

	block->shift = bytes;
	judge->judged[number] = 1;
	if (joins_branch(judge, number)) {
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

/* Does the block begin with a branch that needs a stone, and may yet get one? */
static bool may_join(const struct litifut_edges_judge *judge, size_t number)
{
	const struct litifut_graph_block *block = &judge->edges->graph.items[number];
	const struct litifut_edge *edge = branch_of(judge, number);

	return edge && edge->wants_stone && !is_recorded(block) &&
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
		if (joins_branch(judge, i))
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
		    (!(block->block.flags & LITIFUT_BLOCK_CONDITIONAL && !is_recorded(block)) &&
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
	return find_sparing_stones(judge, true, spared, error);
}

/* Judges entries for LITIFUT_MODE=paths, when branches have been judged. What a reader can't do
 * without comes first, then stepping stones for branches, which take room from others. */
static enum litifut_status judge_paths(struct litifut_edges_judge *judge, const uint8_t *functions,
				       struct litifut_error *error)
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
			status = find_sparing_stones(judge, false, spared, error);
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
static enum litifut_status judge_flags(struct litifut_edges_judge *judge, const uint8_t *functions,
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
		status = spared ? find_sparing_stones(judge, false, spared, error)
				: litifut_error_memory(error, judge->session->image.path);
		free(spared);
	}
	lead_to_unrecorded(&judge->edges->graph);
	judge_all(judge, true, functions);
	if (!status && stones)
		status = litifut_edges_find_stones(judge, true, error);
	if (!status)
		give_flags(judge->session);
	return status;
}

static enum litifut_status reserve(struct litifut_edges_judge *judge, struct litifut_error *error)
{
	struct litifut_session *session = judge->session;
	const size_t most = 2 * judge->edges->graph.count + 1;

	judge->edges->items = calloc(most, sizeof(*judge->edges->items));
	session->sites.capacity = most + judge->edges->graph.stray_count;
	session->sites.items = calloc(session->sites.capacity, sizeof(*session->sites.items));
	for (size_t i = 0; i < judge->edges->graph.count; i++)
		session->sites.text_bytes += judge->edges->graph.items[i].block.end -
					     judge->edges->graph.items[i].block.start;
	return judge->edges->items && session->sites.items
		       ? LITIFUT_OK
		       : litifut_error_memory(error, session->image.path);
}

#define GRAIN_LEAST 4
#define GRAIN_MOST 7

/* The least with which the numbers are enough: for the room, or for what the code would take if all
 * were near it. */
static void choose_grain(struct litifut_session *session)
{
	const size_t has = session->room ? session->room->size : 0;
	unsigned *grain = &session->context.grain;

	if (*grain || !session->arch->edges->near_bytes)
		return;
	for (*grain = GRAIN_LEAST; session->context.cpu.position_independent && *grain < GRAIN_MOST;
	     ++*grain) {
		const size_t bytes = session->is_unmeasured ? litifut_edges_bytes(session) : has;

		if (bytes <= (size_t)0x10000 << *grain)
			break;
	}
}

enum litifut_status litifut_edges_find(struct litifut_session *session,
				       const struct litifut_rewrite_options *options,
				       struct litifut_error *error)
{
	struct litifut_edges *edges = calloc(1, sizeof(*edges));
	struct litifut_edges_judge judge = {.session = session, .edges = edges};
	enum litifut_status status;
	uint8_t *functions = NULL;

	session->edges = edges;
	if (!edges)
		return litifut_error_memory(error, session->image.path);
	if (!session->dead && session->arch->edges->near_bytes)
		session->dead =
			calloc((session->image.text_end - session->image.text_start) / 4 + 1,
			       sizeof(*session->dead));
	status = litifut_graph_make(&session->image, session->arch, &session->context, options,
				    &edges->graph, error);
	/* that of firmware has found them with its calls */
	if (!status && session->context.system)
		status = litifut_exclusive_functions(session, &edges->graph, error);
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
				litifut_edges_take(&judge.taken, own->address, own->size);
		}
		for (size_t i = 0; i < session->fixed_count; i++)
			litifut_edges_take(&judge.taken, session->fixed[i], 4);
		judge_functions(&judge, functions);
		if (!session->context.units)
			judge_all(&judge, false, functions);
		judge.branches = edges->count;
	}
	if (!status)
		status = session->context.units
				 ? litifut_units_judge(&judge, options, functions, error)
			 : session->context.bits ? judge_paths(&judge, functions, error)
						 : judge_flags(&judge, functions, error);
	free(functions);
	free(judge.ranges);
	litifut_targets_release(&judge.taken);
	if (!status) {
		choose_grain(session);
		add_strays(session);
	}
	return status;
}

void litifut_edges_release(struct litifut_edges *edges)
{
	if (!edges)
		return;
	litifut_graph_release(&edges->graph);
	litifut_numbers_release(&edges->numbers);
	free(edges->items);
	free(edges);
}
