/* The part of a run that is shown: between two events of each thread, two times, or two calls. */
#ifndef LITIFUT_POSTPROC_TIMELINE_WINDOW_H
#define LITIFUT_POSTPROC_TIMELINE_WINDOW_H

#include "postproc/model/session.h"

/* Call `number` (from 1) of a function in each thread. */
struct post_trigger {
	const char *function; /* a glob, see post_function_matches(); NULL: none */
	uint64_t number;
};

/* Where in each thread the output begins and ends. */
struct post_window {
	uint64_t first_event, last_event; /* sequence numbers, inclusive */
	uint64_t first_time, last_time;   /* ns after the start of the first process */
	bool by_event, by_time;
	/* Both calls are shown. Those of `to` are counted from where the thread is shown. */
	struct post_trigger from, to;
};

enum post_place { POST_PLACE_BEFORE, POST_PLACE_INSIDE, POST_PLACE_BEHIND };

/* One reading through a window. All zero but for the first three. */
struct post_window_state {
	const struct post_window *window;
	const struct post_session *session;
	uint64_t start_ns; /* what times count from */
	uint8_t *verdicts; /* by call, enum in window.c */
	size_t verdict_count;
	bool opened, closed; /* the call of `from`, of `to` was seen in some thread */
};

/* Is everything inside? */
bool post_window_is_whole(const struct post_window *window);

/* Takes notice of a call, before it is asked where it is. */
void post_window_call(struct post_window_state *state, struct post_thread *thread, uint32_t call);

/* Where an event of a thread is, whose next call has the number thread->sequence. */
enum post_place post_window_place(const struct post_window_state *state,
				  const struct post_process *process,
				  const struct post_thread *thread, uint64_t ticks);

/* After all events: reports a call that was asked for and did not happen. */
void post_window_end(struct post_window_state *state);

#endif
