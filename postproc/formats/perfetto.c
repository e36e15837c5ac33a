/* perfetto: a trace in Perfetto's own format, for ui.perfetto.dev and trace_processor: protocol
 * buffers, of which the few messages that are needed are written by hand. Field numbers are those
 * of protos/perfetto/trace/ in the project's sources.
 *
 * Each lane is a separate sequence of packets, with a clock whose times are differences, names
 * that are given once, and its track as the default: an enter takes 20 bytes at most while there
 * are less than 16384 functions and 128 modules, a leave 16. Without a clock the number of the
 * event stands for microseconds. */
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/flows.h"
#include "postproc/formats/format.h"
#include "postproc/formats/text.h"
#include "postproc/model/clock.h"

enum field {
	TRACE_PACKET = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TIMESTAMP_CLOCK = 58,
	PACKET_TRACK = 60,
	SNAPSHOT_CLOCK = 1,
	CLOCK_ID = 1,
	CLOCK_TIMESTAMP = 2,
	CLOCK_INCREMENTAL = 3,
	DEFAULTS_TRACK_EVENT = 11,
	DEFAULTS_CLOCK_ID = 58,
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_OWN_NAME = 23,
	/* numbers as varints; newer files have fields 47 and 48 for them, which Perfetto 20 does
	   not read */
	EVENT_FLOW = 36,
	EVENT_FLOW_END = 42,
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_ID = 1,
	INTERNED_NAME = 2,
	TRACK_UUID = 1,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5,
	PROCESS_PID = 1,
	PROCESS_NAME = 6,
	THREAD_PID = 1,
	THREAD_TID = 2,
	ANNOTATION_UNSIGNED = 3,
	ANNOTATION_SIGNED = 4,
	ANNOTATION_TEXT = 6,
	ANNOTATION_POINTER = 7,
	ANNOTATION_NAME = 10,
};

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };
enum { CLOCK_BOOT = 6, CLOCK_OF_SEQUENCE = 64 };
/* Of the packets of flows; those of lanes have their numbers, from 1 on. */
#define FLOW_SEQUENCE 0xfffffffe

/* A message that is being written; what does not fit is cut, names are the only long thing. */
struct message {
	size_t length;
	uint8_t bytes[8192];
};

struct lane {
	bool started;
	uint64_t time;  /* ns, of the latest packet */
	uint8_t *named; /* a bit for each function: its name was given in this sequence */
	uint8_t *module_named;
	uint32_t function_bytes, module_bytes;
};

struct state {
	struct lane *lanes;
	size_t count;
	/* Numbers from 1 on in the order of first use, so that they are short. 0: none yet. */
	uint32_t *function_ids;
	size_t function_count;
	uint32_t next_function;
	bool *process_named;
	size_t process_count;
	struct post_flows flows;
};

