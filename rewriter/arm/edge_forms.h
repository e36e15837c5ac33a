/* The forms of ARM code at an edge. What is judged and what is written agree on each, because both
 * ask here. */
#ifndef LITIFUT_REWRITER_ARM_EDGE_FORMS_H
#define LITIFUT_REWRITER_ARM_EDGE_FORMS_H

#include "rewriter/arm/displaced.h"
#include "rewriter/edges.h"

#define LITIFUT_ARM_MOVED_MAX 6
#define LITIFUT_ARM_LR 14              /* the number of the link register */
#define LITIFUT_ARM_ALWAYS 0xe0000000u /* the condition of an A32 instruction that has none */

/* What an `it` makes conditional, of which the branch is the last. */
struct litifut_arm_conditional {
	uint32_t address; /* of the `it` */
	uint16_t shorter; /* the same without the branch; 0: there is the branch alone */
	uint16_t branch;  /* with its condition, without an offset */
};

/* What moves from the start of a block. */
struct litifut_arm_moved {
	struct litifut_arm_displaced items[LITIFUT_ARM_MOVED_MAX];
	unsigned count;
	unsigned bytes;
	bool with_end; /* the last of them is the end of the block */
};

/* The code at an address in the section of the edge. */
const uint8_t *litifut_arm_edge_code(const struct litifut_edge_place *place, uint32_t address);

/* The T32 instruction at an address. */
struct litifut_arm_displaced litifut_arm_edge_thumb(const struct litifut_edge_place *place,
						    uint32_t address);

/* The only way to other code is a bl. */
bool litifut_arm_edge_has_only_links(const struct litifut_edge_place *place);

/* May the T32 instruction be executed elsewhere? */
bool litifut_arm_edge_moves(const struct litifut_edge_place *place,
			    const struct litifut_arm_displaced *displaced);

/* May the end of a block, which is not conditional, be done elsewhere? */
bool litifut_arm_edge_ends_anywhere(const struct litifut_edge_place *place,
				    const struct litifut_graph_block *block);

/* False: there is something between the `it` and the branch that can't move, or no such condition
 * of a branch. */
bool litifut_arm_edge_find_conditional(const struct litifut_edge_place *place,
				       struct litifut_arm_conditional *found);

/* Collects at least `wanted` bytes from `start`, in the block; false: it is not possible. */
bool litifut_arm_edge_gather(const struct litifut_edge_place *place, uint32_t start,
			     unsigned wanted, struct litifut_arm_moved *moved);

/* A32 `add<cond> pc, pc, rN, lsl #2` */
bool litifut_arm_skips_branches(uint32_t word);

/* A32 `ldr<cond> pc, [pc, rN, lsl #2]` */
bool litifut_arm_reads_table(uint32_t word);

/* One of these two, whose cases are known: those that judging the function has labelled, and the
 * table of addresses that stands behind the next instruction. */
bool litifut_arm_edge_is_plain_switch(const struct litifut_edge_place *place);

#endif
