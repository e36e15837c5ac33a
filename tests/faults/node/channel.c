/* The radio's hardware: it sends a frame, and hears those of others. Either it is alone, with
 * neighbours that are made up here, or it shares the air with other nodes (tests/faults/air.c). */
#include "system.h"

#include <string.h>
#include <unistd.h>

#include "../air.h"

#define HEAD_BYTES 7 /* of a frame: all but its contents */

static bool shared;
static struct frame sending;
static unsigned ends; /* when it has been sent; 0: nothing is sent */
static unsigned busy_until;

/* What others send, when the node is alone. */
static struct {
	unsigned every, next;
	uint8_t from, sequence;
} neighbours[] = {
	{.every = 45, .from = 1},
	{.every = 52, .from = 2},
	{.every = 37, .from = 7},
};
#define NEIGHBOURS (sizeof(neighbours) / sizeof(*neighbours))
static unsigned strange_at, noise_at, due;
static struct frame answering; /* an acknowledgement */
static unsigned answer_at = NEVER;

bool channel_is_free(void)
{
	return busy_until < node_time();
}

static unsigned ticks_of(const struct frame *frame)
{
	return 1 + (HEAD_BYTES + frame->length) / 8;
}

bool channel_put(const struct frame *frame)
{
	if (ends)
		return false;
	sending = *frame;
	ends = node_time() + ticks_of(frame);
	if (ends < interrupts.channel)
		interrupts.channel = ends;
	energy_set(PART_RADIO, 5);
	return true;
}

/* ---- neighbours that are made up */

static struct frame frame_of(uint8_t from, uint8_t to, enum frame_kind kind, uint8_t sequence)
{
	return (struct frame){.kind = (uint8_t)kind, .from = from, .to = to, .sequence = sequence};
}

/* One and two are nearer to the base, and say so; seven has this node for its parent. */
static struct frame frame_of_neighbour(unsigned number)
{
	const uint8_t from = neighbours[number].from;
	const uint8_t sequence = neighbours[number].sequence++;
	struct frame frame;

	if (from == 7) {
		frame = frame_of(from, OWN_ADDRESS, FRAME_DATA, sequence);
		frame.length = 6;
		frame.bytes[0] = from;
		frame.bytes[1] = 2;
		for (unsigned i = 2; i < frame.length; i++)
			frame.bytes[i] = (uint8_t)node_random(256);
	} else if (sequence % 4 == 3) {
		frame = frame_of(from, OWN_ADDRESS, FRAME_COMMAND, sequence);
		frame.length = 3;
		frame.bytes[0] = (uint8_t)(1 + (sequence / 4 + from) % 5);
		frame.bytes[1] = (uint8_t)(sequence / 4 % 4);
		frame.bytes[2] = (uint8_t)(10 + node_random(20));
	} else {
		frame = frame_of(from, EVERYBODY, FRAME_BEACON, sequence);
		frame.length = 3;
		frame.bytes[0] = from; /* as many hops */
		frame.bytes[1] = BASE;
		frame.bytes[2] = (uint8_t)(200 + node_random(40));
	}
	frame.crc = crc_of_frame(&frame);
	return frame;
}

/* A message of another node's application. */
static struct frame strange_message(void)
{
	struct frame frame = frame_of(9, EVERYBODY, FRAME_MESSAGE, (uint8_t)node_random(256));

	frame.length = 5;
	frame.bytes[0] = (uint8_t)node_random(8);
	for (unsigned i = 1; i < frame.length; i++)
		frame.bytes[i] = (uint8_t)node_random(256);
	frame.crc = crc_of_frame(&frame);
	return frame;
}

static void hear(struct frame *frame)
{
	busy_until = node_time() + node_random(3);
	if (ends)
		return;
	if (node_random(12) == 0)
		frame->bytes[0] ^= 0x10; /* noise */
	mac_heard(frame);
}

/* The node that a frame is for mostly acknowledges it. */
static void answer(const struct frame *frame)
{
	if (frame->to == EVERYBODY || frame->kind == FRAME_ACK || node_random(5) == 0)
		return;
	answering = frame_of(frame->to, frame->from, FRAME_ACK, frame->sequence);
	answering.crc = crc_of_frame(&answering);
	answer_at = node_time() + 2;
}

