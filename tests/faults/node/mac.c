/* Access to the channel: frames wait in a queue; each is sent when the channel has been free, after
 * a random time that grows with each attempt. A frame to one node is acknowledged, and sent again
 * where it was not. */
#include "system.h"

#include <stddef.h>

#define QUEUE 6
#define MOST_TRIES 4
#define MOST_BACKOFFS 7
#define ACK_TICKS 9
#define KNOWN 8 /* senders of which the last number is kept */

static struct outgoing *queue[QUEUE];
static unsigned queue_first, queue_count;
static uint8_t next_number;
static struct mac_counts counts;

static enum { MAC_IDLE, MAC_BACKOFF, MAC_SENDING, MAC_WAITS_FOR_ACK } state;
static unsigned backoffs;

static struct frame ack;
static bool ack_due;

static struct {
	uint8_t from, sequence;
	bool used;
} last_heard[KNOWN];
static unsigned last_heard_next;

static void try_channel(void);
static void ack_missing(void);

static struct outgoing *current(void)
{
	return queue_count ? queue[queue_first] : NULL;
}

static void back_off(unsigned attempt)
{
	state = MAC_BACKOFF;
	timer_start(try_channel, 1 + node_random(2u << (attempt < 4 ? attempt : 4)), 0);
}

static void begin_next(void)
{
	backoffs = 0;
	if (current())
		back_off(1);
	else
		state = MAC_IDLE;
}

/* The frame at the head of the queue is done with. */
static void finish(bool heard)
{
	struct outgoing *outgoing = current();

	queue_first = (queue_first + 1) % QUEUE;
	queue_count--;
	outgoing->queued = false;
	if (outgoing->frame.to != EVERYBODY)
		route_link(outgoing->frame.to, heard);
	begin_next();
	outgoing->done(outgoing, heard);
}

static void try_channel(void)
{
	struct outgoing *outgoing = current();

	if (!outgoing) {
		state = MAC_IDLE;
		return;
	}
	if (!channel_is_free() && backoffs < MOST_BACKOFFS) {
		backoffs++;
		counts.backoffs++;
		back_off(backoffs);
		return;
	}
	if (!channel_put(&outgoing->frame)) {
		back_off(2);
		return;
	}
	outgoing->tries++;
	state = MAC_SENDING;
}

static void send_ack(void)
{
	if (!ack_due || !channel_put(&ack))
		return;
	ack_due = false;
	counts.acks++;
}

/* Interrupt: a frame, or an acknowledgement, has left. */
void mac_sent(void)
{
	if (state != MAC_SENDING)
		return;
	counts.sent++;
	if (current()->frame.to == EVERYBODY) {
		finish(true);
		return;
	}
	state = MAC_WAITS_FOR_ACK;
	timer_start(ack_missing, ACK_TICKS, 0);
}

static void ack_missing(void)
{
	struct outgoing *outgoing = current();

	if (state != MAC_WAITS_FOR_ACK)
		return;
	if (outgoing->tries < MOST_TRIES) {
		back_off(outgoing->tries);
		return;
	}
	counts.given_up++;
	finish(false);
}

static void heard_ack(const struct frame *frame)
{
	const struct outgoing *outgoing = current();

	if (state != MAC_WAITS_FOR_ACK || frame->sequence != outgoing->frame.sequence ||
	    frame->from != outgoing->frame.to)
		return;
	timer_stop(ack_missing);
	counts.acknowledged++;
	finish(true);
}

/* Has the frame come before, as its acknowledgement was lost? */
static bool is_repeated(const struct frame *frame)
{
	for (unsigned i = 0; i < KNOWN; i++) {
		if (!last_heard[i].used || last_heard[i].from != frame->from)
			continue;
		if (last_heard[i].sequence == frame->sequence)
			return true;
		last_heard[i].sequence = frame->sequence;
		return false;
	}
	last_heard[last_heard_next].from = frame->from;
	last_heard[last_heard_next].sequence = frame->sequence;
	last_heard[last_heard_next].used = true;
	last_heard_next = (last_heard_next + 1) % KNOWN;
	return false;
}

static void acknowledge(const struct frame *frame)
{
	ack = (struct frame){.kind = FRAME_ACK,
			     .from = node_address(),
			     .to = frame->from,
			     .sequence = frame->sequence};
	ack.crc = crc_of_frame(&ack);
	ack_due = true;
	timer_start(send_ack, 1, 0);
}

static void hand_up(const struct frame *frame)
{
	switch (frame->kind) {
	case FRAME_BEACON:
		route_heard_beacon(frame);
		break;
	case FRAME_DATA:
		route_heard_data(frame);
		break;
	case FRAME_COMMAND:
		shell_heard_command(frame);
		break;
	case FRAME_MESSAGE:
		radio_heard_frame(frame);
		break;
	default:
		break;
	}
}

/* Interrupt: a frame has come. */
void mac_heard(const struct frame *frame)
{
	if (frame->length > FRAME_BYTES || crc_of_frame(frame) != frame->crc) {
		counts.damaged++;
		return;
	}
	if (frame->to != node_address() && frame->to != EVERYBODY)
		return;
	counts.heard++;
	if (frame->kind == FRAME_ACK) {
		heard_ack(frame);
		return;
	}
	if (frame->to != EVERYBODY)
		acknowledge(frame);
	if (is_repeated(frame))
		counts.repeated++;
	else
		hand_up(frame);
}

enum result mac_send(struct outgoing *outgoing)
{
	if (outgoing->queued)
		return EALREADY;
	if (queue_count == QUEUE) {
		counts.refused++;
		return FAIL;
	}
	outgoing->queued = true;
	outgoing->tries = 0;
	outgoing->frame.from = node_address();
	outgoing->frame.sequence = next_number++;
	outgoing->frame.crc = crc_of_frame(&outgoing->frame);
	queue[(queue_first + queue_count++) % QUEUE] = outgoing;
	if (state == MAC_IDLE)
		begin_next();
	return SUCCESS;
}

const struct mac_counts *mac_counts(void)
{
	return &counts;
}
