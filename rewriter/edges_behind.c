/* LITIFUT_MODE=paths: a function or a label to which a pointer, a table or code that is not
 * followed may lead records that control comes there. The code shows without that where a direct
 * call or a branch leads. So such a way leads to the code of the target's edge, behind the record,
 * where that is in reach: from the code of an edge, or by a changed instruction. Where it is not,
 * a way behind an island leads there. */
#include "rewriter/edges.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/callees.h"
#include "rewriter/edges_judge.h"

/* The block behind whose record the way leads that the block has to its target; NULL: there is
 * none. */
static const struct litifut_graph_block *skipped(const struct litifut_session *session,
						 const struct litifut_graph_block *block)
{
	const struct litifut_graph *graph = &session->edges->graph;
	const struct litifut_graph_block *target = NULL;

	if (!session->arch->edges->lead || !litifut_edges_skip_records(&session->context) ||
	    block->block.flags & LITIFUT_BLOCK_LEFT || block->spawns)
		return NULL;
	if (block->block.ends == LITIFUT_ENDS_CALL)
		target = litifut_callee_of(graph, block);
	else if (block->block.ends == LITIFUT_ENDS_BRANCH)
		target = litifut_graph_at(graph, block->block.target & ~1u);
	if (!target || !target->behind || target->spawns ||
	    (target->block.flags ^ block->block.flags) & LITIFUT_BLOCK_THUMB)
		return NULL;
	return target;
}

uint32_t litifut_edges_behind_target(const struct litifut_session *session,
				     const struct litifut_graph_block *block)
{
	const struct litifut_graph_block *target = skipped(session, block);

	return target ? target->behind | (target->block.flags & LITIFUT_BLOCK_THUMB ? 1 : 0) : 0;
}

/* Marks what is changed already, or has moved, or is changed when the program is loaded. */
static void take_changed(const struct litifut_session *session,
			 const struct litifut_changes *changes, struct litifut_targets *taken)
{
	const struct litifut_edges *edges = session->edges;

	for (size_t i = 0; i < changes->count; i++)
		litifut_edges_take(taken, changes->items[i].address, changes->items[i].length);
	for (size_t i = 0; i < edges->count; i++)
		if (session->sites.items[i].site.reason == LITIFUT_SITE_PATCHED)
			litifut_edges_take(taken, edges->items[i].address, edges->items[i].bytes);
	for (size_t i = 0; i < session->fixed_count; i++)
		litifut_edges_take(taken, session->fixed[i], 4);
}

/* A way behind the record of a start, which stands behind an island. */
struct way {
	uint32_t address;
	bool by_register; /* see write_way() */
	size_t next;      /* another way to there: its place in the list, + 1; 0: there is none */
};

struct ways {
	struct litifut_session *session;
	struct litifut_frames *frames;
	bool measures; /* there is room for all, and nothing is written */
	bool lacks_room;
	struct way *items;
	size_t count, capacity;
	size_t *first;  /* of each block: the last one made to there, as `next` has it */
	size_t *entry;  /* of each block: that of the edge of its start, + 1 */
	uint32_t *used; /* of each landing: bytes of ways behind the island */
};

static enum litifut_status ways_create(struct ways *ways, struct litifut_error *error)
{
	const struct litifut_session *session = ways->session;
	const struct litifut_edges *edges = session->edges;

	ways->first = calloc(edges->graph.count + 1, sizeof(*ways->first));
	ways->entry = calloc(edges->graph.count + 1, sizeof(*ways->entry));
	ways->used = calloc(session->landings.count + 1, sizeof(*ways->used));
	if (!ways->first || !ways->entry || !ways->used)
		return litifut_error_memory(error, session->image.path);
	for (size_t i = 0; i < edges->count; i++)
		if (edges->items[i].entry && !edges->items[i].end &&
		    session->sites.items[i].site.reason == LITIFUT_SITE_PATCHED)
			ways->entry[edges->items[i].block] = i + 1;
	return LITIFUT_OK;
}

static void ways_release(struct ways *ways)
{
	free(ways->items);
	free(ways->first);
	free(ways->entry);
	free(ways->used);
}

static bool lead_to(const struct ways *ways, struct litifut_edge_place *place, uint32_t address,
		    uint8_t *code)
{
	place->target = address;
	return ways->session->arch->edges->lead(place, code);
}

/* Makes a way to block number `to` behind one of the islands, which `place` leads to. False: no
 * room is within reach. */
