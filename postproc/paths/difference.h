/* Two groups of runs of a program, good ones and bad ones: where a bad one begins to differ, and
 * the paths that only bad ones have. */
#ifndef LITIFUT_POSTPROC_PATHS_DIFFERENCE_H
#define LITIFUT_POSTPROC_PATHS_DIFFERENCE_H

#include "postproc/paths/divergence.h"

#define POST_PATH_CALLERS 3

/* A path that only bad runs have. */
struct post_path_finding {
	const struct post_path_code *code;
	uint32_t function; /* number of its first block */
	struct post_path_key *items;
	bool *fresh; /* of each item: no good run has executed it */
	uint32_t count;
	uint64_t ending; /* private: stands for what follows the last item */
	struct post_path_spot callers[POST_PATH_CALLERS]; /* the innermost first; the first time */
	uint32_t runs;                                    /* bad ones that have it */
	uint32_t last_run;                                /* the last of them */
	uint64_t times;                                   /* in all of them */
	uint64_t first_at; /* steps of a run before its first end, the least of all runs */
	bool changed;      /* the function is not the same in the good program */
	bool unseen;       /* no good run went from one of its items to the next */
};

/* All zero to start with. */
struct post_path_difference {
	struct post_path_sides sides;
	uint32_t runs[2];
	uint64_t gaps;
	/* After post_path_difference_make(): most telling first. */
	struct post_path_finding *findings;
	size_t count, capacity;
	struct post_path_parting parting;
};

/* Walks all processes of both sides, each of which is a run. */
void post_path_difference_make(struct post_session *good, struct post_session *bad,
			       struct post_path_difference *difference);

void post_path_difference_release(struct post_path_difference *difference);

#endif
