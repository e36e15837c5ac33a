/* Sends the events of the ring, for tracer/sink/frames/send.c. Recording goes on meanwhile; what is
 * recorded once a sending has begun is left for the next one. */
#ifndef LITIFUT_TRACER_SPANS_H
#define LITIFUT_TRACER_SPANS_H

#include <ring.h>

/* Not an address but a number. */
extern HIDDEN char litifut_clock_hertz[];

static uint8_t litifut_number_bytes(uint32_t number)
{
	uint8_t bytes = 1;

	for (; number >= 0x80; number >>= 7)
		bytes++;
	return bytes;
}

/* Adds the numbers of events up to the position `end`, as many as the frame has room for. Gives
 * the position of the first one that is left. */
static uint32_t litifut_add_events(uint32_t position, uint32_t end)
{
	uint32_t time = 0;
	uint16_t stack = 0;

	litifut_frame_add(position);
	for (; position != end; position++) {
		const volatile struct ring_event *event = litifut_ring_at(position);
		const uint16_t number = event->number;
		const uint32_t now = event->time;
		const bool timed = number != LITIFUT_SPAN_CALLEE;
		uint32_t value = timed ? event->value : now;
		const uint32_t since = now - time;

		if (number == LITIFUT_SPAN_RETURN || number >= LITIFUT_SPAN_SITE)
			value = litifut_span_zigzag((uint16_t)(event->value - stack));
		if (litifut_frame.at + litifut_number_bytes(number) +
			    (timed ? litifut_number_bytes(since) : 0) +
			    litifut_number_bytes(value) >
		    FRAME_BYTES - 1 - CRC_BYTES)
			break;
		litifut_frame_add(number);
		if (timed) {
			litifut_frame_add(since);
			time = now;
		}
		litifut_frame_add(value);
		if (number == LITIFUT_SPAN_RETURN || number >= LITIFUT_SPAN_SITE)
			stack = event->value;
	}
	return position;
}

#define FIRST_PART FRAME_PART(LITIFUT_FRAME_RING)
#define litifut_make_others litifut_make_events

static inline frame_byte litifut_make_events(frame_byte part)
{
	static uint32_t position, end;

	if (part == FIRST_PART) {
		litifut_ring_hold();
		end = litifut_ring_end();
		position = litifut_ring_begin();
		litifut_frame_add((uint32_t)(uintptr_t)litifut_clock_hertz);
		litifut_frame_add(RING_CLOCK_BITS);
		litifut_frame_add(position);
		litifut_frame_add(end);
		litifut_frame_add(litifut_ring_lost());
	} else {
		position = litifut_add_events(position, end);
		litifut_ring_free(position);
	}
	if (position != end)
		return FRAME_PART(LITIFUT_FRAME_SPANS);
	litifut_ring_go_on();
	return litifut_after_others();
}

static void litifut_mark_transfer(bool begins)
{
	litifut_ring_mark(begins ? LITIFUT_SPAN_MARK_TRANSFER : LITIFUT_SPAN_MARK_TRANSFERRED);
}

#endif