static bool make_way(struct ways *ways, struct litifut_edge_place *place, size_t to,
		     bool by_register, uint8_t *code)
{
	static const struct litifut_targets none;
	struct litifut_session *session = ways->session;
	const struct litifut_edge_place start = litifut_edge_place_of(session, to, &none);
	const struct litifut_edge *edge =
		ways->entry[to] ? &session->edges->items[ways->entry[to] - 1] : NULL;

	bool full = false;

	for (size_t i = 0; i < session->landings.count; i++) {
		const struct litifut_symbol *island = session->landings.items[i].island;
		const uint32_t before = (uint32_t)session->arch->island_bytes + ways->used[i];
		const uint32_t address = island ? island->address + before : 0;
		const struct litifut_section *section;
		uint8_t bytes[LITIFUT_EDGE_WAY_BYTES];
		unsigned count;

		if (!island || !lead_to(ways, place, address, code))
			continue;
		count = session->arch->edges->write_way(&start, edge, address, by_register, bytes);
		if (!count)
			continue;
		if (!ways->measures && island->size - before < count) {
			full = true;
			continue;
		}
		ways->used[i] += count;
		if (session->way_bytes < ways->used[i])
			session->way_bytes = ways->used[i];
		ways->items[ways->count++] = (struct way){address, by_register, ways->first[to]};
		ways->first[to] = ways->count;
		if (ways->measures)
			return true;
		section = litifut_image_section_at(&session->image, address, count);
		memcpy(section->bytes + (address - section->address), bytes, count);
		litifut_frames_add(ways->frames, &(struct litifut_frame_code){
							 .start = address,
							 .bytes = count,
							 .instruction = start.block->block.start});
		return true;
	}
	ways->lacks_room |= full;
	return false;
}

/* Writes `code` so that it leads to block number `to` by a way behind an island. */
static bool lead_by_way(struct ways *ways, struct litifut_edge_place *place, size_t to,
			uint8_t *code)
{
	const struct litifut_session *session = ways->session;
	const struct litifut_arch_edges *arch = session->arch->edges;
	bool by_register;

	if (!litifut_edges_need_ways(session))
		return false;
	by_register = arch->holds(place, session->edges->graph.items[to].block.start);
	for (size_t i = ways->first[to]; i; i = ways->items[i - 1].next)
		if ((by_register || !ways->items[i - 1].by_register) &&
		    lead_to(ways, place, ways->items[i - 1].address, code))
			return true;
	if (ways->count == ways->capacity) {
		const size_t more = 2 * ways->capacity + 64;
		void *grown = realloc(ways->items, more * sizeof(*ways->items));

		if (!grown)
			return false;
		ways->items = grown;
		ways->capacity = more;
	}
	return make_way(ways, place, to, false, code) ||
	       (by_register && make_way(ways, place, to, true, code));
}

/* What is measured has other distances than the link that follows: ways are counted for all. */
static bool lead(struct ways *ways, struct litifut_edge_place *place, size_t to, uint8_t *code)
{
	return (ways->measures && lead_by_way(ways, place, to, code)) ||
	       lead_to(ways, place, litifut_edges_behind_target(ways->session, place->block),
		       code) ||
	       lead_by_way(ways, place, to, code);
}

enum litifut_status litifut_edges_lead_behind(struct litifut_session *session,
					      const struct litifut_rewrite_options *options,
					      const struct litifut_rooms *rooms,
					      struct litifut_frames *frames,
					      struct litifut_changes *changes,
					      struct litifut_error *error)
{
	struct litifut_graph *graph = &session->edges->graph;
	struct ways ways = {.session = session,
			    .frames = frames,
			    .measures = rooms->items[rooms->own].is_measured};
	struct litifut_targets taken;
	enum litifut_status status = litifut_targets_create(session->image.text_start,
							    session->image.text_end, &taken, error);

	if (!status)
		status = ways_create(&ways, error);
	if (status) {
		litifut_targets_release(&taken);
		ways_release(&ways);
		return status;
	}
	take_changed(session, changes, &taken);
	for (size_t i = 0; i < graph->count; i++) {
		struct litifut_edge_place place = litifut_edge_place_of(session, i, &taken);
		const struct litifut_graph_block *to = skipped(session, place.block);
		struct litifut_block *block = &graph->items[i].block;
		uint8_t code[4];

		if (!to || block->flags & LITIFUT_BLOCK_CONDITIONAL ||
		    !litifut_edge_is_free(&place, block->branch, sizeof(code)) ||
		    !lead(&ways, &place, (size_t)(to - graph->items), code))
			continue;
		litifut_changes_add(changes, block->branch, code, sizeof(code), place.target & ~1u,
				    block->flags & LITIFUT_BLOCK_THUMB ? LITIFUT_CODE_THUMB
								       : LITIFUT_CODE_PLAIN);
		block->flags |= LITIFUT_BLOCK_LEADS_BEHIND;
	}
	litifut_targets_release(&taken);
	ways_release(&ways);
	if (ways.lacks_room && options->all_in_reach)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, session->image.path, ".text",
					 LITIFUT_NO_ADDRESS,
					 "islands have no room for ways behind records");
	return LITIFUT_OK;
}
