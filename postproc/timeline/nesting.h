/* The open calls of each lane, and the enters and leaves that follow from them.
 *
 * A trace of calls says when a function is called, never when it returns. But the next
 * call tells which function made it, so everything above that function on the
 * stack must have returned by then. Two things stay open:
 *
 * - A function that is on the stack more than once (recursion): which of its
 *   activations made the call? Call sites help: an activation goes through its
 *   sites in the order of their addresses but for loops, and it begins with
 *   one of the sites that functions of this name were seen to begin with. What
 *   is decided in this way is marked as a guess.
 * - A function that is not on the stack at all: it was entered by code that is
 *   not traced (a callback, a thread's start, a signal handler). It is put under
 *   the uppermost function that is not traced itself, or else it starts anew. */
#ifndef LITIFUT_POSTPROC_TIMELINE_NESTING_H
#define LITIFUT_POSTPROC_TIMELINE_NESTING_H

#include "postproc/model/session.h"
#include "postproc/timeline/event.h"

struct post_frame {
	uint32_t function;      /* behind a PLT entry: the function itself, if it is known */
	uint32_t call;          /* that led here, POST_NONE: entered from code that is not traced */
	uint32_t last_site;     /* of the last call that this activation made, 0: none yet */
	uint32_t previous_same; /* index + 1 of the frame below of the same function */
	uint32_t least_site;    /* least last_site of this frame and those; UINT32_MAX: none */
	uint64_t time;          /* of the enter */
	uint64_t number;        /* for the sink, which may keep what it likes here */
};

/* Of one lane. All zero is an empty stack. */
struct post_stack {
	struct post_frame *frames;
	uint32_t depth, capacity;
	uint32_t *top_of; /* by function: index + 1 of its uppermost frame */
	uint32_t function_capacity;
	uint64_t time; /* of the latest event of the lane */
	bool shown;    /* an event of this lane has reached the sink */
};

/* What all lanes of a session share. All zero but for `session` and `sink` to start with. */
struct post_nesting {
	struct post_session *session;
	const struct post_timeline_sink *sink;
	bool *is_first; /* by site: an activation was seen to begin with it */
	uint32_t site_count;
};

/* Takes in a call and pushes the leaves and enters that follow from it. Calls that are not
 * `shown` are kept in mind only: the first one that is pushes an enter with
 * POST_EVENT_BEFORE for each function that is open by then. */
void post_nesting_call(struct post_nesting *nesting, struct post_thread *thread, uint32_t call,
		       uint64_t time, bool shown);

/* The same of a recorded return: leaves the innermost frame that this site has entered, and what
 * is above it. Without such a frame nothing happens. */
void post_nesting_return(struct post_nesting *nesting, struct post_thread *thread, uint32_t call,
			 uint64_t time, bool shown);

/* Leaves all frames of a lane: the trace has ended. */
void post_nesting_end(struct post_nesting *nesting, struct post_thread *thread);

/* Releases everything, the stacks of the session's lanes included. */
void post_nesting_release(struct post_nesting *nesting);

/* The frame that an event has just entered. Valid until the sink returns. */
static inline struct post_frame *post_nesting_frame(const struct post_session *session,
						    const struct post_timeline_event *event)
{
	return &session->lanes[event->lane]->stack->frames[event->depth];
}

#endif
