#include "postproc/formats/flows.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* NAME or NAME(VALUE), up to `end`. */
static bool read_side(const char *text, const char *end, char **name, bool *by_value,
		      uint32_t *value)
{
	const char *open = memchr(text, '(', (size_t)(end - text));
	char *behind;

	*by_value = open != NULL;
	if (open) {
		*value = (uint32_t)strtoll(open + 1, &behind, 0);
		if (behind == open + 1 || *behind != ')' || behind + 1 != end)
			return false;
		end = open;
	}
	if (end == text)
		return false;
	*name = post_allocate((size_t)(end - text) + 1, 1);
	memcpy(*name, text, (size_t)(end - text));
	return true;
}

bool post_flows_read(struct post_flows *flows, const char *text)
{
	const char *equals = strchr(text, '=');

	*flows = (struct post_flows){0};
	if (equals && read_side(text, equals, &flows->send, &flows->by_send, &flows->send_value) &&
	    read_side(equals + 1, text + strlen(text), &flows->receive, &flows->by_receive,
		      &flows->receive_value))
		return true;
	post_flows_release(flows);
	return false;
}

/* Names of functions behind PLT entries end in @plt where it is not known what these lead to. */
static bool fits(const char *glob, const char *name)
{
	char plain[256];
	size_t length = strcspn(name, "@");

	if (!fnmatch(glob, name, 0))
		return true;
	if (strcmp(name + length, "@plt") || length >= sizeof(plain))
		return false;
	memcpy(plain, name, length);
	plain[length] = '\0';
	return !fnmatch(glob, plain, 0);
}

/* The recorded argument with this number; false: there is none, or it is a string. */
static bool argument_of(const struct post_call_arguments *arguments, unsigned number,
			uint32_t *value)
{
	struct post_argument_place place = {0};
	struct post_argument argument;

	while (arguments && post_argument_next(arguments, &place, &argument)) {
		if (argument.number == number && argument.type != LITIFUT_ARGUMENT_STRING) {
			*value = argument.value;
			return true;
		}
	}
	return false;
}

static void add(struct post_flow_ends *ends, uint64_t time, uint32_t lane)
{
	if (ends->count == ends->capacity) {
		ends->capacity = ends->capacity ? 2 * ends->capacity : 64;
		ends->items = post_reallocate(ends->items, ends->capacity, sizeof(*ends->items));
	}
	ends->items[ends->count++] = (struct post_flow_end){time, lane};
}

static void begin(struct post_flows *flows, const struct post_timeline_event *event, bool sends,
		  uint64_t time)
{
	uint32_t value;
	bool by = sends ? flows->by_send : flows->by_receive;

	if (by && (!argument_of(event->arguments, 0, &value) ||
		   value != (sends ? flows->send_value : flows->receive_value)))
		return;
	if (flows->open_count == flows->open_capacity) {
		flows->open_capacity = flows->open_capacity ? 2 * flows->open_capacity : 16;
		flows->open =
			post_reallocate(flows->open, flows->open_capacity, sizeof(*flows->open));
	}
	flows->open[flows->open_count++] =
		(struct post_flow_call){time, event->lane, event->depth, sends};
}

/* The call of a lane that was open at this depth, if it is one that counts. */
static void finish(struct post_flows *flows, const struct post_timeline_event *event, uint64_t time)
{
	uint32_t value;

	for (size_t i = flows->open_count; i-- > 0;) {
		struct post_flow_call call = flows->open[i];
		if (call.lane != event->lane || call.depth != event->depth)
			continue;
		memmove(flows->open + i, flows->open + i + 1,
			(flows->open_count - i - 1) * sizeof(*flows->open));
		flows->open_count--;
		bool returned = !(event->flags & (POST_EVENT_OPEN | POST_EVENT_CUT));
		if (argument_of(event->arguments, LITIFUT_ARGUMENT_RETURN, &value) &&
		    (int32_t)value <= 0)
			return;
		if (call.sends)
			add(&flows->sent, call.time, call.lane);
		else if (returned)
			add(&flows->received, time, call.lane);
		return;
	}
}

void post_flows_event(struct post_flows *flows, const struct post_output *output,
		      const struct post_timeline_event *event, uint64_t time)
{
	if (!flows->send)
		return;
	if (event->kind == POST_EVENT_LEAVE)
		finish(flows, event, time);
	if (event->kind != POST_EVENT_ENTER)
		return;
	const char *name = output->session->functions[event->callee].name;
	if (fits(flows->send, name))
		begin(flows, event, true, time);
	else if (fits(flows->receive, name))
		begin(flows, event, false, time);
}

static int by_time(const void *left, const void *right)
{
	const struct post_flow_end *a = left, *b = right;

	return (a->time > b->time) - (a->time < b->time);
}

size_t post_flows_pair(struct post_flows *flows)
{
	struct post_flow_ends *sent = &flows->sent, *received = &flows->received;

	if (sent->count)
		qsort(sent->items, sent->count, sizeof(*sent->items), by_time);
	if (received->count)
		qsort(received->items, received->count, sizeof(*received->items), by_time);
	return sent->count < received->count ? sent->count : received->count;
}

void post_flows_release(struct post_flows *flows)
{
	free(flows->send);
	free(flows->receive);
	free(flows->open);
	free(flows->sent.items);
	free(flows->received.items);
	*flows = (struct post_flows){0};
}