static void put_varint(struct message *message, uint64_t value)
{
	while (message->length < sizeof(message->bytes)) {
		message->bytes[message->length++] = (uint8_t)(value | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
		if (!value)
			break;
	}
}

static void put_number(struct message *message, unsigned field, uint64_t value)
{
	put_varint(message, field << 3);
	put_varint(message, value);
}

static void put_bytes(struct message *message, unsigned field, const void *bytes, size_t length)
{
	put_varint(message, field << 3 | 2);
	put_varint(message, length);
	memcpy(message->bytes + message->length, bytes, length);
	message->length += length;
}

static void put_text(struct message *message, unsigned field, const char *text)
{
	size_t length = strlen(text), room = sizeof(message->bytes) - message->length - 256;

	put_bytes(message, field, text, length < room ? length : room);
}

static void put_message(struct message *message, unsigned field, const struct message *inner)
{
	put_bytes(message, field, inner->bytes, inner->length);
}

static void write_packet(FILE *file, const struct message *packet)
{
	uint8_t head[12] = {TRACE_PACKET << 3 | 2};
	struct message length = {0};

	put_varint(&length, packet->length);
	memcpy(head + 1, length.bytes, length.length);
	fwrite(head, 1, length.length + 1, file);
	fwrite(packet->bytes, 1, packet->length, file);
}

static void start(struct post_output *output)
{
	struct state *state = post_allocate(1, sizeof(*state));

	output->state = state;
	if (output->options.flow)
		post_flows_read(&state->flows, output->options.flow); /* the options were checked */
}

/* Tracks have the numbers of their lanes, from 1 on; those of processes follow far behind. */
static uint64_t process_track(uint32_t process)
{
	return (UINT64_C(1) << 40) + process;
}

static void write_process(struct post_output *output, const struct post_process *process)
{
	struct state *state = output->state;
	const struct litifut_trace_header *header = &process->trace->header;
	struct message packet = {0}, track = {0}, about = {0};

	if (process->index >= state->process_count) {
		size_t count = output->session->process_count;
		state->process_named = post_reallocate(state->process_named, count, sizeof(bool));
		memset(state->process_named + state->process_count, 0,
		       count - state->process_count);
		state->process_count = count;
	}
	if (state->process_named[process->index])
		return;
	state->process_named[process->index] = true;
	put_number(&about, PROCESS_PID, header->pid);
	put_text(&about, PROCESS_NAME, header->program);
	put_number(&track, TRACK_UUID, process_track(process->index));
	put_message(&track, TRACK_PROCESS, &about);
	put_message(&packet, PACKET_TRACK, &track);
	write_packet(output->file, &packet);
}

/* The first packets of a lane: its clock, its defaults, its track. */
static void start_lane(struct post_output *output, const struct post_timeline_event *event,
		       struct lane *lane, uint64_t time)
{
	const struct post_process *process = post_event_process(output, event);
	struct message packet = {0}, snapshot = {0}, clock = {0}, defaults = {0}, inner = {0};
	struct message track = {0}, thread = {0}, second = {0};

	write_process(output, process);
	put_number(&clock, CLOCK_ID, CLOCK_BOOT);
	put_number(&clock, CLOCK_TIMESTAMP, time);
	put_message(&snapshot, SNAPSHOT_CLOCK, &clock);
	clock.length = 0;
	put_number(&clock, CLOCK_ID, CLOCK_OF_SEQUENCE);
	put_number(&clock, CLOCK_TIMESTAMP, time);
	put_number(&clock, CLOCK_INCREMENTAL, 1);
	put_message(&snapshot, SNAPSHOT_CLOCK, &clock);
	put_number(&inner, EVENT_TRACK, event->lane + 1);
	put_message(&defaults, DEFAULTS_TRACK_EVENT, &inner);
	put_number(&defaults, DEFAULTS_CLOCK_ID, CLOCK_OF_SEQUENCE);
	put_number(&packet, PACKET_SEQUENCE, event->lane + 1);
	put_message(&packet, PACKET_CLOCK_SNAPSHOT, &snapshot);
	put_number(&packet, PACKET_FLAGS, FLAG_CLEARED);
	put_message(&packet, PACKET_DEFAULTS, &defaults);
	write_packet(output->file, &packet);

	put_number(&thread, THREAD_PID, process->trace->header.pid);
	put_number(&thread, THREAD_TID, post_event_thread(output, event)->id);
	put_number(&track, TRACK_UUID, event->lane + 1);
	put_number(&track, TRACK_PARENT, process_track(process->index));
	put_message(&track, TRACK_THREAD, &thread);
	put_number(&second, PACKET_SEQUENCE, event->lane + 1);
	put_message(&second, PACKET_TRACK, &track);
	write_packet(output->file, &second);
	lane->started = true;
	lane->time = time;
}

/* Sets bit `number`; false: it was set. */
static bool set_bit(uint8_t **bits, uint32_t *bytes, uint32_t number)
{
	if (number / 8 >= *bytes) {
		uint32_t more = number / 4 + 16;
		*bits = post_reallocate(*bits, more, 1);
		memset(*bits + *bytes, 0, more - *bytes);
		*bytes = more;
	}
	bool set = (*bits)[number / 8] >> number % 8 & 1;
	(*bits)[number / 8] |= (uint8_t)(1u << number % 8);
	return !set;
}

static void intern(struct message *interned, unsigned kind, uint64_t id, const char *name)
{
	struct message entry;
	size_t length = strlen(name) < 1500 ? strlen(name) : 1500;

	entry.length = 0;
	put_number(&entry, INTERNED_ID, id);
	put_bytes(&entry, INTERNED_NAME, name, length);
	put_message(interned, kind, &entry);
}

static uint32_t function_id(struct post_output *output, uint32_t function)
{
	struct state *state = output->state;

	if (function >= state->function_count) {
		size_t count = output->session->function_capacity;
		state->function_ids =
			post_reallocate(state->function_ids, count, sizeof(*state->function_ids));
		memset(state->function_ids + state->function_count, 0,
		       (count - state->function_count) * sizeof(*state->function_ids));
		state->function_count = count;
	}
	if (!state->function_ids[function])
		state->function_ids[function] = ++state->next_function;
	return state->function_ids[function];
}

static void put_enter(struct post_output *output, struct lane *lane, struct message *packet,
		      struct message *inner, uint32_t function)
{
	const struct post_session *session = output->session;
	const struct post_function *about = &session->functions[function];
	uint32_t id = function_id(output, function);
	struct message interned;

	interned.length = 0;
	if (set_bit(&lane->named, &lane->function_bytes, id))
		intern(&interned, INTERNED_NAMES, id, about->name);
	if (set_bit(&lane->module_named, &lane->module_bytes, about->module))
		intern(&interned, INTERNED_CATEGORIES, about->module + 1,
		       session->modules[about->module].name);
	if (interned.length) /* once in a packet: readers take the last one only */
		put_message(packet, PACKET_INTERNED, &interned);
	put_number(inner, EVENT_CATEGORY, about->module + 1);
	put_number(inner, EVENT_TYPE, TYPE_BEGIN);
	put_number(inner, EVENT_NAME, id);
}

/* Readers give what stands at the end of a slice to the slice as well. */
static void put_arguments(struct message *inner, struct post_session *session,
			  const struct post_timeline_event *event)
{
	struct post_argument_place place = {0};
	struct post_argument argument;
	char name[16];

	while (event->arguments && post_argument_next(event->arguments, &place, &argument)) {
		struct message annotation;

		annotation.length = 0;
		put_text(&annotation, ANNOTATION_NAME,
			 post_argument_name(session, event, &argument, name));
		if (argument.type == LITIFUT_ARGUMENT_STRING) {
			struct post_text text = {0};

			post_text_add_argument(&text, &argument);
			put_text(&annotation, ANNOTATION_TEXT, text.bytes);
			free(text.bytes);
		} else if (argument.type == LITIFUT_ARGUMENT_UNSIGNED) {
			put_number(&annotation, ANNOTATION_UNSIGNED, argument.value);
		} else if (argument.type == LITIFUT_ARGUMENT_SIGNED ||
			   (argument.type == LITIFUT_ARGUMENT_PLAIN &&
			    argument.value + 4096u < 65536u + 4096u)) {
			put_number(&annotation, ANNOTATION_SIGNED,
				   (uint64_t)(int64_t)(int32_t)argument.value);
		} else {
			put_number(&annotation, ANNOTATION_POINTER, argument.value);
		}
		if (inner->length + annotation.length + 1024 < sizeof(inner->bytes))
			put_message(inner, EVENT_ANNOTATION, &annotation);
	}
}

static void put_instant(struct message *inner, const struct post_timeline_event *event)
{
	char text[64];

	if (event->kind == POST_EVENT_MARK)
		snprintf(text, sizeof(text), "mark %llu", (unsigned long long)event->value);
	else if (event->value)
		snprintf(text, sizeof(text), "%llu calls lost", (unsigned long long)event->value);
	else
		snprintf(text, sizeof(text), "calls lost");
	put_number(inner, EVENT_TYPE, TYPE_INSTANT);
	put_text(inner, EVENT_OWN_NAME, text);
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct state *state = output->state;
	const struct post_process *process = post_event_process(output, event);
	struct message packet, inner;
	uint64_t time = post_clock_runs(process) ? post_clock_ns(process, post_event_clock(event))
						 : post_event_sequence(output, event) * 1000;

	if (event->kind == POST_EVENT_SAMPLE)
		return;
	post_flows_event(&state->flows, output, event, time);
	if (event->lane >= state->count) {
		size_t count = output->session->lane_capacity;
		state->lanes = post_reallocate(state->lanes, count, sizeof(*state->lanes));
		memset(state->lanes + state->count, 0,
		       (count - state->count) * sizeof(*state->lanes));
		state->count = count;
	}
	struct lane *lane = &state->lanes[event->lane];
	if (!lane->started)
		start_lane(output, event, lane, time);
	/* what is still open ends with the last event shown */
	if (event->flags & POST_EVENT_OPEN || time < lane->time)
		time = lane->time;
	packet.length = inner.length = 0;
	put_number(&packet, PACKET_TIMESTAMP, time - lane->time);
	lane->time = time;
	put_number(&packet, PACKET_SEQUENCE, event->lane + 1);
	put_number(&packet, PACKET_FLAGS, FLAG_NEEDED);
	if (event->kind == POST_EVENT_ENTER)
		put_enter(output, lane, &packet, &inner, event->callee);
	else if (event->kind == POST_EVENT_LEAVE)
		put_number(&inner, EVENT_TYPE, TYPE_END);
	else
		put_instant(&inner, event);
	put_arguments(&inner, output->session, event);
	put_message(&packet, PACKET_TRACK_EVENT, &inner);
	write_packet(output->file, &packet);
}

/* An instant on the track of a lane, that an arrow begins or ends at. */
static void put_flow(struct post_output *output, const struct post_flow_end *end, size_t number,
		     bool ends)
{
	struct message packet = {0}, inner = {0};
	char text[48];

	snprintf(text, sizeof(text), "%s %zu", ends ? "received" : "sent", number);
	put_number(&inner, EVENT_TYPE, TYPE_INSTANT);
	put_number(&inner, EVENT_TRACK, end->lane + 1);
	put_text(&inner, EVENT_OWN_NAME, text);
	put_number(&inner, ends ? EVENT_FLOW_END : EVENT_FLOW, number);
	put_number(&packet, PACKET_TIMESTAMP, end->time);
	put_number(&packet, PACKET_TIMESTAMP_CLOCK, CLOCK_BOOT);
	put_number(&packet, PACKET_SEQUENCE, FLOW_SEQUENCE);
	put_message(&packet, PACKET_TRACK_EVENT, &inner);
	write_packet(output->file, &packet);
}

/* Readers put packets in the order of their times. */
static void put_flows(struct post_output *output, struct post_flows *flows)
{
	size_t pairs = post_flows_pair(flows);

	for (size_t i = 0; i < pairs; i++) {
		put_flow(output, &flows->sent.items[i], i + 1, false);
		put_flow(output, &flows->received.items[i], i + 1, true);
	}
	post_flows_release(flows);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	put_flows(output, &state->flows);
	for (size_t i = 0; i < state->count; i++) {
		free(state->lanes[i].named);
		free(state->lanes[i].module_named);
	}
	free(state->lanes);
	free(state->function_ids);
	free(state->process_named);
	free(state);
}

const struct post_format post_format_perfetto = {
	.name = "perfetto",
	.summary = "timeline for ui.perfetto.dev, of any length",
	.uses = POST_USES_FLOW,
	.binary = true,
	.nested = true,
	.start = start,
	.event = event,
	.finish = finish,
};
