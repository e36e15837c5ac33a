/* folded: one line for each distinct stack, as flamegraph.pl, inferno and
 * speedscope read it. The number is that of calls, not of time. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/measure/call_tree.h"
#include "postproc/timeline/nesting.h"

static void start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct post_call_tree));
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct post_call_tree *tree = output->state;

	if (event->kind != POST_EVENT_ENTER)
		return;
	struct post_frame *frame = post_nesting_frame(output->session, event);
	uint32_t parent = event->depth ? (uint32_t)frame[-1].number : POST_NONE;
	uint32_t function = event->site == POST_NONE ? event->callee
						     : output->session->calls[event->site].callee;
	frame->number = post_call_tree_below(tree, parent, function);
	if (event->site != POST_NONE && !(event->flags & POST_EVENT_BEFORE))
		tree->nodes[frame->number].calls++;
}

/* In this format ';' and the last ' ' have a meaning. */
static void write_name(FILE *file, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' ? ':' : *name == '\n' ? ' ' : *name, file);
}

static void finish(struct post_output *output)
{
	struct post_call_tree *tree = output->state;
	uint32_t *path = post_allocate(tree->count, sizeof(*path));

	for (uint32_t i = 0; i < tree->count; i++) {
		uint32_t depth = 0;
		if (!tree->nodes[i].calls)
			continue;
		for (uint32_t at = i; at != POST_NONE; at = tree->nodes[at].parent)
			path[depth++] = tree->nodes[at].function;
		while (depth--) {
			write_name(output->file, output->session->functions[path[depth]].name);
			putc(depth ? ';' : ' ', output->file);
		}
		fprintf(output->file, "%" PRIu64 "\n", tree->nodes[i].calls);
	}
	free(path);
	post_call_tree_release(tree);
	free(tree);
}

const struct post_format post_format_folded = {
	.name = "folded",
	.summary = "distinct stacks with counts, for flame graphs",
	.start = start,
	.nested = true,
	.event = event,
	.finish = finish,
};
