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
	uint64_t cost_before;              /* of the thread when it was entered */
};

struct post_path_thread {
	uint32_t id;
	struct post_path_activation *open; /* the innermost last */
	size_t count, capacity;
	uint32_t *blocks; /* of the paths of all open activations, the innermost last */
	size_t block_count, block_capacity;
	uint64_t steps; /* blocks so far */
	uint64_t cost;  /* of all of them */
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

/* All zero but for the functions and `context` to start with, for one process. */
struct post_path_tracker {
	/* All may be NULL. Takes a path that has ended; */
	void (*take)(void *context, const struct post_path_piece *piece);
	/* an activation, the last one that is open, that ends next; */
	void (*leave)(void *context, const struct post_path_thread *thread);
	/* and says what a block costs. */
	uint64_t (*cost)(void *context, const struct post_path_code *code, uint32_t block);
	void *context;
	struct post_path_thread *threads;
	size_t count, capacity;
};

/* The block that has called activation number `depth` of those that are open; POST_NONE: it was not
 * called from a block that is known. */
uint32_t post_path_caller(const struct post_path_thread *thread, size_t depth);

/* Returns true when the step is a block with which an activation begins. */
bool post_path_track(struct post_path_tracker *tracker, const struct post_path_step *step);

/* The thread of the last step; NULL: there was none with that id. */
const struct post_path_thread *post_path_thread(const struct post_path_tracker *tracker,
						uint32_t id);

/* Ends what is still open, and frees. */
void post_path_track_end(struct post_path_tracker *tracker);

#endif
