#include "postproc/timeline/window.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/model/clock.h"

enum { VERDICT_ASKED = 1, VERDICT_FROM = 2, VERDICT_TO = 4 };

bool post_window_is_whole(const struct post_window *window)
{
	return !window->by_event && !window->by_time && !window->from.function &&
	       !window->to.function;
}

static uint8_t verdict_of(struct post_window_state *state, uint32_t call)
{
	const struct post_session *session = state->session;
	const char *const from[] = {state->window->from.function, NULL};
	const char *const to[] = {state->window->to.function, NULL};
	uint32_t callee = session->calls[call].callee;

	POST_WIDEN(state->verdicts, state->verdict_count, call, session->call_capacity);
	if (!state->verdicts[call])
		state->verdicts[call] =
			(uint8_t)(VERDICT_ASKED |
				  (*from && post_function_matches(session, from, callee)
					   ? VERDICT_FROM
					   : 0) |
				  (*to && post_function_matches(session, to, callee) ? VERDICT_TO
										     : 0));
	return state->verdicts[call];
}

void post_window_call(struct post_window_state *state, struct post_thread *thread, uint32_t call)
{
	const struct post_window *window = state->window;

	if (!window->from.function && !window->to.function)
		return;
	uint8_t verdict = verdict_of(state, call);
	if (verdict & VERDICT_FROM && ++thread->from_calls == window->from.number)
		state->opened = true;
	if (window->from.function && thread->from_calls < window->from.number)
		return;
	if (verdict & VERDICT_TO && ++thread->to_calls == window->to.number) {
		thread->end = thread->sequence + 1;
		state->closed = true;
	}
}

enum post_place post_window_place(const struct post_window_state *state,
				  const struct post_process *process,
				  const struct post_thread *thread, uint64_t ticks)
{
	const struct post_window *window = state->window;

	if (window->from.function && thread->from_calls < window->from.number)
		return POST_PLACE_BEFORE;
	if (thread->end && thread->sequence >= thread->end)
		return POST_PLACE_BEHIND;
	if (window->by_event)
		return thread->sequence < window->first_event  ? POST_PLACE_BEFORE
		       : thread->sequence > window->last_event ? POST_PLACE_BEHIND
							       : POST_PLACE_INSIDE;
	if (!window->by_time)
		return POST_PLACE_INSIDE;
	uint64_t time = post_clock_ns(process, ticks);
	time = time > state->start_ns ? time - state->start_ns : 0;
	return time < window->first_time  ? POST_PLACE_BEFORE
	       : time > window->last_time ? POST_PLACE_BEHIND
					  : POST_PLACE_INSIDE;
}

void post_window_end(struct post_window_state *state)
{
	const struct post_window *window = state->window;
	const struct post_trigger *missing = window->from.function && !state->opened ? &window->from
					     : window->to.function && !state->closed ? &window->to
										     : NULL;

	if (missing)
		post_problem_at(state->session->problems, NULL, LITIFUT_NO_ADDRESS,
				"no thread makes call %" PRIu64 " of %s, which %s asks for",
				missing->number, missing->function,
				missing == &window->from ? "--from" : "--to");
	free(state->verdicts);
	state->verdicts = NULL;
}
