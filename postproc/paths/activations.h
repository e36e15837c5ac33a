/* From the steps of a walk to activations of functions, and to their acyclic paths: a path begins
 * where its function is entered or where a jump backward has led, and ends where the function is
 * left or with the next jump backward. Those of Ball and Larus are cut at the edges that close a
 * loop in the graph; here the order of addresses decides, so no graph is needed. */
#ifndef LITIFUT_POSTPROC_PATHS_ACTIVATIONS_H
#define LITIFUT_POSTPROC_PATHS_ACTIVATIONS_H

#include "postproc/paths/walk.h"

enum post_path_ending {
	POST_PATH_RETURNS, /* the function is left, also by a tail call or longjmp */
	POST_PATH_LOOPS,   /* control goes back to an earlier block of it */
	POST_PATH_STOPS    /* the recording ends */
};

struct post_path_activation {
	const struct post_path_code *code; /* NULL: a call whose function is not known */
	uint32_t function;                 /* number of its first block */
	size_t first;                      /* of the blocks of its path, in the thread's */
	bool partial;                      /* its path began in a gap */
	uint64_t began;                    /* steps of the thread before its path */
};

struct post_path_thread {
	uint32_t id;
	struct post_path_activation *open; /* the innermost last */
	size_t count, capacity;
	uint32_t *blocks; /* of the paths of all open activations, the innermost last */
	size_t block_count, block_capacity;
	uint64_t steps; /* blocks so far */
};

/* A path that has ended: that of thread->open[depth]. */
struct post_path_piece {
	const struct post_path_thread *thread;
	size_t thread_index; /* in the order in which threads have begun */
	size_t depth;
	const uint32_t *blocks;
	size_t count;
	enum post_path_ending ending;
	uint32_t loops_to; /* block, of POST_PATH_LOOPS */
};

/* All zero but for `take` and `context` to start with, for one process. */
struct post_path_tracker {
	void (*take)(void *context, const struct post_path_piece *piece); /* may be NULL */
	void *context;
	struct post_path_thread *threads;
	size_t count, capacity;
};

/* Returns true when the step is a block with which an activation begins. */
bool post_path_track(struct post_path_tracker *tracker, const struct post_path_step *step);

/* The thread of the last step; NULL: there was none with that id. */
const struct post_path_thread *post_path_thread(const struct post_path_tracker *tracker,
						uint32_t id);

/* Ends what is still open, and frees. */
void post_path_track_end(struct post_path_tracker *tracker);

#endif
