#include "postproc/energy/walk.h"

#include <stdlib.h>

#include "common/memory.h"
#include "postproc/energy/bounds.h"

#define DEEPEST (1u << 24)

struct walk {
	struct energy_tree *tree;
	const struct energy_visitor *visitor;
	struct energy_walk_counts *counts;
	struct energy_lane *lanes;
	uint16_t lane; /* that runs */
	bool sending;
	bool one_leave;
	bool failed;
	double time, begin, end;
	uint64_t overflows; /* of the tracer's clock, up to now */
};

static uint32_t top_of(const struct energy_lane *lane)
{
	return lane->depth ? lane->frames[lane->depth - 1].node : ENERGY_ROOT;
}

static void segment_to(struct walk *walk, double time)
{
	struct energy_lane *lane = &walk->lanes[walk->lane];
	double from = energy_greater(walk->time, walk->begin), to = energy_lesser(time, walk->end);

	if (to > from && walk->visitor->segment)
		walk->visitor->segment(walk->visitor->context, lane,
				       walk->sending ? ENERGY_TRANSFER : top_of(lane), from, to);
	if (time > walk->time)
		walk->time = time;
}

/* The clock overflows up to an event. The recorder has interrupts off before it reads the clock, so
 * that an overflow in this time interrupts what comes behind the event. */
static void interrupt(struct walk *walk, const struct energy_events *events, uint64_t ticks,
		      double time)
{
	struct energy_lane *lane = &walk->lanes[walk->lane];
	const uint64_t overflows = energy_events_overflows(events, ticks);

	if (overflows <= walk->overflows)
		return;
	const uint32_t function = walk->tree->nodes[top_of(lane)].function;
	if (walk->visitor->interrupted && !walk->sending && time > walk->begin &&
	    time < walk->end && energy_events_waiting(events, function) != ENERGY_WAITS)
		walk->visitor->interrupted(walk->visitor->context, lane, top_of(lane),
					   overflows - walk->overflows);
	walk->overflows = overflows;
}

static bool open_frame(struct walk *walk, struct energy_lane *lane, uint32_t function,
		       enum energy_event_kind kind, uint32_t under)
{
	if (lane->depth == lane->capacity) {
		size_t wanted = lane->capacity ? 2 * lane->capacity : 32;
		struct energy_frame *more = NULL;
		if (wanted <= DEEPEST)
			more = litifut_memory_resized(lane->frames, wanted, sizeof(*more));
		if (!more) {
			walk->failed = true;
			return false;
		}
		lane->frames = more;
		lane->capacity = wanted;
	}
	struct energy_frame *frame = &lane->frames[lane->depth];
	*frame =
		(struct energy_frame){.node = energy_tree_child(walk->tree, top_of(lane), function),
				      .tail = kind == ENERGY_EVENT_TAIL && lane->depth,
				      .entered = walk->time};
	lane->depth++;
	walk->counts->calls++;
	if (walk->visitor->enter)
		walk->visitor->enter(walk->visitor->context, lane, frame, under, kind);
	return true;
}

static void close_frame(struct walk *walk, struct energy_lane *lane, enum energy_event_kind kind)
{
	struct energy_frame frame = lane->frames[--lane->depth];
	uint32_t under = top_of(lane);

	/* the interrupted function goes on */
	if (!lane->depth && lane->before != (uint16_t)(lane - walk->lanes))
		under = top_of(&walk->lanes[lane->before]);
	if (walk->visitor->leave)
		walk->visitor->leave(walk->visitor->context, lane, &frame, under, kind, walk->time);
}

/* A return from a tail call ends its caller too: one hook, and one leave or several. */
static void end_call(struct walk *walk, struct energy_lane *lane, enum energy_event_kind kind)
{
	bool tail = lane->frames[lane->depth - 1].tail;

	if (lane->ended) {
		lane->ended--;
		kind = ENERGY_EVENT_CUT;
	}
	close_frame(walk, lane, kind);
	while (tail && walk->one_leave && lane->depth) {
		tail = lane->frames[lane->depth - 1].tail;
		close_frame(walk, lane, ENERGY_EVENT_CUT);
	}
	lane->ended += tail && !walk->one_leave;
}

