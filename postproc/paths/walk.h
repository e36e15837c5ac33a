/* Follows the code of a program along what LITIFUT_MODE=paths has recorded of it: from bits and
 * records to the blocks that were executed, in order, for each thread. */
#ifndef LITIFUT_POSTPROC_PATHS_WALK_H
#define LITIFUT_POSTPROC_PATHS_WALK_H

#include "postproc/paths/code.h"

enum post_path_kind {
	POST_PATH_BLOCK,  /* `block` is executed */
	POST_PATH_TAKEN,  /* and its conditional branch taken, */
	POST_PATH_PASSED, /* or not */
	POST_PATH_GAP     /* what comes before is not known, nor is who has called what follows */
};

struct post_path_step {
	enum post_path_kind kind;
	uint32_t thread;                   /* its id */
	const struct post_path_code *code; /* NULL with POST_PATH_GAP */
	uint32_t block;                    /* number in it */
	uint32_t depth;                    /* calls that are open */
};

struct post_path_totals {
	uint64_t blocks;
	uint64_t bits;
	uint64_t records;
	uint64_t words;
	uint64_t gaps;
	uint64_t bits_unused; /* in gaps */
};

/* Walks all threads of a process, in the order of their chunks. What does not fit together is
 * reported with its offset in the trace, and the walk goes on where it can begin anew. `totals` are
 * added to. */
void post_paths_walk(struct post_session *session, const struct post_process *process,
		     struct post_path_codes *codes,
		     void (*take)(void *context, const struct post_path_step *step), void *context,
		     struct post_path_totals *totals);

/* The same from chunk number `first` of trace->bits on. Each thread begins with a gap, at the first
 * word there that says where it is; from the next step on, all is as in a walk of the whole, but
 * for the calls that could not be found on the stack: where one of those returns is another gap. */
void post_paths_walk_from(struct post_session *session, const struct post_process *process,
			  size_t first, struct post_path_codes *codes,
			  void (*take)(void *context, const struct post_path_step *step),
			  void *context, struct post_path_totals *totals);

#endif
