#include "postproc/sources/span_events.h"

#include <stdlib.h>
#include <string.h>

#include <litifut/avr_spans.h>

#include "common/serial_frames.h"
#include "litifut/firmware_pool.h"
#include "postproc/table.h"

/* One frame may be all that came of a long run; a larger gap is a damaged number. */
#define GAP_MAX (1u << 30)

/* Of the value of an event, as the device has it. */
#define OVERFLOW_BITS 16

static void add(struct post_span_events *events, uint32_t number, uint32_t value)
{
	POST_GROW(events->items, events->count, events->capacity);
	events->items[events->count++] = (struct post_span_event){number, value, events->time};
}

/* Its counter of what was lost stays at the most. */
static bool is_most(const struct post_span_events *events, uint64_t lost)
{
	return events->bits == LITIFUT_AVR_CLOCK_BITS && lost >= UINT16_MAX;
}

/* Events up to this position have not come. */
static void skip_to(struct post_span_events *events, uint32_t position)
{
	const uint32_t gap = position - events->next;

	if (!gap || gap > GAP_MAX)
		return;
	events->missing += gap;
	add(events, LITIFUT_SPAN_LOST, gap);
	events->next = position;
}

/* The device has restarted. */
static void take_reset(struct post_span_events *events)
{
	events->restarted = true;
	events->resets++;
	events->kept = events->count;
}

bool post_span_events_ring(struct post_span_events *events, const uint8_t *payload, size_t size)
{
	size_t at = 0;
	const uint32_t hertz = litifut_serial_number(payload, size, &at);
	const uint32_t bits = litifut_serial_number(payload, size, &at);
	const uint32_t first = litifut_serial_number(payload, size, &at);
	const uint32_t end = litifut_serial_number(payload, size, &at);
	const uint32_t lost = litifut_serial_number(payload, size, &at);

	if (at != size || bits < 1 || bits > 32 || end - first > GAP_MAX)
		return false;
	if (!events->bits) {
		events->next = first;
		/* A ring that keeps the last events only, or a capture that began late. */
		if (first && first <= GAP_MAX) {
			events->missing += first;
			add(events, LITIFUT_SPAN_LOST, first);
		}
	} else if ((int32_t)(end - events->next) < 0 && GAP_MAX > events->next - end) {
		/* The power was off: a ring that outlasts a reset has begun anew. */
		add(events, LITIFUT_SPAN_RESET, 0);
		take_reset(events);
		events->next = first;
	} else {
		skip_to(events, first);
	}
	events->hertz = hertz;
	events->bits = bits;
	events->end = end;
	events->lost_so_far = lost;
	events->lost_at_least |=
		lost > events->lost_reported && is_most(events, lost - events->lost_reported);
	return true;
}

/* The clock has gone on to these low bits. */
static void set_time(struct post_span_events *events, uint32_t ticks)
{
	const uint64_t mask = ((uint64_t)1 << events->bits) - 1;

	/* How long the device was off is not known. */
	if (events->restarted && events->has_time)
		events->skew = (uint32_t)events->time + 1 - ticks;
	events->restarted = false;
	ticks += events->skew;

	events->time =
		events->has_time ? events->time + ((ticks - events->time) & mask) : (ticks & mask);
	events->has_time = true;
}

static bool has_stack(uint32_t number)
{
	return number == LITIFUT_SPAN_RETURN || number >= LITIFUT_SPAN_SITE;
}

/* The clock, of less than 32 bits, has gone on to these low bits, and the number above them, which
 * has OVERFLOW_BITS and begins again at 0 as well. An event that was recorded meanwhile can be
 * later by less than one turn of the low bits. */
static void set_clock(struct post_span_events *events, uint32_t above, uint32_t ticks)
{
	const uint64_t turn = (uint64_t)1 << events->bits;
	const uint64_t mask = (turn << OVERFLOW_BITS) - 1;
	const uint64_t now = (uint64_t)above << events->bits | (ticks & (turn - 1));
	const uint64_t since = (now - events->time) & mask;

	if (!events->has_time)
		events->time = now;
	else if (since <= mask - turn)
		events->time += since;
	events->has_time = true;
}

