#include "postproc/paths/order.h"

#include <stdlib.h>

#include "postproc/table.h"

/* A lane while its steps are handed on. A piece begins with a call, all but the first one. */
struct front {
	size_t next; /* call with which the next piece begins; */
	bool begun;  /* false: it is the piece before all calls */
	bool ended;  /* there are no more pieces */
	bool ready;  /* nothing has to come before the next piece any more */
};

struct run {
	const struct post_order *order;
	struct post_order_result *result;
	struct front *fronts;
	/* By pair * node_count + node. */
	uint64_t *all_sent, *all_received; /* in the end */
	uint64_t *sent, *received;         /* so far, */
	uint64_t *excused;                 /* and of them those that did not fit */
};

size_t post_order_add_lane(struct post_order *order, uint32_t node)
{
	POST_GROW(order->lanes, order->lane_count, order->lane_capacity);
	order->lanes[order->lane_count] = (struct post_order_lane){.node = node};
	return order->lane_count++;
}

void post_order_add_call(struct post_order *order, size_t lane, size_t at, uint32_t pair,
			 bool sends)
{
	struct post_order_lane *to = &order->lanes[lane];

	POST_GROW(to->calls, to->call_count, to->call_capacity);
	to->calls[to->call_count++] =
		(struct post_order_call){.at = at, .pair = pair, .sends = sends};
}

static size_t place(const struct run *run, uint32_t pair, uint32_t node)
{
	return (size_t)pair * run->order->node_count + node;
}

/* Of all nodes but one. */
static uint64_t of_others(const struct run *run, const uint64_t *counts, uint32_t pair,
			  uint32_t node)
{
	uint64_t sum = 0;

	for (uint32_t other = 0; other < run->order->node_count; other++)
		sum += other == node ? 0 : counts[place(run, pair, other)];
	return sum;
}

/* The call with which the next piece of a lane begins; NULL: it begins with none. */
static const struct post_order_call *next_call(const struct run *run, size_t lane)
{
	const struct front *front = &run->fronts[lane];

	return front->begun ? &run->order->lanes[lane].calls[front->next] : NULL;
}

/* Messages to the node that were lost, or went to others. */
static uint64_t lost(const struct run *run, uint32_t pair, uint32_t node)
{
	const uint64_t sent = of_others(run, run->all_sent, pair, node);
	const uint64_t received = run->all_received[place(run, pair, node)];

	return sent > received ? sent - received : 0;
}

/* Can the next piece of a lane come now, and with `surely`, has its message been sent whichever
 * were lost? */
static bool may_come(const struct run *run, size_t lane, bool surely)
{
	const uint32_t node = run->order->lanes[lane].node;
	const struct post_order_call *call = next_call(run, lane);

	if (!call || call->sends)
		return true;
	const size_t at = place(run, call->pair, node);

	return run->received[at] + (surely ? lost(run, call->pair, node) : 0) <
	       of_others(run, run->sent, call->pair, node) + run->excused[at];
}

/* What part of the steps of a lane is before its next piece. Recordings of about the same time have
 * come about as far at each moment. */
static double part_done(const struct run *run, size_t lane)
{
	const struct post_order_call *call = next_call(run, lane);

	return call ? (double)call->at / (double)run->order->lanes[lane].steps : 0;
}

/* Looks at the lanes that have waited. */
static void look_again(struct run *run)
{
	for (size_t i = 0; i < run->order->lane_count; i++)
		if (!run->fronts[i].ended && !run->fronts[i].ready)
			run->fronts[i].ready = may_come(run, i, true);
}

/* Of the lanes that wait the first one that can go on, or with `all` the first one; lane_count:
 * there is none. */
static size_t first_waiting(const struct run *run, bool all)
{
	const size_t count = run->order->lane_count;
	size_t first = count;

	for (size_t i = 0; i < count; i++)
		if (!run->fronts[i].ended && (all || may_come(run, i, false)) &&
		    (first == count || part_done(run, i) < part_done(run, first)))
			first = i;
	return first;
}

