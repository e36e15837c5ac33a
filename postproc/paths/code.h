/* The code of a module as LITIFUT_MODE=paths records it: blocks, what leads from one to another,
 * and the code that the rewriter has made for their edges. */
#ifndef LITIFUT_POSTPROC_PATHS_CODE_H
#define LITIFUT_POSTPROC_PATHS_CODE_H

#include "postproc/model/session.h"
#include "postproc/paths/frames.h"

struct post_path_block {
	struct litifut_block block;
	uint32_t target;   /* number of the block; POST_NONE: control can't be followed there */
	uint32_t next;     /* the same of the one behind it */
	uint32_t function; /* the number of the first block of its function */
	/* Of the first block of a function in which blocks record numbers: how many bits each has,
	 * and the place in `numbered` of that with number 0. */
	uint8_t number_bits;
	uint32_t numbers;
	/* It ends in a call or a jump through a pointer, and not by a name or a table. */
	bool pointer;
	const char *callee; /* the name by which it leads to a function; NULL: not known */
};

/* Where the code for an edge begins, ascending. */
struct post_path_edge {
	uint32_t address;
	uint32_t block;
	bool entry; /* the start of the block, and nothing else */
	bool both;  /* the start of the block, and then its branch */
	bool end;   /* LITIFUT_MODE=units: the end of the block */
};

struct post_path_code {
	uint32_t module;
	const struct post_image *image; /* NULL: without blocks */
	const struct cpu *cpu;          /* NULL: without blocks */
	struct post_path_block *blocks;
	size_t count;
	struct path_frame *frames; /* of each block; NULL: nothing is known of them */
	struct post_path_edge *edges;
	size_t edge_count;
	uint32_t *numbered; /* blocks, by their numbers in their functions; POST_NONE: there is none
			     */
};

struct post_path_codes {
	struct post_path_code **items; /* by number of the module; NULL: not asked for yet */
	size_t count;
};

/* The code of module number `module`; without blocks if its file has none, which is reported once.
 */
const struct post_path_code *post_path_code(struct post_path_codes *codes,
					    struct post_session *session, uint32_t module);

/* Does the block make a record where it is entered, or its number in the place of one? */
static inline bool post_path_makes_record(const struct post_path_block *block)
{
	return LITIFUT_ENTERED_KIND(block->block.entered) >= LITIFUT_ENTERED_RECORD;
}

/* The edge whose code has the link-time address, or NULL. */
const struct post_path_edge *post_path_edge(const struct post_path_code *code, uint32_t address);

/* Has the module that was found (`code`, which may be NULL) no list of blocks, as its file is not
 * here? That has been reported, and is why its words say nothing. */
bool post_path_is_without_file(const struct post_path_code *code);

void post_path_codes_release(struct post_path_codes *codes);

#endif
