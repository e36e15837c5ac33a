/* Calls summed up: by caller and callee, and by function. */
#ifndef LITIFUT_POSTPROC_MEASURE_EDGES_H
#define LITIFUT_POSTPROC_MEASURE_EDGES_H

#include "postproc/model/session.h"

/* All calls from one function to another, whatever their sites. */
struct post_edge {
	uint32_t caller; /* function */
	uint32_t callee; /* function */
	uint64_t count;
	uint32_t sites; /* distinct call sites */
};

struct post_edges {
	struct post_edge *items; /* most calls first, then by name */
	size_t count, capacity;
	uint64_t total; /* calls */
};

/* Sums up what the filters leave. Release with post_edges_release(). */
void post_edges_collect(const struct post_session *session, struct post_edges *edges);
void post_edges_release(struct post_edges *edges);

/* What is known of one function. */
struct post_tally {
	uint32_t function;
	uint64_t calls;   /* how often it was called */
	uint64_t made;    /* how many calls it made */
	uint32_t callers; /* distinct functions that call it */
	uint32_t callees; /* distinct functions that it calls */
};

struct post_tallies {
	struct post_tally *items; /* by calls, then made, then name */
	size_t count;
};

/* Of every function that an edge touches. */
void post_tallies_collect(const struct post_session *session, const struct post_edges *edges,
			  struct post_tallies *tallies);
void post_tallies_release(struct post_tallies *tallies);

/* Orders two functions by name, module and address. */
int post_function_compare(const struct post_session *session, uint32_t a, uint32_t b);

#endif
