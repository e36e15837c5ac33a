/* The list of edges while those of an image are judged: what is looked for, and in which order,
 * differs by mode (edges_paths.c, edges_flags.c, units.c). */
#ifndef LITIFUT_REWRITER_EDGES_JUDGE_H
#define LITIFUT_REWRITER_EDGES_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/session.h"

struct litifut_edge;
struct litifut_graph_block;
struct litifut_edges;

/* What stays the same meanwhile. */
struct litifut_edges_judge {
	struct litifut_session *session;
	struct litifut_edges *edges;
	struct litifut_targets taken;      /* every halfword that is changed already */
	size_t branches;                   /* edges before the first entry, by block */
	struct litifut_code_range *ranges; /* of this section */
	size_t range_count;
	uint16_t section;
	/* LITIFUT_MODE=paths, for each block: see struct litifut_paths; whether its start is
	 * recorded has been judged. NULL in other modes. */
	const uint8_t *wanted;
	uint8_t *judged;
};

/* What of a block an entry is. */
enum litifut_edge_part {
	LITIFUT_EDGE_START,
	LITIFUT_EDGE_END,  /* see `end` in struct litifut_edge */
	LITIFUT_EDGE_WHOLE /* and `whole` */
};

static inline void litifut_edges_take(struct litifut_targets *set, uint32_t address, uint32_t bytes)
{
	for (uint32_t at = 0; at < bytes; at += 2)
		litifut_targets_add(set, address + at);
}

/* Each adds an edge to the list and judges it, unless `function`, the reason why the function of
 * the block must be left, is not LITIFUT_SITE_PATCHED. That of a branch is for a conditional one
 * only. */
void litifut_edges_judge_branch(struct litifut_edges_judge *judge, size_t number,
				unsigned function);
void litifut_edges_judge_entry(struct litifut_edges_judge *judge, size_t number, unsigned function,
			       bool needed, enum litifut_edge_part part);

/* Is the branch at the end of the block conditional, and recorded? */
bool litifut_edges_is_recorded(const struct litifut_graph_block *block);

/* The edge of the branch at the end of the block, or NULL. */
struct litifut_edge *litifut_edges_branch_of(const struct litifut_edges_judge *judge,
					     size_t number);

/* Lets the edge of a branch, which has room, record the start of its block as well. False: it
 * can't.
 */
bool litifut_edges_join(struct litifut_edges_judge *judge, struct litifut_edge *edge);

/* The branch at the start of the block moves as a whole, and the entry with it. False: it does not.
 */
bool litifut_edges_join_branch(struct litifut_edges_judge *judge, size_t number);

/* Takes the edge that was added last from the list again; it has no room. */
void litifut_edges_drop_last(struct litifut_edges_judge *judge);

/* For places where only a 16-bit branch fits: nearby code makes room for the rest. */
enum litifut_status litifut_edges_find_stones(struct litifut_edges_judge *judge, bool entries,
					      struct litifut_error *error);

/* The same, first without the code that records, or may have to record, the start of a block in
 * `spared`: it can't do both. What finds no other code then may have that, too. */
enum litifut_status litifut_edges_find_sparing_stones(struct litifut_edges_judge *judge,
						      bool entries, const uint8_t *spared,
						      struct litifut_error *error);

/* Lists conditional branches that belong to no function. They have no edges, and stand behind the
 * sites that have. */
void litifut_edges_add_strays(struct litifut_session *session);

/* Why edge number `item` is not recorded, or LITIFUT_SITE_PATCHED. */
void litifut_edges_set_reason(struct litifut_edges_judge *judge, size_t item, unsigned reason);

#endif
