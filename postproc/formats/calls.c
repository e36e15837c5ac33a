/* calls: one line a call, TID CALLER+0xOFF -> CALLEE [MODULE], and one for each result that is
 * recorded, TID <- CALLEE (returned=VALUE). */
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/formats/losses.h"
#include "postproc/formats/text.h"

struct state {
	struct post_call_texts texts;
	struct post_pieces pieces;
};

/* The line of a call is the same every time but for the thread. */
static char *make_line(const struct post_session *session, const struct post_call *call)
{
	const struct post_function *caller = &session->functions[call->caller];
	struct post_text text = {0};

	post_text_add(&text, caller->name);
	if (caller->symbol)
		post_text_format(&text, "+0x%x", call->caller_offset);
	post_text_add(&text, call->tail ? " => " : " -> ");
	post_text_add_target(&text, session, call);
	return post_text_take(&text);
}

static void start(struct post_output *output)
{
	struct state *state = post_allocate(1, sizeof(*state));

	state->pieces.file = output->file;
	output->state = state;
	post_losses_write(output->file, output->session, "# ", "\n");
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct state *state = output->state;
	struct post_pieces *pieces = &state->pieces;
	bool result = post_event_is_result(event);

	if (!post_event_is_call(event) && !result)
		return;
	post_pieces_add_number(pieces, post_event_thread(output, event)->id);
	post_pieces_add_letter(pieces, ' ');
	if (result)
		fprintf(post_pieces_file(pieces), "<- %s",
			output->session->functions[event->callee].name);
	else
		post_call_texts_write(&state->texts, pieces, output->session, event->site,
				      make_line);
	if (event->arguments)
		post_write_arguments(post_pieces_file(pieces), output->session, event);
	post_pieces_add_letter(pieces, '\n');
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	post_pieces_file(&state->pieces);
	post_call_texts_release(&state->texts);
	free(state);
}

const struct post_format post_format_calls = {
	.name = "calls",
	.summary = "one line a call (the default)",
	.start = start,
	.event = event,
	.results = true,
	.finish = finish,
};
