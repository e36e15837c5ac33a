/* tree: the calls of each thread, indented by nesting. */
#include <stdlib.h>

#include "postproc/formats/format.h"
#include "postproc/timeline/stacks.h"
#include "postproc/formats/text.h"

#define DEEPEST_INDENT 48u /* deeper than that the depth is written as a number */

/* Of one thread. */
struct lane {
	struct post_stack stack; /* first, see post_thread_stack() */
	bool begun;
};

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

static void write_function(struct state *state, const struct post_frame *frame, uint32_t depth,
			   const char *mark)
{
	const struct post_session *session = state->stacks.session;
	const struct post_function *function = &session->functions[frame->function];

	indent(state->file, depth);
	fprintf(state->file, "%s %s [%s]\n", mark, function->name,
		session->modules[function->module].name);
}

static void enter(void *context, struct post_stack *stack, struct post_frame *frame, uint32_t depth)
{
	struct state *state = context;

	if (((const struct lane *)stack)->begun)
		write_function(state, frame, depth, "*");
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

static void before(struct post_output *output, const struct post_event *event)
{
	struct state *state = output->state;
	struct lane *lane = post_thread_stack(event->thread, sizeof(*lane));

	post_stack_call(&state->stacks, &lane->stack, event->call);
}

static void event(struct post_output *output, const struct post_event *event)
{
	struct state *state = output->state;
	struct lane *lane = post_thread_stack(event->thread, sizeof(*lane));
	struct post_stack *stack = &lane->stack;
	/* Entered before what is shown, and still running when that begins. */
	bool are_inside = !lane->begun && stack->depth;

	if (state->shown != event->thread)
		fprintf(output->file, "%sprocess %u (%s), thread %u\n", state->shown ? "\n" : "",
			event->process->trace->header.pid, event->process->trace->header.program,
			event->thread->id);
	state->shown = event->thread;
	lane->begun = !are_inside;
	struct post_frame *frame = post_stack_call(&state->stacks, stack, event->call);
	for (uint32_t depth = 0; are_inside && depth + 1 < stack->depth; depth++)
		write_function(state, &stack->frames[depth], depth, "...");
	lane->begun = true;
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
	.before = before,
	.finish = finish,
};
