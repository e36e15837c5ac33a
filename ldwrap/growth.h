/* Why a link that is repeated for want of room comes to an end. */
#ifndef LITIFUT_LDWRAP_GROWTH_H
#define LITIFUT_LDWRAP_GROWTH_H

#include "rewriter/rewriter.h"

/* The most links. The first has the room that was guessed, the second what was measured in the
 * first, the third islands that only a map can place; then each has a good deal more. */
#define GROWTH_LINKS 8
/* From this one on islands are as they are, and what is still out of reach stays so. */
#define GROWTH_LAST_ISLANDS 4

/* Adds room to the plan that was measured after link number `link` (1: the first), which had the
 * room of `last`. What a link needs depends on where its code stands, and so on the room that it
 * has: each link gets no less than the last one had, if that had been measured, and those after the
 * third more than they seem to need, up to eleven times as much. */
void growth_add(struct litifut_rewrite_plan *plan, const struct litifut_rewrite_plan *last,
		unsigned link);

#endif
