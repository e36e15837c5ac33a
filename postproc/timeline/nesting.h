/* The open calls of each lane, and the enters and leaves that follow from them.
 *
 * A trace of calls says when a function is called, never when it returns. But the next
 * call says which function made it, so everything above that function on the
 * stack must have returned by then. Two things stay open:
 *
 * - A function that is on the stack more than once (recursion): which of its
 *   activations made the call? Call sites help: an activation goes through its
 *   sites in the order of their addresses but for loops, and it begins with
 *   one of the sites that functions of this name were seen to begin with. What
 *   is decided in this way is marked as a guess.
 * - A function that is not on the stack at all: it was entered by code that is
 *   not traced (a callback, a thread's start, a signal handler). It is put under
 *   the uppermost function that is not traced itself and that may still run, or else it
 *   starts anew.
 *
 * Whether such a function still runs is not recorded where its return is not. Three are over:
 *
 * - One that was entered by a tail call of a function which code that is not traced had
 *   entered: it returns to that code, which then calls the next one. So it is with the
 *   initialisers of C++, which end with `__cxa_atexit'. But main() may end with a tail call of
 *   the library that makes all further calls, and after it there is little else.
 * - One that an initialiser has called, when the next one is entered.
 * - Whatever was called before main() is entered, which is not called back.
 *
 * Those of the C library that call functions of the program (entries.h) stay nevertheless.
 *
 * Where returns are recorded nothing is guessed: a frame whose return is recorded stays until
 * that comes, or until the return of a call below it shows that it never will (longjmp, an
 * exception). Frames whose return is not recorded, because their site has none or because code
 * that is not traced has entered them, end at the next event that shows it; their times are
 * marked as approximate. A tail call ends with the call that its caller was entered by, and an
 * interrupt of a firmware with the call of its handler. */
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
	bool sure;              /* its return will be recorded */
	bool sure_same;         /* so will that of a frame below of the same function */
	bool tail, hidden;
	bool replaces_entry;    /* by tail calls of one that code which is not traced has entered */
	bool before;            /* entered before the window */
	uint32_t stack_pointer; /* 0: not known */
	uint64_t time;          /* of the enter */
	uint64_t taken;         /* as in the event of the enter */
	uint64_t last;          /* of the last event that is known to be inside */
	uint64_t child;         /* time of the calls that it made */
	uint64_t number;        /* for the sink, which may keep what it likes here */
};

/* Of one lane. All zero is an empty stack. */
struct post_stack {
	struct post_frame *frames;
	uint32_t depth, capacity;
	uint32_t *top_of; /* by function: index + 1 of its uppermost frame */
	uint32_t function_capacity;
	/* How many frames there are of calls at each site, by a few bits of its number, so that the
	 * return of a call that is not there needs no search; NULL in a stack that was never deep.
	 */
	uint32_t *open_sites;
	uint64_t time;      /* of the latest event of the lane */
	uint64_t taken;     /* by the tracer before it */
	bool shown;         /* an event of this lane has reached the sink */
	uint64_t unmatched; /* returns of calls that are not on the stack */
};

/* What all lanes of a session share. All zero but for `session` and `sink` to start with. */
struct post_nesting {
	struct post_session *session;
	const struct post_timeline_sink *sink;
	/* Of the return that is being taken in, which the leave of its call gets; else NULL. */
	const struct post_call_arguments *result;
	bool *is_first; /* by site: an activation was seen to begin with it */
	uint32_t site_count;
};

/* What is known of a call or a return beside its place. */
struct post_nesting_item {
	uint64_t time;
	uint64_t sequence;
	uint32_t stack_pointer; /* 0: not known */
	bool recorded;          /* returns are recorded */
	bool hidden;            /* times are kept, nothing is pushed; with `recorded` only */
	bool shown;
	const struct post_call_arguments *arguments; /* NULL: none */
};

/* Takes in a call and pushes the leaves and enters that follow from it. Calls that are not
 * `shown` are kept in mind only: the first one that is pushes an enter with
 * POST_EVENT_BEFORE for each function that is open by then. */
void post_nesting_call(struct post_nesting *nesting, struct post_thread *thread, uint32_t call,
		       const struct post_nesting_item *item);

/* A recorded return from the call that was made at `site`. */
void post_nesting_return(struct post_nesting *nesting, struct post_thread *thread, uint32_t site,
			 const struct post_nesting_item *item);

/* `count` open calls have ended without a return. */
void post_nesting_cut(struct post_nesting *nesting, struct post_thread *thread, uint32_t count);

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
