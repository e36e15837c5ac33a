/* Messages of the application: one at a time, to all neighbours. */
#include "system.h"

#include <string.h>

static struct outgoing outgoing;
static struct message *current;
static void (*current_done)(struct message *message);
static void (*listener)(const struct message *message);

unsigned radio_sent[8];

static void message_done(struct outgoing *sent, bool heard)
{
	struct message *message = current;

	(void)sent;
	(void)heard;
	current = NULL;
	radio_sent[message->type & 7]++;
	current_done(message);
}

enum result radio_send(struct message *message, void (*done)(struct message *message))
{
	if (current || message->length >= FRAME_BYTES)
		return FAIL;
	outgoing.done = message_done;
	outgoing.frame.kind = FRAME_MESSAGE;
	outgoing.frame.to = EVERYBODY;
	outgoing.frame.length = (uint8_t)(message->length + 1);
	outgoing.frame.bytes[0] = message->type;
	memcpy(outgoing.frame.bytes + 1, message->data, message->length);
	if (mac_send(&outgoing) != SUCCESS)
		return FAIL;
	current = message;
	current_done = done;
	return SUCCESS;
}

void radio_listen(void (*received)(const struct message *message))
{
	listener = received;
}

void radio_heard_frame(const struct frame *frame)
{
	struct message message = {.type = frame->bytes[0]};

	if (!listener || !frame->length || frame->length > sizeof(message.data) + 1)
		return;
	message.length = (uint8_t)(frame->length - 1);
	memcpy(message.data, frame->bytes + 1, message.length);
	listener(&message);
}
