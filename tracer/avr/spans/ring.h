/* The ring of events on AVR, as call.S writes it and the sender reads it. It is the symbol
 * litifut_table, and begins and ends at a multiple of 256; so does each chunk of 128 events of 6
 * bytes. So call.S looks only where the low byte of the address becomes 0. */
#ifndef LITIFUT_TRACER_AVR_SPANS_RING_H
#define LITIFUT_TRACER_AVR_SPANS_RING_H

#include <litifut/avr_spans.h>

#define RING_HEAD LITIFUT_AVR_RING_HEAD
#define RING_TAIL LITIFUT_AVR_RING_TAIL
#define RING_LIMIT LITIFUT_AVR_RING_LIMIT
#define RING_LOST LITIFUT_AVR_RING_LOST
#define RING_OVERFLOWS LITIFUT_AVR_RING_OVERFLOWS
#define RING_STATE LITIFUT_AVR_RING_STATE
#define RING_END LITIFUT_AVR_RING_END

#define RING_NEW 0  /* the clock does not run yet */
#define RING_OPEN 1 /* there is room */
#define RING_FULL 2 /* the last event of a chunk is written again and again */

/* From the stack pointer in the ring to that of the call: r24, r28, r29 and the return address. */
#ifdef __AVR_3_BYTE_PC__
#define SPAN_SAVED 6
#else
#define SPAN_SAVED 5
#endif

#ifndef __ASSEMBLER__
#include <litifut/spans_format.h>
#include <stdbool.h>
#include <stdint.h>

#include "tracer/avr/interrupts.h"
#include "tracer/sink/frames/frames.h"

#define RING_CLOCK_BITS LITIFUT_AVR_CLOCK_BITS

/* TIFR1 and TOV1, see tracer/avr/firmware/timer.inc. */
#define RING_TIMER_FLAGS (*(volatile uint8_t *)0x36)
#define RING_TIMER_OVERFLOW 1

typedef uint8_t ring_register; /* of the device */
typedef uint16_t ring_count;

/* An event, as the sender gets it. */
struct ring_event {
	uint32_t time; /* of a LITIFUT_SPAN_CALLEE: the callee */
	uint32_t value;
	uint16_t number;
};

struct ring_entry {
	uint16_t number, ticks, value;
};

struct litifut_ring {
	struct ring_entry *head, *tail;
	uint8_t *limit;
	uint16_t lost, overflows;
	uint8_t state, reserved;
	struct ring_entry *end;
	uint32_t position; /* of the entry at `tail' */
	uint32_t reported; /* events that were lost, and whose loss is in the ring */
};

extern HIDDEN volatile struct litifut_ring litifut_ring;
/* Not an address but a number. */
extern HIDDEN char litifut_ring_events[];

HIDDEN void litifut_span_put(uint16_t number, uint16_t value);

static inline uint16_t litifut_ring_size(void)
{
	return (uint16_t)(uintptr_t)litifut_ring_events;
}

/* Positions, see <litifut/spans_format.h>: of the first event that has not been freed, and of the
 * one behind the last. */
static inline uint32_t litifut_ring_begin(void)
{
	return litifut_ring.position;
}

static inline uint32_t litifut_ring_end(void)
{
	const litifut_interrupts status = litifut_interrupts_off();
	struct ring_entry *head = litifut_ring.head;
	uint16_t count = (uint16_t)(head - litifut_ring.tail);

	litifut_ring.end = head;
	if (head < litifut_ring.tail)
		count = (uint16_t)(count + litifut_ring_size());
	if (litifut_ring.state == RING_NEW)
		count = 0;
	litifut_interrupts_restore(status);
	return litifut_ring.position + count;
}

static inline uint32_t litifut_ring_lost(void)
{
	return litifut_ring.reported + litifut_ring.lost;
}

static inline struct ring_entry *litifut_ring_place(uint32_t position)
{
	struct ring_entry *entry = litifut_ring.tail + (uint16_t)(position - litifut_ring.position);
	struct ring_entry *table = (void *)litifut_table;

	return entry >= table + litifut_ring_size() ? entry - litifut_ring_size() : entry;
}

static inline const struct ring_event *litifut_ring_at(uint32_t position)
{
	static struct ring_event event;
	const litifut_interrupts status = litifut_interrupts_off();
	const struct ring_entry entry = *litifut_ring_place(position);

	litifut_interrupts_restore(status);
	event.time = entry.ticks;
	event.number = entry.number;
	event.value = entry.value;
	if (entry.number == LITIFUT_SPAN_CALLEE)
		event.time = 2 * (uint32_t)entry.value;
	if (entry.number >= LITIFUT_SPAN_SITE || entry.number == LITIFUT_SPAN_RETURN)
		event.value += SPAN_SAVED;
	return &event;
}

/* No ring of this CPU outlasts a reset. */
static inline void litifut_ring_hold(void)
{
}

static inline void litifut_ring_go_on(void)
{
}

static inline void litifut_ring_mark(unsigned number)
{
	const litifut_interrupts status = litifut_interrupts_off();

	litifut_span_put(LITIFUT_SPAN_MARK, number);
	litifut_interrupts_restore(status);
}

/* With interrupts off: puts an event with the number of overflows so far, as some of their events
 * were lost or are not in the ring any more. What has no time (LITIFUT_STREAM) has no overflows. */
static inline void litifut_ring_put_overflows(void)
{
	/* one that has not been counted yet puts this event */
	if (litifut_ring.overflows && !(RING_TIMER_FLAGS & RING_TIMER_OVERFLOW))
		litifut_span_put(LITIFUT_SPAN_CLOCK, litifut_ring.overflows);
}

/* With interrupts off: the ring begins anew. */
static inline void litifut_ring_forget(void)
{
	if (litifut_ring.state == RING_NEW)
		return;
	litifut_ring.head = litifut_ring.tail = litifut_ring.end = (void *)litifut_table;
	litifut_ring.limit = (void *)litifut_table;
	litifut_ring.state = RING_OPEN;
	litifut_ring.lost = 0;
	litifut_ring_put_overflows();
}

/* The events before `position' have been sent. If others were lost in the meantime, the place
 * that was written again and again says how many; then there is room. */
static inline void litifut_ring_free(uint32_t position)
{
	const litifut_interrupts status = litifut_interrupts_off();
	struct ring_entry *tail = litifut_ring_place(position);
	uint8_t *chunk = (uint8_t *)litifut_table +
			 (uint16_t)((uint8_t *)tail - (uint8_t *)litifut_table) /
				 LITIFUT_AVR_CHUNK_BYTES * LITIFUT_AVR_CHUNK_BYTES;
	bool room = chunk != litifut_ring.limit;

	/* A ring of one chunk has no other one to go on in: it begins anew when all was sent. */
	if (tail == litifut_ring.head && litifut_ring.state != RING_NEW &&
	    litifut_ring_size() == LITIFUT_AVR_CHUNK_BYTES / sizeof(*tail)) {
		tail = litifut_ring.head = litifut_ring.end = (void *)litifut_table;
		room = true;
	}
	litifut_ring.tail = tail;
	litifut_ring.position = position;
	litifut_ring.limit = chunk;
	if (room && litifut_ring.state == RING_FULL) {
		const uint16_t lost = litifut_ring.lost;

		litifut_ring.state = RING_OPEN;
		litifut_ring.reported += lost;
		litifut_ring.lost = 0;
		litifut_span_put(LITIFUT_SPAN_LOST, lost);
		litifut_ring_put_overflows();
	}
	litifut_interrupts_restore(status);
}
#endif

#endif
