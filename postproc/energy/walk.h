/* The events as spans by the analyser's clock: which path of calls is on top from when to
 * when. One processor is assumed: of several lanes the one runs that has had the last event,
 * and a lane that begins inside another one, as an interrupt does, gives back to it when its
 * last call ends. Before the first event and behind the last one no call is open. */
#ifndef LITIFUT_POSTPROC_ENERGY_WALK_H
#define LITIFUT_POSTPROC_ENERGY_WALK_H

#include "postproc/energy/clock.h"
#include "postproc/energy/events.h"
#include "postproc/energy/tree.h"

#define ENERGY_TRANSFER UINT32_MAX /* in place of a node: the recorder sends its data */

/* A call that is open. The last members are for the visitor. */
struct energy_frame {
	uint32_t node;
	bool tail;      /* its caller ends with it */
	double entered; /* analyser's seconds */
	double joules[ENERGY_CHANNELS];
	double seconds;
	double hooks;
};

struct energy_lane {
	struct energy_frame *frames;
	size_t depth, capacity;
	size_t ended;    /* functions whose leave has no hook, as a tail call has returned */
	uint16_t before; /* the lane that it has interrupted; itself: none */
	uint16_t number;
	/* for the visitor: what has been used while this lane ran */
	double joules[ENERGY_CHANNELS];
	double seconds;
	double hooks;
};

struct energy_visitor {
	void *context;
	/* `node` is on top from `from` to `to`; lane is its own. Segments follow each other. */
	void (*segment)(void *context, struct energy_lane *lane, uint32_t node, double from,
			double to);
	/* A call has begun (`node`, below `under`) or ended. `kind`: enum energy_event_kind. */
	void (*enter)(void *context, struct energy_lane *lane, struct energy_frame *frame,
		      uint32_t under, enum energy_event_kind kind);
	void (*leave)(void *context, struct energy_lane *lane, struct energy_frame *frame,
		      uint32_t under, enum energy_event_kind kind, double time);
	/* Before the segment in which they came: interrupts of the tracer's clock, which have made
	 * it longer, as `node` does not wait for a time. */
	void (*interrupted)(void *context, struct energy_lane *lane, uint32_t node, uint64_t count);
	/* Once this is true, nothing more is asked of it: the rest is not looked at. NULL: all is.
	 */
	const bool *enough;
};

struct energy_walk_counts {
	uint64_t calls;
	uint64_t stray; /* leaves of lanes without an open call */
	uint64_t lost;  /* places where events are missing */
	uint64_t open;  /* calls that had not ended */
};

/* Goes through all events, from the time `begin` to the time `end` of the analyser. Adds the
 * nodes that it needs. Visitor functions may be NULL. */
enum litifut_status energy_walk(const struct energy_events *events,
				const struct energy_clock *clock, struct energy_tree *tree,
				double begin, double end, const struct energy_visitor *visitor,
				struct energy_walk_counts *counts, struct litifut_error *error);

#endif
