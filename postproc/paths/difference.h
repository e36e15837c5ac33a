/* Two groups of runs of a program, good ones and bad ones: where a bad one begins to differ, and
 * the paths that only bad ones have. */
#ifndef LITIFUT_POSTPROC_PATHS_DIFFERENCE_H
#define LITIFUT_POSTPROC_PATHS_DIFFERENCE_H

#include "postproc/paths/activations.h"
#include "postproc/paths/keys.h"

enum post_path_side { POST_PATH_GOOD, POST_PATH_BAD };

/* A place in the source: the line of an address. */
struct post_path_spot {
	const struct post_path_code *code; /* NULL: none */
	uint32_t address;                  /* link-time */
};

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

/* Where a thread of the first bad run differs from that of the good run that is the same for
 * longest. */
struct post_path_divergence {
	bool differs;
	uint64_t same; /* items */
	/* The last one that both have, and what follows in each; without code: the thread ends. */
	struct post_path_spot last, bad;
	char good[256];      /* "FILE:LINE", as its run is closed when this is shown */
	uint64_t activation; /* of the function of `last`, from 1 on, and where it was called */
	struct post_path_spot caller;
	uint32_t thread; /* id in the bad run */
};

/* All zero to start with. */
struct post_path_difference {
	struct post_session *sessions[2];
	struct post_path_codes codes[2];
	struct post_path_key_table keys[2];
	uint32_t runs[2];
	uint64_t gaps;
	/* After post_path_difference_make(): most telling first. */
	struct post_path_finding *findings;
	size_t count, capacity;
	struct post_path_divergence *divergences; /* by thread */
	size_t divergence_count;
	uint32_t good_pid, bad_pid; /* of the runs that `divergences` are of */
};

/* Walks all processes of both sides, each of which is a run. */
void post_path_difference_make(struct post_session *good, struct post_session *bad,
			       struct post_path_difference *difference);

/* "FILE:LINE", or the address in its module. Returns true if the line is known. */
bool post_path_spot_text(const struct post_session *session, const struct post_path_spot *spot,
			 char *text, size_t size);

void post_path_difference_release(struct post_path_difference *difference);

#endif
