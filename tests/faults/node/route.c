/* The way to the base station: each node chooses one of its neighbours for its parent, by the
 * number of hops that this one says in its beacons and by how well frames to it are acknowledged,
 * and passes on what comes from nodes farther away. */
#include "system.h"

#include <string.h>

#define NEIGHBOURS 6
#define FORWARDED 4
#define BEACON_TICKS 90
#define OLD_TICKS 240 /* without a beacon: the neighbour is gone */
#define HEAD 2        /* of data: its origin, and hops so far */

struct neighbour {
	uint8_t address;
	uint8_t hops;
	uint8_t quality; /* of 255 */
	bool used;
	unsigned seen;
};

static struct neighbour neighbours[NEIGHBOURS];
static struct neighbour *parent;
static struct outgoing beacon;
static struct outgoing forwarded[FORWARDED];
static struct route_counts counts;

static struct neighbour *find(uint8_t address)
{
	for (unsigned i = 0; i < NEIGHBOURS; i++)
		if (neighbours[i].used && neighbours[i].address == address)
			return &neighbours[i];
	return NULL;
}

/* A free place, or that of the worst neighbour. */
static struct neighbour *place_for(uint8_t address)
{
	struct neighbour *worst = NULL;

	for (unsigned i = 0; i < NEIGHBOURS; i++) {
		struct neighbour *neighbour = &neighbours[i];

		if (!neighbour->used) {
			worst = neighbour;
			break;
		}
		if (neighbour != parent && (!worst || neighbour->quality < worst->quality))
			worst = neighbour;
	}
	*worst = (struct neighbour){.address = address, .used = true, .quality = 128};
	return worst;
}

/* What it costs to send to the base by a neighbour: hops, and attempts for the first one. */
static unsigned cost_of(const struct neighbour *neighbour)
{
	if (neighbour->hops >= FARTHEST)
		return ~0u;
	return neighbour->hops * 256u + 255u * 255u / (neighbour->quality ? neighbour->quality : 1);
}

static void choose_parent(void)
{
	struct neighbour *best = NULL;

	if (node_address() == BASE)
		return;
	for (unsigned i = 0; i < NEIGHBOURS; i++) {
		struct neighbour *neighbour = &neighbours[i];

		if (!neighbour->used || cost_of(neighbour) == ~0u)
			continue;
		if (!best || cost_of(neighbour) < cost_of(best))
			best = neighbour;
	}
	/* another one must be clearly better */
	if (best && parent && best != parent && cost_of(best) + 64 > cost_of(parent))
		best = parent;
	if (best != parent)
		counts.changes++;
	parent = best;
}

static void forget_old_ones(void)
{
	for (unsigned i = 0; i < NEIGHBOURS; i++) {
		struct neighbour *neighbour = &neighbours[i];

		if (!neighbour->used || node_time() - neighbour->seen < OLD_TICKS)
			continue;
		neighbour->used = false;
		if (neighbour == parent)
			parent = NULL;
	}
}

static void beacon_done(struct outgoing *outgoing, bool heard)
{
	(void)outgoing;
	(void)heard;
	counts.beacons++;
}

static void beacon_task(void)
{
	forget_old_ones();
	choose_parent();
	beacon.done = beacon_done;
	beacon.frame.kind = FRAME_BEACON;
	beacon.frame.to = EVERYBODY;
	beacon.frame.length = 3;
	beacon.frame.bytes[0] = route_distance();
	beacon.frame.bytes[1] = route_parent();
	beacon.frame.bytes[2] = parent ? parent->quality : 0;
	mac_send(&beacon);
}

static void beacon_due(void)
{
	post_later(beacon_task);
}

void route_heard_beacon(const struct frame *frame)
{
	struct neighbour *neighbour = find(frame->from);

	if (frame->length < 3)
		return;
	if (!neighbour)
		neighbour = place_for(frame->from);
	neighbour->seen = node_time();
	/* a neighbour whose parent is this node does not lead to the base */
	neighbour->hops = frame->bytes[1] == node_address() ? FARTHEST : frame->bytes[0];
	if (!parent)
		choose_parent();
}

void route_link(uint8_t to, bool heard)
{
	struct neighbour *neighbour = find(to);

	if (!neighbour)
		return;
	neighbour->quality = (uint8_t)((neighbour->quality * 7u + (heard ? 255u : 0u)) / 8u);
	if (!heard)
		choose_parent();
}

static void forward_done(struct outgoing *outgoing, bool heard)
{
	if (heard)
		counts.forwarded++;
	else
		counts.dropped++;
	outgoing->frame.length = 0;
}

static struct outgoing *free_place(void)
{
	for (unsigned i = 0; i < FORWARDED; i++)
		if (!forwarded[i].queued && !forwarded[i].frame.length)
			return &forwarded[i];
	return NULL;
}

enum result route_send(uint8_t origin, const uint8_t *bytes, unsigned count, uint8_t hops)
{
	struct outgoing *place = free_place();

	if (!parent || !place || count > FRAME_BYTES - HEAD) {
		counts.dropped++;
		return FAIL;
	}
	place->done = forward_done;
	place->frame.kind = FRAME_DATA;
	place->frame.to = parent->address;
	place->frame.length = (uint8_t)(HEAD + count);
	place->frame.bytes[0] = origin;
	place->frame.bytes[1] = hops;
	memcpy(place->frame.bytes + HEAD, bytes, count);
	if (mac_send(place) == SUCCESS)
		return SUCCESS;
	place->frame.length = 0;
	counts.dropped++;
	return FAIL;
}

void route_heard_data(const struct frame *frame)
{
	if (frame->length < HEAD)
		return;
	if (node_address() == BASE) {
		counts.arrived++;
		return;
	}
	if (frame->bytes[0] == node_address() || frame->bytes[1] >= FARTHEST) {
		counts.loops++;
		return;
	}
	route_send(frame->bytes[0], frame->bytes + HEAD, frame->length - HEAD,
		   (uint8_t)(frame->bytes[1] + 1));
}

uint8_t route_parent(void)
{
	return parent ? parent->address : EVERYBODY;
}

uint8_t route_distance(void)
{
	if (node_address() == BASE)
		return 0;
	return parent && parent->hops < FARTHEST ? (uint8_t)(parent->hops + 1) : FARTHEST;
}

const struct route_counts *route_counts(void)
{
	return &counts;
}

void route_init(void)
{
	timer_start(beacon_due, 20 + node_random(30), BEACON_TICKS);
}
