/* tree: the calls of each thread, indented by nesting. */
#include <stdlib.h>

#include "postproc/formats/format.h"
#include "postproc/formats/losses.h"
#include "postproc/formats/text.h"

#define DEEPEST_INDENT 48u /* deeper than that the depth is written as a number */

struct state {
	struct post_call_texts texts;
	struct post_pieces pieces;
	const struct post_thread *shown; /* whose lines came last */
};

static void indent(struct post_pieces *pieces, uint32_t depth)
{
	static const char blanks[] = "                                                "
				     "                                                ";
	const uint32_t columns = depth < DEEPEST_INDENT ? depth : DEEPEST_INDENT;

	_Static_assert(sizeof(blanks) > 2 * DEEPEST_INDENT, "two blanks for each level");
	post_pieces_add(pieces, blanks, 2 * (size_t)columns);
	if (depth > DEEPEST_INDENT)
		fprintf(post_pieces_file(pieces), "(depth %u) ", depth);
}

static char *make_line(const struct post_session *session, const struct post_call *call)
{
	struct post_text text = {0};

	post_text_add(&text, call->tail ? "=> " : "");
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

/* A function that no call of the output leads to. */
static void write_function(const struct post_output *output,
			   const struct post_timeline_event *event)
{
	const struct post_session *session = output->session;
	const struct post_function *function = &session->functions[event->callee];

	fprintf(output->file, "%s %s [%s]\n", event->flags & POST_EVENT_BEFORE ? "..." : "*",
		function->name, session->modules[function->module].name);
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct state *state = output->state;
	struct post_pieces *pieces = &state->pieces;
	const struct post_thread *thread = post_event_thread(output, event);

	if (event->kind != POST_EVENT_ENTER &&
	    !(event->kind == POST_EVENT_LEAVE && event->arguments))
		return;
	if (state->shown != thread) {
		const struct litifut_trace_header *header =
			&post_event_process(output, event)->trace->header;
		char text[64];

		fprintf(post_pieces_file(pieces), "%sprocess %u (%s), %s\n",
			state->shown ? "\n" : "", header->pid, header->program,
			post_thread_text(thread, text, sizeof(text)));
	}
	state->shown = thread;
	indent(pieces, event->depth);
	if (event->kind == POST_EVENT_LEAVE) {
		fprintf(post_pieces_file(pieces), "<- %s",
			output->session->functions[event->callee].name);
		post_write_arguments(pieces->file, output->session, event);
		post_pieces_add_letter(pieces, '\n');
		return;
	}
	if (event->site == POST_NONE || event->flags & POST_EVENT_BEFORE) {
		post_pieces_file(pieces);
		write_function(output, event);
		return;
	}
	post_call_texts_write(&state->texts, pieces, output->session, event->site, make_line);
	if (event->arguments)
		post_write_arguments(post_pieces_file(pieces), output->session, event);
	if (event->flags & POST_EVENT_GUESSED)
		post_pieces_add(pieces, " ?\n", 3);
	else
		post_pieces_add_letter(pieces, '\n');
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	post_pieces_file(&state->pieces);
	post_call_texts_release(&state->texts);
	free(state);
}

const struct post_format post_format_tree = {
	.name = "tree",
	.summary = "calls indented by nesting; => a tail call, * called by code that is not "
		   "traced, ? a guess",
	.start = start,
	.nested = true,
	.event = event,
	.finish = finish,
};
