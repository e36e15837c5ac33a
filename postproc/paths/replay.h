/* From the blocks that were executed to the numbers of paths that a recorder would have written:
 * calls, returns, and what enters functions otherwise are found again on the way. */
#ifndef LITIFUT_POSTPROC_PATHS_REPLAY_H
#define LITIFUT_POSTPROC_PATHS_REPLAY_H

#include "postproc/paths/executed.h"
#include "paths/numbering.h"

enum path_token_kind {
	PATH_ENTERS, /* an independent function is entered */
	PATH_ENDS,   /* a path of it has ended, and another one follows */
	PATH_LEAVES  /* the same, and it is left */
};

struct path_token {
	uint64_t id; /* of a path */
	uint32_t function;
	uint8_t kind; /* enum path_token_kind */
};

struct path_replay {
	struct path_token *tokens; /* owned, as all here */
	size_t token_count, token_capacity;
	uint8_t *branches; /* of each conditional branch that was executed: was it taken? */
	size_t branch_count, branch_capacity;
	uint64_t *activations; /* of each function */
	uint64_t *decisions;   /* branches and jumps that each has executed */
	uint64_t jumps;        /* by a register or a table, within a function */
	uint64_t jump_bits;    /* of their targets, as numbers of labels */
	uint64_t
		entered_unknown; /* calls whose callee the graph does not name, events, callbacks */
	uint64_t inner_loops;    /* activations of independent functions with loops that are not the
				    first of their stack */
	uint64_t equal;     /* paths whose number, decoded, gives the nodes that were executed */
	uint64_t different; /* and that gives others: a fault of this program */
	uint64_t cut;       /* activations that ended otherwise: longjmp, exceptions */
	uint64_t open;      /* that had not ended when the program did */
	uint64_t outside;   /* blocks to which nothing leads */
	bool again; /* a dependent function was entered otherwise, and is marked so in the graph:
		       number it again */
};

/* `flow` is that of the program, to mark functions in. Release with path_replay_release(). */
void path_replay_run(const struct path_program *program, struct path_flow *flow,
		     const struct path_numbers *numbers, const struct path_executed *executed,
		     struct path_replay *replay);
void path_replay_release(struct path_replay *replay);

#endif
