/* Which code was executed, by the flags of edges: LITIFUT_MODE=coverage. */
#ifndef LITIFUT_POSTPROC_MEASURE_COVERAGE_H
#define LITIFUT_POSTPROC_MEASURE_COVERAGE_H

#include "postproc/model/session.h"

enum post_coverage_state { POST_NOT_KNOWN = 0, POST_NOT_EXECUTED, POST_EXECUTED };

/* One block of the code of a module, and what all processes made of it. */
struct post_covered_block {
	struct litifut_block block;
	uint8_t state; /* enum post_coverage_state; NOT_KNOWN: nothing says that it was executed */
	bool entered;  /* what the flags say, where there are some */
	bool taken;
	bool passed;
	bool sends; /* its call sends the flags, and leads to what they do not have yet */
	/* Where paths are recorded: it was executed so often, and its branch was taken and passed.
	 */
	uint64_t times, times_taken, times_passed;
};

struct post_covered_module {
	uint32_t module;
	const struct post_image *image;    /* its file; NULL: not known, and there are no blocks */
	struct post_covered_block *blocks; /* in the order of those of the file */
	size_t count;
	uint32_t send_function, send; /* as in struct post_trace */
	bool walked;                  /* a trace of LITIFUT_MODE=paths says what was executed */
};

struct post_coverage {
	struct post_covered_module *modules;
	size_t count, capacity;
};

/* Adds up the flags of all traces. Problems: modules whose file, or its list of blocks, is not
 * there. */
void post_coverage_collect(struct post_session *session, struct post_coverage *coverage);

/* Is it a conditional branch of which both ways are recorded? */
static inline bool post_coverage_is_branch(const struct post_covered_block *block)
{
	return block->block.flags & LITIFUT_BLOCK_CONDITIONAL && block->block.taken;
}

/* A function: the blocks from one that begins a function to before the next. */
struct post_covered_function {
	size_t first, end;
	unsigned branches; /* recorded, both ways of each counted */
	unsigned ways;     /* of them that were gone */
};

/* The function that begins at block number `first`, or with the first one behind it that begins
 * one. False: there are no more. */
bool post_coverage_function(const struct post_covered_module *module, size_t first,
			    struct post_covered_function *function);

void post_coverage_release(struct post_coverage *coverage);

#endif
