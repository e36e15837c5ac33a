/* calls: one line a call, TID CALLER+0xOFF -> CALLEE [MODULE]. */
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/text.h"

/* The line of a call is the same every time but for the thread, so it is made
 * once. */
struct state {
	char **lines; /* by number of the call */
	size_t count;
};

static char *make_line(const struct post_session *session, const struct post_call *call)
{
	const struct post_function *caller = &session->functions[call->caller];
	const struct post_function *callee = &session->functions[call->callee];
	struct post_text text = {0};

	post_text_add(&text, caller->name);
	if (caller->symbol)
		post_text_format(&text, "+0x%x", call->caller_offset);
	post_text_add(&text, call->tail ? " => " : " -> ");
	if (session->options.veneers && call->veneer != POST_NONE)
		post_text_format(&text, "%s -> ", session->functions[call->veneer].name);
	post_text_add_callee(&text, session, call);
	post_text_format(&text, " [%s]\n", session->modules[callee->module].name);
	return post_text_take(&text);
}

static void start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct state));
}

static void event(struct post_output *output, const struct post_event *event)
{
	struct state *state = output->state;
	const struct post_session *session = output->session;
	char number[16];

	if (event->call >= state->count) {
		size_t count = session->call_count;
		state->lines = post_reallocate(state->lines, count, sizeof(*state->lines));
		memset(state->lines + state->count, 0,
		       (count - state->count) * sizeof(*state->lines));
		state->count = count;
	}
	char **line = &state->lines[event->call];
	if (!*line)
		*line = make_line(session, &session->calls[event->call]);
	char *digits = post_text_number(number, event->thread->id);
	fputs_unlocked(digits, output->file);
	putc_unlocked(' ', output->file);
	fputs_unlocked(*line, output->file);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	for (size_t i = 0; i < state->count; i++)
		free(state->lines[i]);
	free(state->lines);
	free(state);
}

const struct post_format post_format_calls = {
	.name = "calls",
	.summary = "one line a call (the default)",
	.start = start,
	.event = event,
	.finish = finish,
};
