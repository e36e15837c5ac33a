/* LITIFUT_MODE=paths: which blocks must record that control comes to them, so that a reader who has
 * the program's code and a bit for each conditional branch can follow it from block to block.
 *
 * A function in which not all can be recorded that the reader needs is left: its calls are calls of
 * code that is not known, and what it calls can begin at any time, as a signal handler can. */
#ifndef LITIFUT_REWRITER_PATHS_H
#define LITIFUT_REWRITER_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "rewriter/callees.h"
#include "rewriter/graph.h"
#include "rewriter/session.h"

/* See struct litifut_arch_edges; NULL: there are none. */
typedef void litifut_add_addresses(const struct litifut_image *image,
				   const struct litifut_arch_context *context,
				   const struct litifut_section *section,
				   const struct litifut_code_range *ranges, size_t count,
				   const struct litifut_called *called,
				   struct litifut_targets *targets);

/* The same. */
typedef bool litifut_may_call(const struct litifut_image *image,
			      const struct litifut_arch_context *context,
			      const struct litifut_section *section, uint32_t start, uint32_t end,
			      uint32_t call, const char *const *names,
			      const struct litifut_spawners *places);

struct litifut_paths {
	const struct litifut_session *session;
	struct litifut_graph *graph;
	litifut_add_addresses *add_addresses;
	litifut_may_call *may_call;
	struct litifut_targets outer;   /* addresses that code and data may hold */
	struct litifut_targets reached; /* where code that is not followed leads */
	/* Calls of these (link-time, bit 0 clear) return more than once. */
	struct litifut_spawners twice;
	uint8_t *calls_twice; /* for each symbol: calls in it of what is not known may be such */
	uint8_t *left;        /* for each block: its function is left */
	/* For each block that is a label, and has no room to record that control comes there: so
	 * many blocks behind it, to which it leads, is the one that does so. A reader who finds a
	 * record of that block, though it is not a label, concludes that control has come by the
	 * label. At most LITIFUT_LATER_MOST. */
	uint8_t *later;
	uint8_t *wanted; /* for each block: enum litifut_block_entered; 0: nothing */
	uint8_t *ends;   /* for each symbol: it may end in code that is not known */
};

/* Release with litifut_paths_release(), on failure as well. Nothing is left yet. Callees of the
 * graph are known. */
enum litifut_status litifut_paths_start(const struct litifut_session *session,
					struct litifut_graph *graph,
					litifut_add_addresses *add_addresses,
					litifut_may_call *may_call,
					const struct litifut_called *called,
					struct litifut_paths *paths, struct litifut_error *error);

/* Fills `wanted` for what is left now, and for the entries that were judged so far: entered_reason
 * of their blocks. Nothing is less wanted than before. */
void litifut_paths_want(struct litifut_paths *paths);

/* Makes labels that are wanted and have no room `later`. False: there are none that can be. */
bool litifut_paths_put_off(struct litifut_paths *paths);

/* Leaves the function of block number `block`. */
void litifut_paths_leave(struct litifut_paths *paths, size_t block);

void litifut_paths_release(struct litifut_paths *paths);

#endif