static unsigned next_after(unsigned least, unsigned more)
{
	return node_time() + least + node_random(more);
}

/* What comes first of what others do. */
static void look_ahead(void)
{
	due = strange_at < noise_at ? strange_at : noise_at;
	for (unsigned i = 0; i < NEIGHBOURS; i++)
		if (neighbours[i].next < due)
			due = neighbours[i].next;
}

/* And what comes first of all. */
static unsigned next_interrupt(void)
{
	const unsigned others = answer_at < due ? answer_at : due;

	if (shared)
		return node_time() + 1;
	return ends && ends < others ? ends : others;
}

static void neighbours_interrupt(void)
{
	for (unsigned i = 0; i < NEIGHBOURS; i++) {
		if (neighbours[i].next > node_time())
			continue;
		struct frame frame = frame_of_neighbour(i);

		neighbours[i].next = next_after(neighbours[i].every, 5);
		hear(&frame);
		return;
	}
	if (strange_at <= node_time()) {
		struct frame frame = strange_message();

		strange_at = next_after(20, 80);
		hear(&frame);
	} else if (noise_at <= node_time()) {
		noise_at = next_after(4, 10);
		busy_until = next_after(0, 3); /* a node farther away sends */
	}
}

static void alone(void)
{
	if (answer_at <= node_time()) {
		answer_at = NEVER;
		hear(&answering);
	} else if (due <= node_time()) {
		neighbours_interrupt();
		look_ahead();
	}
}

/* ---- the air */

static void pack(const struct frame *frame, struct air_packet *packet)
{
	packet->length = (uint8_t)(HEAD_BYTES + frame->length);
	packet->bytes[0] = frame->kind;
	packet->bytes[1] = frame->from;
	packet->bytes[2] = frame->to;
	packet->bytes[3] = frame->sequence;
	packet->bytes[4] = frame->length;
	packet->bytes[5] = (uint8_t)(frame->crc >> 8);
	packet->bytes[6] = (uint8_t)frame->crc;
	memcpy(packet->bytes + HEAD_BYTES, frame->bytes, frame->length);
}

static void unpack(const struct air_packet *packet, struct frame *frame)
{
	*frame = (struct frame){.kind = packet->bytes[0],
				.from = packet->bytes[1],
				.to = packet->bytes[2],
				.sequence = packet->bytes[3],
				.length = packet->bytes[4] % (FRAME_BYTES + 1),
				.crc = (uint16_t)(packet->bytes[5] << 8 | packet->bytes[6])};
	memcpy(frame->bytes, packet->bytes + HEAD_BYTES, frame->length);
}

/* A tick of the air. */
static void together(void)
{
	struct air_packet packet, own = {0};
	struct frame frame;

	if (read(AIR_SOCKET, &packet, sizeof(packet)) != sizeof(packet)) {
		node_stop();
		return;
	}
	if (packet.busy)
		busy_until = node_time();
	if (packet.length) {
		unpack(&packet, &frame);
		mac_heard(&frame);
	}
	if (ends && ends == node_time() + ticks_of(&sending))
		pack(&sending, &own);
	if (write(AIR_SOCKET, &own, sizeof(own)) != sizeof(own))
		node_stop();
}

void channel_interrupt(void)
{
	if (ends && ends <= node_time()) {
		ends = 0;
		energy_set(PART_RADIO, 3);
		if (!shared)
			answer(&sending);
		mac_sent();
	}
	if (shared)
		together();
	else
		alone();
	interrupts.channel = next_interrupt();
}

void channel_init(void)
{
	for (unsigned i = 0; i < NEIGHBOURS; i++)
		neighbours[i].next = 3 + node_random(neighbours[i].every);
	strange_at = 5 + node_random(60);
	noise_at = 2 + node_random(8);
	shared = node_is_shared();
	energy_set(PART_RADIO, 3);
	look_ahead();
	interrupts.channel = shared ? 0 : due;
}
