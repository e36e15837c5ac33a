#include <stddef.h>

#include "node.h"

#define EPOCH 500000000ul
#define EXPIRY_SECONDS 30

uint32_t node_time(void)
{
	return EPOCH + board_seconds();
}

static bool forward_to(const struct neighbour *neighbour, const struct slot *slot)
{
	return neighbour && link_send(FRAME_BUNDLE, slot->memory.bytes, slot->memory.size);
}

static void forward(struct slot *slot)
{
	struct neighbour *neighbour = route_to(slot->destination);
	bool reached = forward_to(neighbour, slot);

	if (neighbour)
		neighbour_was_reached(neighbour, reached);
	if (reached)
		store_sent(slot);
	else
		store_failed(slot);
}

static void forward_all(void)
{
	struct slot *slot;

	while ((slot = store_next()))
		forward(slot);
}

static void expire(void)
{
	store_expire();
	neighbours_expire();
}

void agent_start(void)
{
	timer_start(expire, EXPIRY_SECONDS);
}

bool agent_send(struct bundle *bundle)
{
	return store_put(bundle) && event_post(forward_all);
}

void agent_work(void)
{
	timers_run();
	events_run();
	if (store_count())
		event_post(forward_all);
}

static void deliver(const struct bundle *bundle)
{
	if (bundle_is_administrative(bundle))
		report_take(bundle);
	else
		statistics_count(endpoint_deliver(bundle) ? DELIVERED : REFUSED);
}

static void pass_on(struct bundle *bundle)
{
	custody_accept(bundle);
	agent_send(bundle);
}

static void bundle_arrived(struct bundle *bundle)
{
	statistics_count(RECEIVED);
	if (bundle_is_for_us(bundle))
		deliver(bundle);
	else
		pass_on(bundle);
}

static void take_bundle(const struct frame *frame)
{
	static struct bundle bundle;

	if (!bundle_decode(frame->bytes, frame->used, &bundle) || !bundle_is_acceptable(&bundle))
		statistics_count(REFUSED);
	else if (!seen_before(&bundle))
		bundle_arrived(&bundle);
}

static void take_frame(const struct frame *frame)
{
	switch (frame->type) {
	case FRAME_BUNDLE:
		take_bundle(frame);
		break;
	case FRAME_BEACON:
		beacon_take(frame);
		break;
	default:
		statistics_count(REFUSED);
	}
}

bool agent_listen(void)
{
	static struct frame frame;

	if (!link_receive(&frame))
		return false;
	if (frame.used)
		take_frame(&frame);
	agent_work();
	return true;
}
