/* Beacons say which node is here, so that neighbours have a route to it. */
#include <stddef.h>

#include "node.h"

#define VERSION 4
#define BEACON_BYTES 8
#define TRIES 10

static uint8_t beacon_append(uint8_t *bytes, uint8_t at, uint32_t number)
{
	number_write(bytes + at, number);
	return at + number_bytes(number);
}

static uint8_t beacon_write(uint8_t *bytes)
{
	uint8_t at = beacon_append(bytes, 0, VERSION);

	at = beacon_append(bytes, at, OWN_NODE);
	return beacon_append(bytes, at, board_seconds());
}

bool beacon_send(void)
{
	uint8_t bytes[BEACON_BYTES];

	return link_send(FRAME_BEACON, bytes, beacon_write(bytes));
}

static bool beacon_read(const struct frame *frame, uint32_t *node)
{
	uint32_t version, seconds;
	uint8_t at = 0;

	return number_read(frame->bytes, frame->used, &at, &version) && version == VERSION &&
	       number_read(frame->bytes, frame->used, &at, node) &&
	       number_read(frame->bytes, frame->used, &at, &seconds);
}

void beacon_take(const struct frame *frame)
{
	uint32_t node;

	if (beacon_read(frame, &node))
		neighbour_heard((uint16_t)node);
}

bool discover(void)
{
	for (uint8_t try = 0; try < TRIES; try++)
		if (beacon_send())
			return true;
	return false;
}