/* The lane of an event runs from now on. */
static void run_lane(struct walk *walk, uint16_t number, bool begins)
{
	struct energy_lane *lane = &walk->lanes[number];

	if (number == walk->lane)
		return;
	lane->before =
		begins && !lane->depth && walk->lanes[walk->lane].depth ? walk->lane : number;
	walk->lane = number;
}

static void give_back(struct walk *walk)
{
	struct energy_lane *lane = &walk->lanes[walk->lane];

	if (!lane->depth && lane->before != walk->lane) {
		uint16_t number = walk->lane;
		walk->lane = lane->before;
		lane->before = number;
	}
}

static void take(struct walk *walk, const struct energy_event *event)
{
	struct energy_lane *lane = &walk->lanes[event->lane];
	uint32_t under;

	switch ((enum energy_event_kind)event->kind) {
	case ENERGY_EVENT_ENTER:
		under = top_of(&walk->lanes[walk->lane]);
		run_lane(walk, event->lane, true);
		open_frame(walk, lane, event->function, ENERGY_EVENT_ENTER, under);
		break;
	case ENERGY_EVENT_TAIL:
		under = top_of(&walk->lanes[walk->lane]);
		run_lane(walk, event->lane, true);
		open_frame(walk, lane, event->function, ENERGY_EVENT_TAIL, under);
		break;
	case ENERGY_EVENT_LEAVE:
	case ENERGY_EVENT_CUT:
		run_lane(walk, event->lane, false);
		if (!lane->depth) {
			walk->counts->stray++;
			break;
		}
		end_call(walk, lane, (enum energy_event_kind)event->kind);
		give_back(walk);
		break;
	case ENERGY_EVENT_LOST:
		/* What is open is not known any more. */
		walk->counts->lost++;
		while (lane->depth)
			close_frame(walk, lane, ENERGY_EVENT_CUT);
		lane->ended = 0;
		break;
	case ENERGY_EVENT_TRANSFER_BEGIN:
		walk->sending = true;
		break;
	case ENERGY_EVENT_TRANSFER_END:
		walk->sending = false;
		break;
	case ENERGY_EVENT_PIN:
		break;
	}
}

enum litifut_status energy_walk(const struct energy_events *events,
				const struct energy_clock *clock, struct energy_tree *tree,
				double begin, double end, const struct energy_visitor *visitor,
				struct energy_walk_counts *counts, struct litifut_error *error)
{
	size_t lanes = events->lane_count ? events->lane_count : 1, hint = 0;
	struct walk walk = {.tree = tree,
			    .visitor = visitor,
			    .counts = counts,
			    .time = begin,
			    .begin = begin,
			    .end = end};

	*counts = (struct energy_walk_counts){0};
	walk.one_leave = events->one_leave;
	walk.lanes = calloc(lanes, sizeof(*walk.lanes));
	if (!walk.lanes)
		walk.failed = true;
	for (size_t i = 0; i < lanes && walk.lanes; i++)
		walk.lanes[i].before = walk.lanes[i].number = (uint16_t)i;
	for (size_t i = 0; i < events->count && !walk.failed; i++) {
		if (visitor->enough && *visitor->enough)
			break;
		const struct energy_event *event = &events->items[i];
		const double time =
			energy_clock_map(clock, energy_events_seconds(events, event->time), &hint);
		interrupt(&walk, events, event->time, time);
		segment_to(&walk, time);
		take(&walk, event);
	}
	/* Behind the last event nothing is known of the calls that are open. */
	if (!walk.failed && events->count)
		segment_to(&walk, energy_clock_map(clock, energy_events_length(events), &hint));
	for (size_t i = 0; i < lanes && walk.lanes; i++) {
		counts->open += walk.lanes[i].depth;
		while (walk.lanes[i].depth && !walk.failed)
			close_frame(&walk, &walk.lanes[i], ENERGY_EVENT_LOST);
	}
	if (!walk.failed)
		segment_to(&walk, end);
	for (size_t i = 0; i < lanes && walk.lanes; i++)
		free(walk.lanes[i].frames);
	free(walk.lanes);
	if (walk.failed || tree->failed)
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "not enough memory for the open calls");
	return LITIFUT_OK;
}
