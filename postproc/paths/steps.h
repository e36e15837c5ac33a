/* What a walk along a path hands on. */
#ifndef LITIFUT_POSTPROC_PATHS_STEPS_H
#define LITIFUT_POSTPROC_PATHS_STEPS_H

#include "postproc/paths/code.h"

enum post_path_kind {
	POST_PATH_BLOCK,  /* `block` is executed */
	POST_PATH_TAKEN,  /* and its conditional branch taken, */
	POST_PATH_PASSED, /* or not */
	POST_PATH_GAP, /* what comes before is not known, and the caller of what follows is not */
	/* `block` is executed if the thread has gone on so far, which is not recorded: it may have
	 * crashed or ended before */
	POST_PATH_POSSIBLE
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

#endif
