/* Between edges.c, units.c and edges_labels.c, while the edges of an image are judged. */
#ifndef LITIFUT_REWRITER_EDGES_JUDGE_H
#define LITIFUT_REWRITER_EDGES_JUDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rewriter/session.h"

struct litifut_edge;
struct litifut_edges;
struct litifut_paths;

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

/* Lets the edge of a branch, which has room, record the start of its block as well. False: it
 * can't.
 */
bool litifut_edges_join(struct litifut_edges_judge *judge, struct litifut_edge *edge);

/* Takes the edge that was added last from the list again; it has no room. */
void litifut_edges_drop_last(struct litifut_edges_judge *judge);

/* For places where only a 16-bit branch fits: nearby code makes room for the rest. */
enum litifut_status litifut_edges_find_stones(struct litifut_edges_judge *judge, bool entries,
					      struct litifut_error *error);

/* Why edge number `item` is not recorded, or LITIFUT_SITE_PATCHED. */
void litifut_edges_set_reason(struct litifut_edges_judge *judge, size_t item, unsigned reason);

/* LITIFUT_MODE=paths, in edges_labels.c: gives numbers to labels of the session's graph, whose
 * `entered` says what is recorded so far, and marks the jumps that lead to them. */
enum litifut_status litifut_edges_number_labels(const struct litifut_session *session,
						const struct litifut_paths *paths,
						struct litifut_error *error);

/* LITIFUT_MODE=units, in units.c: judges the edges of all units in place of those that the other
 * modes record. functions[i]: why the function of block number i must be left. */
enum litifut_status litifut_units_judge(struct litifut_edges_judge *judge,
					const struct litifut_rewrite_options *options,
					const uint8_t *functions, struct litifut_error *error);

#endif
