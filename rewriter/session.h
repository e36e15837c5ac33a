/* What measuring and patching both start from: an image that is opened, judged and decoded. */
#ifndef LITIFUT_REWRITER_SESSION_H
#define LITIFUT_REWRITER_SESSION_H

#include "rewriter/argument_sets.h"
#include "rewriter/exit_point.h"
#include "rewriter/reach.h"
#include "rewriter/sites.h"

struct litifut_edge_dead;
struct litifut_edges;

/* The assumed size of a room for trampolines before it has been measured. */
#define LITIFUT_ROOM_UNMEASURED UINT32_MAX

struct litifut_session {
	struct litifut_image image;
	const struct litifut_arch *arch;
	struct litifut_arch_context context;
	struct litifut_site_list sites;
	struct litifut_argument_sets arguments; /* of calls; none without LITIFUT_ARGS */
	struct litifut_landings landings;
	struct litifut_exits exits;  /* none where returns are not recorded */
	struct litifut_edges *edges; /* NULL: calls are recorded, not edges */
	bool flags_in_table;         /* of edges: they have one room, without heads of pieces; */
	uint32_t flags;              /* where flag 0 would stand, if that is known */
	/* For each symbol: why its function is not recorded, an enum litifut_site_reason; NULL: no
	 * reason is known. */
	uint8_t *left;
	/* For each symbol: not 0 where the start of its function is recorded, though nothing but
	 * calls leads there, since code of it was out of reach; NULL: there is none. */
	uint8_t *entered;
	bool all_entered; /* so it is for all functions to which the code has pointers */
	/* Starts of blocks that no code is in reach of for which an island would be of no use. */
	struct litifut_targets far;
	/* See struct litifut_edge_place. What is out of reach is found by trials, behind each of
	 * which all edges are judged again. */
	struct litifut_edge_dead *dead;
	uint32_t way_bytes; /* that edges_behind.c takes behind an island, at most */
	uint32_t tasks[2];  /* see struct litifut_edge_code */
	/* Functions that interrupts enter, and the tracer's code that records what is interrupted.
	 */
	uint32_t *handlers;
	size_t handler_count;
	uint32_t interrupt;
	/* LITIFUT_MODE=units: functions that interrupts enter, which are units. */
	uint32_t *events;
	size_t event_count;
	const uint32_t *fixed; /* instructions of 4 bytes that may not move; NULL: none */
	size_t fixed_count;
	const uint32_t *unlent; /* those that may move for an edge of their own block alone */
	size_t unlent_count;
	const struct litifut_symbol *room; /* for trampolines, beside the tracer; or NULL */
	struct litifut_symbol room_copy;   /* `room` leads to it; its size may be an assumed one */
	bool is_unmeasured;                /* how large the room will be is not known at all */
	const char *thunks_refused;        /* see struct litifut_rewrite_summary */
	const char *returns_refused;       /* likewise */
};

/* Opens the image at `path`, finds its call sites and the tracer in it. `assumed`: what is judged
 * by the size of the room for trampolines is judged as if it had so many bytes; NULL: it is as
 * large as it is. */
enum litifut_status litifut_session_open(const char *path,
					 const struct litifut_rewrite_options *options,
					 const uint32_t *assumed, struct litifut_session *session,
					 struct litifut_error *error);

/* Which thunk serves this call? None where the tracer has to see it before the callee
 * does. */
struct litifut_thunk litifut_session_thunk(const struct litifut_session *session,
					   const struct litifut_cramped_call *call);

void litifut_session_close(struct litifut_session *session);

#endif
