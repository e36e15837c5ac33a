/* --order: the traces of several nodes as one timeline, ordered by the calls of functions that the
 * user names (postproc/paths/order.h). A node is a process, or a capture of a firmware. */
#ifndef LITIFUT_POSTPROC_FORMATS_NODES_H
#define LITIFUT_POSTPROC_FORMATS_NODES_H

#include "postproc/formats/flows.h"
#include "postproc/formats/format.h"
#include "postproc/paths/order.h"
#include "postproc/paths/steps.h"

/* A thread of a process, or all that a firmware does: its order is known. */
struct post_node_lane {
	uint32_t process, thread;
};

struct post_nodes {
	struct post_output *output;
	char **labels;            /* by process */
	uint32_t *given;          /* processes, in the order in which they were given */
	bool *gaps;               /* by process: its recording has some */
	struct post_flows *pairs; /* those of the options */
	struct post_order order;
	struct post_node_lane *lanes; /* as many as the order has */
	size_t lane_capacity;
	struct post_node_function *functions; /* by number: what is known of them */
	size_t function_count;
};

/* Is it asked for? */
bool post_nodes_wanted(const struct post_output *output);

void post_nodes_start(struct post_nodes *nodes, struct post_output *output);

/* The lane of a thread, which may be new; its steps are counted by whoever takes them. */
size_t post_nodes_lane(struct post_nodes *nodes, uint32_t process, uint32_t thread);

/* The next step of the lane begins a call of a function. */
void post_nodes_call(struct post_nodes *nodes, size_t lane, uint32_t function);

/* Hands on all pieces as post_order_run() does, and says which calls do not fit, and how many
 * messages were lost. */
void post_nodes_run(struct post_nodes *nodes,
		    void (*piece)(void *context, size_t lane, size_t first, size_t end),
		    void *context);

/* All that was executed, in that order. */
void post_nodes_walk(struct post_nodes *nodes, struct post_path_codes *codes,
		     void (*take)(void *context, uint32_t process,
				  const struct post_path_step *step),
		     void *context);

void post_nodes_release(struct post_nodes *nodes);

#endif