bool post_span_events_take(struct post_span_events *events, const uint8_t *payload, size_t size)
{
	size_t at = 0;
	uint32_t position = litifut_serial_number(payload, size, &at);
	uint32_t ticks = 0;
	uint16_t stack = 0;

	if (!events->bits || at > size)
		return false;
	skip_to(events, position);
	for (; at < size; position++) {
		const uint32_t number = litifut_serial_number(payload, size, &at);

		if (at <= size && number != LITIFUT_SPAN_CALLEE)
			ticks += litifut_serial_number(payload, size, &at);
		uint32_t value = litifut_serial_number(payload, size, &at);

		if (at > size || number >= LITIFUT_SPAN_SITE + LITIFUT_SPAN_SITES ||
		    (number > LITIFUT_SPAN_RESET && number < LITIFUT_SPAN_SITE))
			return false;
		if (has_stack(number)) {
			stack = (uint16_t)(stack + litifut_span_difference(value));
			value = stack;
		}
		if (position != events->next) /* it has come before */
			continue;
		if (number == LITIFUT_SPAN_CLOCK && events->bits < 32)
			set_clock(events, value, ticks);
		else if (number != LITIFUT_SPAN_CALLEE && number != LITIFUT_SPAN_RESET)
			set_time(events, ticks);
		add(events, number, value);
		events->next++;
		if (number == LITIFUT_SPAN_RESET)
			take_reset(events);
		if (number == LITIFUT_SPAN_LOST) {
			events->lost_reported += value;
			events->lost_at_least |= is_most(events, value);
		}
	}
	return true;
}

bool post_span_events_memory(struct post_span_events *events, const uint32_t *ring, size_t words,
			     const uint32_t *state)
{
	const uint32_t count = (uint32_t)(words / (EVENT_BYTES / 4));
	const uint32_t end = state[RING_HEAD / 4];
	const uint32_t limit = state[RING_LIMIT / 4];
	uint32_t position = limit - count;

	if (!count || count & (count - 1) || state[RING_MASK / 4] != count - 1)
		return false;
	if (limit == RING_NO_LIMIT)
		position = end < count ? 0 : end - count;
	if (end - position > count)
		return false;
	events->bits = 32;
	events->end = end;
	events->lost_so_far = state[RING_LOST / 4];
	skip_to(events, position);
	for (; position != end; position++) {
		const uint32_t *event = ring + (EVENT_BYTES / 4) * (position & (count - 1));
		const uint32_t number = event[1] >> 16;

		if (number != LITIFUT_SPAN_CALLEE && number != LITIFUT_SPAN_RESET)
			set_time(events, event[0]);
		add(events, number, number == LITIFUT_SPAN_CALLEE ? event[0] : event[1] & 0xffff);
		if (number == LITIFUT_SPAN_RESET)
			take_reset(events);
	}
	events->next = end;
	return true;
}

static uint32_t half_at(const uint8_t *bytes)
{
	return bytes[0] | (uint32_t)bytes[1] << 8;
}

static uint32_t word_at(const uint8_t *bytes)
{
	return half_at(bytes) | half_at(bytes + 2) << 16;
}

/* Of a ring that is full, the last event was written again and again. */
bool post_span_events_short(struct post_span_events *events, const uint8_t *ring, uint32_t count,
			    uint32_t address, const uint8_t *state)
{
	const uint32_t head = half_at(state + LITIFUT_AVR_RING_HEAD) - (address & 0xffff);
	const uint32_t tail = half_at(state + LITIFUT_AVR_RING_TAIL) - (address & 0xffff);
	const uint32_t position = word_at(state + LITIFUT_AVR_RING_POSITION);
	const uint32_t bytes = count * LITIFUT_AVR_EVENT_BYTES;
	uint32_t at = tail;

	if (head >= bytes || tail >= bytes || head % LITIFUT_AVR_EVENT_BYTES ||
	    tail % LITIFUT_AVR_EVENT_BYTES)
		return false;
	events->bits = LITIFUT_AVR_CLOCK_BITS;
	events->lost_so_far =
		word_at(state + LITIFUT_AVR_RING_REPORTED) + half_at(state + LITIFUT_AVR_RING_LOST);
	events->lost_at_least = is_most(events, half_at(state + LITIFUT_AVR_RING_LOST));
	skip_to(events, position);
	while (at != head && state[LITIFUT_AVR_RING_STATE]) {
		const uint32_t number = half_at(ring + at);
		const uint32_t ticks = half_at(ring + at + 2);
		const uint32_t value = half_at(ring + at + 4);

		if (number == LITIFUT_SPAN_CLOCK)
			set_clock(events, value, ticks);
		else if (number != LITIFUT_SPAN_CALLEE)
			set_time(events, ticks);
		add(events, number, number == LITIFUT_SPAN_CALLEE ? 2 * value : value);
		events->lost_at_least |= number == LITIFUT_SPAN_LOST && is_most(events, value);
		events->next++;
		at = (at + LITIFUT_AVR_EVENT_BYTES) % bytes;
	}
	events->end = events->next;
	return true;
}

uint32_t post_span_events_missing(const struct post_span_events *events)
{
	const uint32_t missing = events->end - events->next;

	return missing > GAP_MAX ? 0 : missing;
}

void post_span_events_release(struct post_span_events *events)
{
	free(events->items);
	memset(events, 0, sizeof(*events));
}
