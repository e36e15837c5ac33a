#include "postproc/energy/events.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

#define MOST_LANES 65535

static void push(struct energy_events *events, uint64_t time, uint32_t function, uint16_t lane,
		 enum energy_event_kind kind)
{
	if (events->count == events->capacity) {
		size_t wanted = events->capacity ? 2 * events->capacity : 4096;
		struct energy_event *more =
			litifut_memory_resized(events->items, wanted, sizeof(*more));
		if (!more) {
			events->failed = true;
			return;
		}
		events->items = more;
		events->capacity = wanted;
	}
	events->items[events->count++] = (struct energy_event){time, function, lane, (uint8_t)kind};
}

/* Few systems have more than some tens of lanes; the last one is found at once. */
static uint16_t lane_number(struct energy_events *events, uint32_t lane)
{
	for (size_t i = events->lane_count; i-- > 0;) {
		if (events->lanes[i] == lane)
			return (uint16_t)i;
	}
	if (events->lane_count == MOST_LANES)
		return MOST_LANES - 1;
	if (!(events->lane_count & (events->lane_count - 1))) {
		size_t wanted = events->lane_count ? 2 * events->lane_count : 1;
		uint32_t *more = litifut_memory_resized(events->lanes, wanted, sizeof(*more));
		if (!more) {
			events->failed = true;
			return 0;
		}
		events->lanes = more;
	}
	events->lanes[events->lane_count] = lane;
	return (uint16_t)events->lane_count++;
}

static void push_timeline(void *context, const struct post_timeline_event *event)
{
	struct energy_events *events = context;
	enum energy_event_kind kind;

	if (event->time > events->last)
		events->last = event->time;
	switch (event->kind) {
	case POST_EVENT_ENTER:
		kind = event->flags & POST_EVENT_TAIL ? ENERGY_EVENT_TAIL : ENERGY_EVENT_ENTER;
		break;
	case POST_EVENT_LEAVE:
		if (event->flags & POST_EVENT_OPEN)
			return; /* it did not happen */
		events->guessed += (event->flags & POST_EVENT_GUESSED) != 0;
		kind = event->flags & (POST_EVENT_CUT | POST_EVENT_GUESSED) ? ENERGY_EVENT_CUT
									    : ENERGY_EVENT_LEAVE;
		break;
	case POST_EVENT_MARK:
		if (event->value == ENERGY_MARK_PIN)
			kind = ENERGY_EVENT_PIN;
		else if (event->value == ENERGY_MARK_TRANSFER_BEGIN)
			kind = ENERGY_EVENT_TRANSFER_BEGIN;
		else if (event->value == ENERGY_MARK_TRANSFER_END)
			kind = ENERGY_EVENT_TRANSFER_END;
		else
			return;
		break;
	case POST_EVENT_LOST:
		kind = ENERGY_EVENT_LOST;
		break;
	default:
		return;
	}
	push(events, event->time, event->callee, lane_number(events, event->lane), kind);
}

struct post_timeline_sink energy_events_sink(struct energy_events *events)
{
	return (struct post_timeline_sink){
		.push = push_timeline, .context = events, .nested = true};
}

/* ---- text ---- */

#define MAGIC "litifut-events 1"

bool energy_events_is_text(const char *text, size_t size)
{
	return size > strlen(MAGIC) && !memcmp(text, MAGIC, strlen(MAGIC));
}

struct names {
	struct energy_events *events;
	uint32_t *slots; /* 1 + number; open addressing */
	size_t slot_count, capacity;
};

static uint32_t hash_of(const char *name, size_t length)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)name[i]) * 16777619u;
	return hash;
}

