/* What happened in a traced system, in the order of each lane: the one stream that
 * sources produce and that measures and output formats consume. A lane is what has a
 * stack of calls: a thread of a process, or a task or an interrupt of a firmware.
 *
 * A source that records returns pushes them. For one that does not, the nesting is
 * derived from the calls alone and its leaves carry POST_EVENT_GUESSED: their
 * nesting is right as far as it can be derived, and their times are bounds, never
 * measurements.
 *
 * Tables of a device, which hold sums and no order, go around the timeline, straight into
 * measures. */
#ifndef LITIFUT_POSTPROC_TIMELINE_EVENT_H
#define LITIFUT_POSTPROC_TIMELINE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct post_call_arguments;

enum post_event_kind {
	POST_EVENT_ENTER,  /* a call */
	POST_EVENT_LEAVE,  /* the end of the innermost open call of the lane */
	POST_EVENT_SAMPLE, /* the program counter was here */
	POST_EVENT_MARK,   /* a pin, a phase or a transfer; `value` is its number */
	POST_EVENT_LOST    /* `value` events are missing here; 0: an unknown number */
};

enum post_event_flags {
	/* Derived by the host, not recorded. Of an enter: which of several activations of a
	 * recursive caller made the call. */
	POST_EVENT_GUESSED = 1,
	POST_EVENT_CUT = 2,    /* a leave without a return: longjmp, exception, end of thread */
	POST_EVENT_OPEN = 4,   /* a leave that did not happen: the trace ends before it */
	POST_EVENT_APPROX = 8, /* the time is not that of the event itself */
	POST_EVENT_TAIL = 16,  /* an enter by a tail call: it leaves when its caller does */
	POST_EVENT_BEFORE = 32 /* an enter before the window that is shown, of a function that
				  is still open when the window begins; and its leave */
};

/* `module`, `site` and `callee` are numbers of the model. */
struct post_timeline_event {
	uint8_t kind;  /* enum post_event_kind */
	uint8_t flags; /* enum post_event_flags */
	uint16_t reserved;
	uint32_t lane;   /* index in session->lanes */
	uint64_t time;   /* ticks of the source's clock, without what the tracer took in this lane
			    since its beginning; 0: it has none */
	uint64_t taken;  /* which is so much: the clock was `time` and that */
	uint32_t module; /* of the callee */
	uint32_t site;   /* index in session->calls: a call site and where it led. POST_NONE: the
			    function was entered by code that is not traced */
	uint32_t callee; /* function that is entered or left */
	uint32_t depth;  /* open calls of the lane before an enter or after a leave */
	/* Of an enter: the number of the call in its lane, from 0. Of a leave: time of the
	 * function itself, without the calls that it made; 0 unless it is known. Else see the
	 * kind. */
	uint64_t value;
	/* What was recorded of the call, or of what it returned; until push() returns. NULL:
	 * nothing. */
	const struct post_call_arguments *arguments;
};

/* What the clock showed: for what lanes have in common, where `time` is for what lies between two
 * events of one. */
static inline uint64_t post_event_clock(const struct post_timeline_event *event)
{
	return event->time + event->taken;
}

/* Takes the events of a source, one after another. Times do not decrease within a lane. */
struct post_timeline_sink {
	void (*push)(void *context, const struct post_timeline_event *event);
	bool (*full)(void *context); /* true: no more events are wanted; may be NULL */
	void *context;
	/* False: calls only, as enters whose depth is 0; for a sink that does not show
	 * nesting, which saves the time to derive it. */
	bool nested;
	/* Not nested, but with a leave, whose depth and times are 0, for each return of which a
	 * value was recorded. */
	bool results;
};

#endif
