/* One timeline of several nodes that have no common clock. What orders them are the calls by which
 * they send and receive: the k-th message that a node receives comes after k messages that the
 * other nodes have sent. That is so whatever was lost. Where messages were lost, a call that
 * receives stands behind as many more as were lost in all, if the nodes can go on so long without
 * it: then it is behind the very one that it receives, provided that messages do not overtake each
 * other. */
#ifndef LITIFUT_POSTPROC_PATHS_ORDER_H
#define LITIFUT_POSTPROC_PATHS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct post_order_call {
	size_t at;     /* the number of the step with which the call begins */
	uint32_t pair; /* of functions: one that sends, one that receives */
	bool sends;
};

/* Steps that follow each other: of a node, or of one of its threads. */
struct post_order_lane {
	uint32_t node;
	size_t steps;
	struct post_order_call *calls; /* by `at` */
	size_t call_count, call_capacity;
};

/* All zero, but for the counts, to begin with. */
struct post_order {
	uint32_t node_count, pair_count;
	struct post_order_lane *lanes;
	size_t lane_count, lane_capacity;
};

/* Calls that receive and do not fit. The first one is call `number` (from 1) of its pair in its
 * node, for which the other nodes have sent `sent` messages. */
struct post_order_misfit {
	uint64_t count;
	uint32_t node, pair;
	uint64_t number, sent;
};

struct post_order_result {
	/* By pair * node_count + node; owned. */
	uint64_t *sent, *received;
	/* More messages are received than all other nodes send. */
	struct post_order_misfit missing;
	/* Nodes wait for each other: no order is possible. */
	struct post_order_misfit contrary;
};

/* Returns the number of a new lane. */
size_t post_order_add_lane(struct post_order *order, uint32_t node);

/* Adds a call to a lane, behind those that it has. */
void post_order_add_call(struct post_order *order, size_t lane, size_t at, uint32_t pair,
			 bool sends);

/* Hands on all steps, as pieces of a lane from step `first` to before `end`, in an order that fits.
 * Of what could be in any order, the piece of the lane of which the smaller part is done is first,
 * then the lane with the lower number. A call that does not fit is counted, and the order goes on
 * behind it. */
void post_order_run(const struct post_order *order,
		    void (*piece)(void *context, size_t lane, size_t first, size_t end),
		    void *context, struct post_order_result *result);

void post_order_result_release(struct post_order_result *result);

void post_order_release(struct post_order *order);

#endif