static void rehash(struct names *names, size_t wanted)
{
	uint32_t *slots = calloc(wanted, sizeof(*slots));

	if (!slots) {
		names->events->failed = true;
		return;
	}
	for (size_t i = 0; i < names->events->name_count; i++) {
		const char *name = names->events->names[i];
		size_t at = hash_of(name, strlen(name)) & (wanted - 1);
		while (slots[at])
			at = (at + 1) & (wanted - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(names->slots);
	names->slots = slots;
	names->slot_count = wanted;
}

static uint32_t number_of(struct names *names, const char *name, size_t length)
{
	struct energy_events *events = names->events;

	if (2 * (events->name_count + 1) > names->slot_count)
		rehash(names, names->slot_count ? 2 * names->slot_count : 256);
	if (events->failed)
		return 0;
	size_t at = hash_of(name, length) & (names->slot_count - 1);
	for (; names->slots[at]; at = (at + 1) & (names->slot_count - 1)) {
		const char *known = events->names[names->slots[at] - 1];
		if (strlen(known) == length && !memcmp(known, name, length))
			return names->slots[at] - 1;
	}
	if (events->name_count == names->capacity) {
		size_t wanted = names->capacity ? 2 * names->capacity : 64;
		char **more = litifut_memory_resized(events->names, wanted, sizeof(*more));
		if (!more) {
			events->failed = true;
			return 0;
		}
		events->names = more;
		names->capacity = wanted;
	}
	char *copy = strndup(name, length);
	if (!copy) {
		events->failed = true;
		return 0;
	}
	names->slots[at] = (uint32_t)events->name_count + 1;
	events->names[events->name_count++] = copy;
	return names->slots[at] - 1;
}

struct reading {
	struct names names;
	const char *path;
	struct litifut_error *error;
	uint64_t line;
	uint64_t period; /* of a counter that begins again; 0: it does not */
	uint64_t last, base;
};

static enum litifut_status wrong(const struct reading *reading, const char *what)
{
	return litifut_error_set(reading->error, LITIFUT_ERROR_FORMAT, reading->path, NULL,
				 LITIFUT_NO_ADDRESS, "line %" PRIu64 ": %s", reading->line, what);
}

/* A counter of few bits: each step back is one more turn. */
static uint64_t unwrapped(struct reading *reading, uint64_t time)
{
	if (reading->period) {
		if (time < reading->last)
			reading->base += reading->period;
		reading->last = time;
	}
	return reading->base + time;
}

static const struct {
	const char *word;
	enum energy_event_kind kind;
	bool has_lane, has_name;
} words[] = {{"enter", ENERGY_EVENT_ENTER, true, true},
	     {"leave", ENERGY_EVENT_LEAVE, true, false},
	     {"tail", ENERGY_EVENT_TAIL, true, true},
	     {"cut", ENERGY_EVENT_CUT, true, false},
	     {"pin", ENERGY_EVENT_PIN, false, false},
	     {"transfer", ENERGY_EVENT_TRANSFER_BEGIN, false, false},
	     {"transferred", ENERGY_EVENT_TRANSFER_END, false, false},
	     {"lost", ENERGY_EVENT_LOST, true, false}};

static bool take_number(const char **at, const char *end, uint64_t *value)
{
	const char *from = *at;

	while (from < end && *from == ' ')
		from++;
	const char *start = from;
	*value = 0;
	for (; from < end && (unsigned)(*from - '0') < 10; from++) {
		unsigned digit = (unsigned)(*from - '0');
		if (*value > (UINT64_MAX - digit) / 10)
			return false;
		*value = *value * 10 + digit;
	}
	*at = from;
	return from > start && (from == end || *from == ' ');
}

static enum litifut_status read_line(struct reading *reading, const char *at, const char *end)
{
	struct energy_events *events = reading->names.events;
	const char *space = memchr(at, ' ', (size_t)(end - at));
	size_t length = (size_t)((space ? space : end) - at);
	uint64_t time, lane = 0;
	uint32_t function = 0;

	if (length == 2 && !memcmp(at, "hz", 2)) {
		char number[32];
		snprintf(number, sizeof(number), "%.*s",
			 (int)((size_t)(end - at) - 2 < 31 ? (size_t)(end - at) - 2 : 31), at + 2);
		events->hertz = strtod(number, NULL);
		if (!(events->hertz > 0) || !isfinite(events->hertz))
			return wrong(reading, "hz needs a number above zero");
		return LITIFUT_OK;
	}
	if (length == 4 && !memcmp(at, "bits", 4)) {
		at += 4;
		if (!take_number(&at, end, &time) || time < 8 || time > 63)
			return wrong(reading, "bits needs a number from 8 to 63");
		reading->period = 1ull << time;
		return LITIFUT_OK;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strlen(words[i].word) != length || memcmp(words[i].word, at, length))
			continue;
		at += length;
		if (!take_number(&at, end, &time))
			return wrong(reading, "the time is missing");
		if (reading->period && time >= reading->period)
			return wrong(reading, "the time has more bits than the counter");
		if (words[i].has_lane && (!take_number(&at, end, &lane) || lane > UINT32_MAX))
			return wrong(reading, "the number of the lane is missing");
		if (words[i].has_name) {
			while (at < end && *at == ' ')
				at++;
			if (at == end)
				return wrong(reading, "the name of the function is missing");
			function = number_of(&reading->names, at, (size_t)(end - at));
		}
		push(events, unwrapped(reading, time), function,
		     lane_number(events, (uint32_t)lane), words[i].kind);
		return LITIFUT_OK;
	}
	return wrong(reading, "it does not begin with hz, bits, enter, leave, tail, cut, pin, "
			      "transfer, transferred or lost");
}

enum litifut_status energy_events_read(struct energy_events *events, const char *path,
				       const char *text, size_t size, struct litifut_error *error)
{
	struct reading reading = {.names = {.events = events}, .path = path, .error = error};
	const char *at = text, *end = text + size;
	enum litifut_status status = LITIFUT_OK;

	events->one_leave = true;
	if (!energy_events_is_text(text, size))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
					 LITIFUT_NO_ADDRESS, "it does not begin with \"%s\"",
					 MAGIC);
	while (at < end && status == LITIFUT_OK && !events->failed) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		const char *next = stop ? stop + 1 : end;
		if (!stop)
			stop = end;
		if (stop > at && stop[-1] == '\r')
			stop--;
		if (reading.line++ && stop > at && *at != '#')
			status = read_line(&reading, at, stop);
		at = next;
	}
	free(reading.names.slots);
	if (status == LITIFUT_OK && !(events->hertz > 0))
		status = litifut_error_set(error, LITIFUT_ERROR_MISSING, path, NULL,
					   LITIFUT_NO_ADDRESS,
					   "a line \"hz NUMBER\" with the clock's rate is missing");
	return status;
}

