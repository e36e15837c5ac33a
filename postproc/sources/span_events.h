/* The events of a firmware that records spans, put together from the payloads of its frames.
 * <litifut/spans_format.h> has the layout. Pure code. */
#ifndef LITIFUT_POSTPROC_SOURCES_SPAN_EVENTS_H
#define LITIFUT_POSTPROC_SOURCES_SPAN_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <litifut/spans_format.h>

struct post_span_event {
	uint32_t number;
	uint32_t value; /* of calls and returns: the stack pointer, 16 bits */
	uint64_t time;  /* ticks; of a LITIFUT_SPAN_CALLEE that of an earlier event */
};

/* All zero to start with. */
struct post_span_events {
	struct post_span_event *items; /* owned */
	size_t count, capacity;
	uint32_t hertz;         /* of the clock; 0: unknown */
	uint32_t bits;          /* that the clock of the device has; 0: no 'R' has come */
	uint32_t next;          /* position of the next event */
	uint32_t end;           /* and that of the last round's end */
	uint32_t lost_so_far;   /* events that the device had no room for */
	uint64_t lost_reported; /* of them, those that events LITIFUT_SPAN_LOST report */
	bool lost_at_least;     /* the device has lost more than it can count */
	uint64_t missing;       /* that did not arrive; a LITIFUT_SPAN_LOST stands in their place */
	uint64_t time;          /* of the last event */
	bool has_time;
	bool restarted; /* the next time is of another run */
	uint32_t skew;  /* what the clock of this run lags behind `time` */
	size_t resets;  /* events LITIFUT_SPAN_RESET */
	size_t kept;    /* number of the event behind the last of them */
};

/* Each takes the payload of one frame. False: it makes no sense, and is left out. */
bool post_span_events_ring(struct post_span_events *events, const uint8_t *payload, size_t size);
bool post_span_events_take(struct post_span_events *events, const uint8_t *payload, size_t size);

/* The same from the memory of a Cortex-M: `ring` has the words of its ring, little endian numbers
 * already, and `state` those that <litifut/firmware_pool.h> describes from litifut_pool on. False:
 * they do not fit together. */
bool post_span_events_memory(struct post_span_events *events, const uint32_t *ring, size_t words,
			     const uint32_t *state);

/* The same of a ring of short events: `ring` has `count` of them, the state `state` and the ring's
 * address are as <litifut/avr_spans.h> describes them. */
bool post_span_events_short(struct post_span_events *events, const uint8_t *ring, uint32_t count,
			    uint32_t address, const uint8_t *state);

/* Events that the last round announced and that have not come. */
uint32_t post_span_events_missing(const struct post_span_events *events);

void post_span_events_release(struct post_span_events *events);

#endif
