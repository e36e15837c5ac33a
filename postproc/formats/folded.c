/* folded: one line for each distinct stack, as flamegraph.pl, inferno and
 * speedscope read it. The number is that of calls, not of time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/timeline/nesting.h"

/* A stack that occurred: a function below a parent, up to the process. */
struct node {
	uint32_t parent; /* POST_NONE: a process */
	uint32_t function;
	uint64_t count;
};

struct state {
	struct post_table index;
	struct node *nodes;
	uint32_t count, capacity;
};

static uint32_t node_below(struct state *state, uint32_t parent, uint32_t function)
{
	struct post_key key = {{parent, function}};
	uint32_t number = post_table_find(&state->index, key);

	if (number != POST_NONE)
		return number;
	POST_GROW(state->nodes, state->count, state->capacity);
	number = state->count++;
	state->nodes[number] = (struct node){.parent = parent, .function = function};
	post_table_put(&state->index, key, number);
	return number;
}

static void start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct state));
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct state *state = output->state;

	if (event->kind != POST_EVENT_ENTER)
		return;
	struct post_frame *frame = post_nesting_frame(output->session, event);
	uint32_t parent = event->depth ? (uint32_t)frame[-1].number : POST_NONE;
	uint32_t function = event->site == POST_NONE ? event->callee
						     : output->session->calls[event->site].callee;
	frame->number = node_below(state, parent, function);
	if (event->site != POST_NONE && !(event->flags & POST_EVENT_BEFORE))
		state->nodes[frame->number].count++;
}

/* In this format ';' and the last ' ' have a meaning. */
static void write_name(FILE *file, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : *name == '\n' ? ' ' : *name, file);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;
	uint32_t *path = post_allocate(state->count, sizeof(*path));

	for (uint32_t i = 0; i < state->count; i++) {
		uint32_t depth = 0;
		if (!state->nodes[i].count)
			continue;
		for (uint32_t at = i; at != POST_NONE; at = state->nodes[at].parent)
			path[depth++] = state->nodes[at].function;
		while (depth--) {
			write_name(output->file, output->session->functions[path[depth]].name);
			putc(depth ? ';' : ' ', output->file);
		}
		fprintf(output->file, "%" PRIu64 "\n", state->nodes[i].count);
	}
	free(path);
	free(state->nodes);
	post_table_release(&state->index);
	free(state);
}

const struct post_format post_format_folded = {
	.name = "folded",
	.summary = "distinct stacks with counts, for flame graphs",
	.start = start,
	.nested = true,
	.event = event,
	.finish = finish,
};