/* Lets a call go on that nothing allows. */
static size_t force(struct run *run)
{
	const size_t first = first_waiting(run, true);
	const uint32_t node = run->order->lanes[first].node, pair = next_call(run, first)->pair;
	const size_t at = place(run, pair, node);
	struct post_order_misfit *misfit = &run->result->contrary;

	if (of_others(run, run->all_sent, pair, node) + run->excused[at] <= run->received[at])
		misfit = &run->result->missing;
	if (!misfit->count++) {
		misfit->node = node;
		misfit->pair = pair;
		misfit->number = run->received[at] + 1;
		misfit->sent = of_others(run, run->sent, pair, node);
	}
	run->excused[at]++;
	return first;
}

/* All lanes wait, if only for messages of which it is not known whether they were lost: lets one go
 * on. */
static void settle(struct run *run)
{
	size_t first = first_waiting(run, false);

	if (first == run->order->lane_count)
		first = force(run);
	run->fronts[first].ready = true;
}

/* The lane whose next piece is to come; lane_count: all that are left wait. *left is whether there
 * are any. */
static size_t choose(const struct run *run, bool *left)
{
	const size_t count = run->order->lane_count;
	size_t best = count;

	*left = false;
	for (size_t i = 0; i < count; i++) {
		const struct front *front = &run->fronts[i];

		*left |= !front->ended;
		if (!front->ended && front->ready &&
		    (best == count || part_done(run, i) < part_done(run, best)))
			best = i;
	}
	return best;
}

/* Counts the call with which the piece begins, and goes to the next one. */
static void go_on(struct run *run, size_t number)
{
	const struct post_order_lane *lane = &run->order->lanes[number];
	const struct post_order_call *call = next_call(run, number);
	struct front *front = &run->fronts[number];

	if (call) {
		(call->sends ? run->sent : run->received)[place(run, call->pair, lane->node)]++;
		front->next++;
	}
	front->begun = true;
	front->ended = front->next == lane->call_count;
	front->ready = false;
	look_again(run);
}

void post_order_run(const struct post_order *order,
		    void (*piece)(void *context, size_t lane, size_t first, size_t end),
		    void *context, struct post_order_result *result)
{
	const size_t counts = (size_t)order->node_count * order->pair_count + 1;
	struct run run = {.order = order,
			  .result = result,
			  .fronts = post_allocate(order->lane_count + 1, sizeof(*run.fronts)),
			  .all_sent = post_allocate(counts, sizeof(*run.all_sent)),
			  .all_received = post_allocate(counts, sizeof(*run.all_received)),
			  .excused = post_allocate(counts, sizeof(*run.excused))};
	bool left = true;

	*result = (struct post_order_result){
		.sent = post_allocate(counts, sizeof(*result->sent)),
		.received = post_allocate(counts, sizeof(*result->received))};
	run.sent = result->sent;
	run.received = result->received;
	for (size_t i = 0; i < order->lane_count; i++) {
		const struct post_order_lane *lane = &order->lanes[i];

		run.fronts[i].ready = true;
		for (size_t j = 0; j < lane->call_count; j++) {
			const struct post_order_call *call = &lane->calls[j];

			(call->sends ? run.all_sent
				     : run.all_received)[place(&run, call->pair, lane->node)]++;
		}
	}
	while (true) {
		const size_t lane = choose(&run, &left);

		if (!left)
			break;
		if (lane == order->lane_count) {
			settle(&run);
			continue;
		}
		const struct post_order_lane *from = &order->lanes[lane];
		const struct front *front = &run.fronts[lane];
		const size_t behind = front->next + front->begun;

		piece(context, lane, front->begun ? from->calls[front->next].at : 0,
		      behind < from->call_count ? from->calls[behind].at : from->steps);
		go_on(&run, lane);
	}
	free(run.fronts);
	free(run.all_sent);
	free(run.all_received);
	free(run.excused);
}

void post_order_result_release(struct post_order_result *result)
{
	free(result->sent);
	free(result->received);
	*result = (struct post_order_result){0};
}

void post_order_release(struct post_order *order)
{
	for (size_t i = 0; i < order->lane_count; i++)
		free(order->lanes[i].calls);
	free(order->lanes);
	*order = (struct post_order){0};
}
