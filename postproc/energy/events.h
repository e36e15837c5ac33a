/* What the traced system did, as this room needs it: calls and returns with their time, pin
 * marks, transfers of the recorder. Filled from a timeline or from a text file, in the order
 * of time over all lanes. */
#ifndef LITIFUT_POSTPROC_ENERGY_EVENTS_H
#define LITIFUT_POSTPROC_ENERGY_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "postproc/timeline/event.h"

enum energy_event_kind {
	ENERGY_EVENT_ENTER,
	ENERGY_EVENT_LEAVE,
	ENERGY_EVENT_TAIL, /* an enter by a tail call: its caller ends when it does */
	ENERGY_EVENT_CUT,  /* a leave without a return, so without a hook */
	ENERGY_EVENT_PIN,  /* the pin rises */
	ENERGY_EVENT_TRANSFER_BEGIN,
	ENERGY_EVENT_TRANSFER_END,
	ENERGY_EVENT_LOST
};

/* Numbers of POST_EVENT_MARK that the recorder itself sets; others are phases of the user's
 * and are not looked at here. */
enum energy_mark {
	ENERGY_MARK_PIN = 0, /* the time at which the pin is set */
	ENERGY_MARK_TRANSFER_BEGIN = 1,
	ENERGY_MARK_TRANSFER_END = 2
};

/* Does a call of a function wait for a time? See waits.h. */
enum energy_waiting { ENERGY_MAY_WAIT, ENERGY_WAITS, ENERGY_WORKS };

struct energy_event {
	uint64_t time;     /* ticks */
	uint32_t function; /* of an enter or a tail */
	uint16_t lane;     /* number of the lane in the order of their appearance */
	uint8_t kind;      /* enum energy_event_kind */
};

struct energy_events {
	struct energy_event *items;
	size_t count, capacity;
	double hertz;    /* ticks a second */
	uint64_t first;  /* the earliest time, ticks */
	uint64_t last;   /* the latest time, also of what is not kept here */
	uint32_t *lanes; /* the timeline's numbers */
	size_t lane_count;
	bool one_leave; /* one leave for a chain of tail calls, not one for each function */
	/* Seconds: the tracer's clock overflows with a period, and interrupts; 0: it does not. How
	 * long it had run at `first`, and interrupts are off before each reading. */
	double overflow_period, overflow_begin, overflow_off;
	enum energy_waiting *waits; /* by function; of others: ENERGY_MAY_WAIT */
	size_t waits_count;
	uint64_t guessed; /* leaves that were not recorded: no energy can be derived from these */
	bool failed;      /* there was no memory */
	char **names;     /* of functions, when they come from a text */
	size_t name_count;
};

/* Takes the events of a timeline. `events` lives as long as the sink is used. */
struct post_timeline_sink energy_events_sink(struct energy_events *events);

/* Reads the text format (docs/energy.md). */
enum litifut_status energy_events_read(struct energy_events *events, const char *path,
				       const char *text, size_t size, struct litifut_error *error);

/* Does it begin as such a text does? */
bool energy_events_is_text(const char *text, size_t size);

/* Puts them into the order of time. To be called once, after the last event. */
enum litifut_status energy_events_finish(struct energy_events *events, struct litifut_error *error);

void energy_events_release(struct energy_events *events);

/* Seconds of the device's clock since the first event. */
static inline double energy_events_seconds(const struct energy_events *events, uint64_t time)
{
	return (double)(time - events->first) / events->hertz;
}

static inline enum energy_waiting energy_events_waiting(const struct energy_events *events,
							uint32_t function)
{
	return function < events->waits_count ? events->waits[function] : ENERGY_MAY_WAIT;
}

/* How often the tracer's clock has interrupted up to an event. */
static inline uint64_t energy_events_overflows(const struct energy_events *events, uint64_t time)
{
	const double now =
		events->overflow_begin + energy_events_seconds(events, time) - events->overflow_off;

	return events->overflow_period > 0 && now > 0 ? (uint64_t)(now / events->overflow_period)
						      : 0;
}

/* The same of the latest event: how long the trace is. */
static inline double energy_events_length(const struct energy_events *events)
{
	return events->last > events->first ? energy_events_seconds(events, events->last) : 0;
}

#endif
