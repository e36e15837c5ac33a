/* What one run takes in each encoding of "Diagnostic tracing for wireless sensor networks" (2013),
 * and in bits of branches. */
#ifndef LITIFUT_POSTPROC_PATHS_SIZES_H
#define LITIFUT_POSTPROC_PATHS_SIZES_H

#include "postproc/paths/compress.h"
#include "postproc/paths/replay.h"

/* Entries of 16 bits, as nodes write them: two bits say what an entry is, and of a path whether its
 * function is left; what does not fit goes on in further entries. */
struct path_entries {
	uint16_t *items; /* owned */
	size_t count, capacity;
};

/* Of the tokens of a replay. */
void path_entries_make(const struct path_numbers *numbers, const struct path_replay *replay,
		       struct path_entries *entries);

/* Bits of one token where each has as many as it needs. */
unsigned path_token_bits(const struct path_numbers *numbers, const struct path_token *token);

#define PATH_MR_FIRST 17u /* bits of an entry of Melski and Reps that sizes are given for, and */
#define PATH_MR_LAST 32u  /* the last one */

/* In bits. */
struct path_sizes {
	uint64_t node_md, node_md_variable;
	uint64_t lis_local, lis_global;
	uint64_t tiny, tiny_variable;
	uint64_t melski_reps[PATH_MR_LAST - PATH_MR_FIRST + 1];
	uint64_t branches;     /* one bit each */
	uint64_t jumps;        /* the numbers of labels that jumps went to */
	uint64_t unknown;      /* 16 bits for each function that is entered otherwise */
	uint64_t predicted[3]; /* branches, with tables of 128 bytes, 512 bytes and 8 KB */
};

/* `replays` and `numbers`: of intraprocedural and interprocedural numbers of the same graph. */
void path_sizes_make(const struct path_flow *flow, const struct path_numbers numbers[2],
		     const struct path_replay replays[2], struct path_sizes *sizes);

#endif
