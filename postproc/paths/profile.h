/* How many instructions each block has executed, and with which calls, in the traces of
 * LITIFUT_MODE=paths: exactly. */
#ifndef LITIFUT_POSTPROC_PATHS_PROFILE_H
#define LITIFUT_POSTPROC_PATHS_PROFILE_H

#include "postproc/paths/activations.h"
#include "postproc/paths/lines.h"

struct post_path_block_cost {
	uint32_t *instructions; /* of each of its lines; NULL: it was not executed */
	uint32_t all;
	uint64_t executed;
	uint64_t begun; /* activations that began with it */
};

/* Calls from a block to a function. */
struct post_path_calls {
	const struct post_path_code *caller, *callee;
	uint32_t block;    /* of the caller */
	uint32_t function; /* the callee's first block */
	uint64_t count, cost;
};

struct post_path_module_costs {
	const struct post_path_code *code; /* NULL: nothing of it was executed */
	uint8_t *plain;
	struct post_path_block_cost *blocks;
};

struct post_path_profile {
	struct post_session *session;
	struct post_path_codes codes;
	struct post_path_line_table lines;
	struct post_path_module_costs *modules; /* by number */
	size_t module_count;
	struct post_path_calls *calls; /* by module and block of the caller */
	size_t call_count, call_capacity;
	/* Private. */
	struct post_path_tracker tracker;
	struct post_table index;
};

/* Is there such a trace? */
bool post_path_profile_possible(const struct post_session *session);

/* Of all traces. Release with post_path_profile_release(). */
void post_path_profile_collect(struct post_session *session, struct post_path_profile *profile);
void post_path_profile_release(struct post_path_profile *profile);

/* The instructions that the blocks [first, end) of a module have executed, without calls. */
uint64_t post_path_profile_sum(const struct post_path_module_costs *module, uint32_t first,
			       uint32_t end);

/* The number of the first block behind the function that `first` is in. */
uint32_t post_path_profile_end(const struct post_path_code *code, uint32_t first);

/* The address of the instruction of a block that has made a call. */
uint32_t post_path_calls_site(const struct post_path_calls *calls);

/* The number of a function of the session, by its first block. */
uint32_t post_path_profile_function(const struct post_path_profile *profile,
				    const struct post_path_code *code, uint32_t block);

#endif