/* ---- order ---- */

/* Stable: events of one lane with one time keep their order. */
static bool merge_sort(struct energy_event *items, size_t count)
{
	struct energy_event *other = litifut_memory_array(count, sizeof(*other)), *from = items,
			    *to = other;

	if (!other)
		return false;
	for (size_t width = 1; width < count; width *= 2) {
		for (size_t start = 0; start < count; start += 2 * width) {
			size_t middle = start + width < count ? start + width : count;
			size_t end = start + 2 * width < count ? start + 2 * width : count;
			size_t left = start, right = middle, out = start;
			while (left < middle && right < end)
				to[out++] = from[right].time < from[left].time ? from[right++]
									       : from[left++];
			while (left < middle)
				to[out++] = from[left++];
			while (right < end)
				to[out++] = from[right++];
		}
		struct energy_event *swap = from;
		from = to;
		to = swap;
	}
	if (from != items)
		memcpy(items, from, count * sizeof(*items));
	free(other);
	return true;
}

enum litifut_status energy_events_finish(struct energy_events *events, struct litifut_error *error)
{
	bool sorted = true;

	/* half of it may be room for more */
	struct energy_event *fits =
		events->count ? litifut_memory_resized(events->items, events->count, sizeof(*fits))
			      : NULL;
	if (fits) {
		events->items = fits;
		events->capacity = events->count;
	}
	for (size_t i = 1; i < events->count && sorted; i++)
		sorted = events->items[i].time >= events->items[i - 1].time;
	if (!sorted && !merge_sort(events->items, events->count))
		events->failed = true;
	events->first = events->count ? events->items[0].time : 0;
	if (events->count && events->items[events->count - 1].time > events->last)
		events->last = events->items[events->count - 1].time;
	if (events->failed)
		return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
					 "not enough memory for the events");
	return LITIFUT_OK;
}

void energy_events_release(struct energy_events *events)
{
	for (size_t i = 0; i < events->name_count; i++)
		free(events->names[i]);
	free(events->names);
	free(events->items);
	free(events->lanes);
	free(events->waits);
	*events = (struct energy_events){0};
}
