/* tree: the calls of each thread, indented by nesting. */
#include <stdlib.h>

#include "postproc/formats/format.h"
#include "postproc/stacks.h"
#include "postproc/text.h"

#define DEEPEST_INDENT 48u /* deeper than that the depth is written as a number */

struct state {
	struct post_stacks stacks;
	struct post_call_texts texts;
	const struct post_thread *shown; /* whose lines came last */
	FILE *file;
};

static void indent(FILE *file, uint32_t depth)
{
	uint32_t columns = depth < DEEPEST_INDENT ? depth : DEEPEST_INDENT;

	while (columns--)
		fwrite_unlocked("  ", 1, 2, file);
	if (depth > DEEPEST_INDENT)
		fprintf(file, "(depth %u) ", depth);
}

static void enter(void *context, struct post_stack *stack, struct post_frame *frame, uint32_t depth)
{
	struct state *state = context;
	const struct post_session *session = state->stacks.session;
	const struct post_function *function = &session->functions[frame->function];

	(void)stack;
	indent(state->file, depth);
	fprintf(state->file, "* %s [%s]\n", function->name,
		session->modules[function->module].name);
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

	state->file = output->file;
	state->stacks.session = output->session;
	state->stacks.enter = enter;
	state->stacks.context = state;
	output->state = state;
}

static void event(struct post_output *output, const struct post_event *event)
{
	struct state *state = output->state;
	struct post_stack *stack = post_thread_stack(event->thread, sizeof(*stack));

	if (state->shown != event->thread)
		fprintf(output->file, "%sprocess %u (%s), thread %u\n", state->shown ? "\n" : "",
			event->process->trace->header.pid, event->process->trace->header.program,
			event->thread->id);
	state->shown = event->thread;
	struct post_frame *frame = post_stack_call(&state->stacks, stack, event->call);
	indent(output->file, stack->depth - 1);
	post_call_texts_write(&state->texts, output->file, output->session, event->call, make_line);
	fputs_unlocked(frame->guessed ? " ?\n" : "\n", output->file);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	post_stacks_release(&state->stacks);
	post_call_texts_release(&state->texts);
	free(state);
}

const struct post_format post_format_tree = {
	.name = "tree",
	.summary = "calls indented by nesting; ? marks a guess in recursion",
	.start = start,
	.event = event,
	.finish = finish,
};
