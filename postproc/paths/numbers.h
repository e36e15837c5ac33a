/* What LITIFUT_MODE=balllarus has recorded: numbers of paths (<litifut/numbers_format.h>), and
 * which blocks each of them stands for. */
#ifndef LITIFUT_POSTPROC_PATHS_NUMBERS_H
#define LITIFUT_POSTPROC_PATHS_NUMBERS_H

#include "paths/numbering.h"
#include "postproc/paths/steps.h"

struct path_graph;

struct post_number_block {
	uint32_t block; /* number in the code */
	int8_t way;     /* its conditional branch was taken: 1, passed: 0; -1: it has none */
};

/* A path that was executed. */
struct post_number {
	const struct post_path_code *code; /* NULL: a gap: numbers before the next one are lost */
	uint32_t thread;
	uint32_t function; /* number of its first block */
	uint32_t id;
	const struct post_number_block *blocks; /* in the order in which they are executed */
	size_t block_count;
};

bool post_numbers_are_in(const struct post_session *session, const struct post_process *process);

/* Hands on all paths of a process, in the order in which they were recorded: each with its last
 * branch. */
void post_numbers_read(struct post_session *session, const struct post_process *process,
		       struct post_path_codes *codes,
		       void (*take)(void *context, const struct post_number *number),
		       void *context);

/* The same as steps of a walk, a path after the other, all at one depth. */
void post_numbers_walk(struct post_session *session, const struct post_process *process,
		       struct post_path_codes *codes,
		       void (*take)(void *context, const struct post_path_step *step),
		       void *context);

/* The graph of what the image records, and its numbers. Release both, on failure as well. False: no
 * memory. */
bool post_numbers_make(const struct post_image *image, struct path_graph *graph,
		       struct path_numbers *numbers);

#endif
