/* Ball-Larus numbers: each acyclic path through a function has a number, from 0 to before the
 * number of such paths, which is what is added up along its edges. A path begins where the function
 * is entered, or where the last one has ended; it ends where the function is left, or with an edge
 * that closes a loop.
 *
 * Interprocedural numbers ("Diagnostic tracing for wireless sensor networks", 2013) have one
 * version of each function. The paths of a dependent function are part of its callers' paths: a
 * node that calls one with n paths has n times as many paths as what follows. An independent
 * function is recorded apart. */
#ifndef LITIFUT_PATHS_NUMBERING_H
#define LITIFUT_PATHS_NUMBERING_H

#include "paths/flow.h"

/* Why a function is independent. */
enum path_reason {
	PATH_DEPENDENT = 0,
	PATH_LOOP = 1,
	PATH_RECURSION = 2,
	PATH_CALLER = 4,    /* a function calls it that is not traced */
	PATH_OTHERWISE = 8, /* nothing in the graph calls it, or not only that */
	PATH_LARGE = 16,    /* with it, numbers of callers do not fit; or its own do not */
	PATH_UNTRACED = 32,
	PATH_ALL = 64 /* intraprocedural: all are */
};

struct path_function_numbers {
	uint64_t paths;   /* 0: it is not traced */
	unsigned reasons; /* enum path_reason, several */
	uint32_t loops;   /* edges that close one */
	uint32_t cuts;    /* further edges that end a path, so that numbers fit */
};

struct path_numbers {
	const struct path_flow *flow; /* must stay */
	struct path_function_numbers *functions;
	uint32_t independent; /* how many functions are, of those that are traced */
	uint64_t *follow;     /* of a node: the paths that follow it, calls in it left aside */
	uint64_t *edge_value; /* what an edge adds */
	bool *edge_ends;      /* a path ends with this edge */
	/* Of a node that such an edge leads to, and of the first node (0): with what a path
	 * begins. UINT64_MAX: none begins there. */
	uint64_t *start;
};

struct path_options {
	bool interprocedural;
	unsigned id_bits; /* of the largest number, 8 to 64; 0: 64. What can't have less has more */
};

/* Release with path_numbers_release(), on failure as well. False: no memory. */
bool path_numbers_make(const struct path_flow *flow, const struct path_options *options,
		       struct path_numbers *numbers);
void path_numbers_release(struct path_numbers *numbers);

static inline bool path_is_dependent(const struct path_numbers *numbers, uint32_t function)
{
	return function != PATH_UNKNOWN && !numbers->functions[function].reasons;
}

/* Bits of the largest number that is less than `count`. */
unsigned path_bits(uint64_t count);

/* An activation of a function: where it is, and what has been added up. */
struct path_place {
	uint32_t node; /* PATH_EXIT: it has been left */
	uint64_t id;
};

static inline struct path_place path_begin(const struct path_numbers *numbers, uint32_t function)
{
	return (struct path_place){.node = numbers->flow->functions[function].first};
}

/* The dependent function that the node calls has been left, with this number. */
void path_returned(const struct path_numbers *numbers, struct path_place *place, uint64_t id);

/* Goes on through an edge of the node. True: a path has ended, and that is its number. */
bool path_follow(const struct path_numbers *numbers, struct path_place *place, uint32_t edge,
		 uint64_t *ended);

/* The nodes of a path, those of dependent functions in between, as they are entered. Returns how
 * many there are; no more than `room` are written. */
size_t path_decode(const struct path_numbers *numbers, uint32_t function, uint64_t id,
		   uint32_t *nodes, size_t room);

#endif
