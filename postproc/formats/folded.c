/* folded: one line for each distinct stack, as flamegraph.pl, inferno and
 * speedscope read it. The number is time where returns were recorded with a clock: that of
 * the uppermost function itself, in ticks. Else it is that of calls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/measure/call_tree.h"

static void start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct post_call_tree));
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;

	post_call_tree_take(output->state, output->session, event);
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
		uint64_t cost = tree->timed ? tree->nodes[i].self : tree->nodes[i].calls;
		uint32_t depth = 0;
		if (!cost)
			continue;
		for (uint32_t at = i; at != POST_NONE; at = tree->nodes[at].parent)
			path[depth++] = tree->nodes[at].function;
		while (depth--) {
			write_name(output->file, output->session->functions[path[depth]].name);
			putc(depth ? ';' : ' ', output->file);
		}
		fprintf(output->file, "%" PRIu64 "\n", cost);
	}
	free(path);
	post_call_tree_release(tree);
	free(tree);
}

const struct post_format post_format_folded = {
	.name = "folded",
	.summary = "distinct stacks with time or counts, for flame graphs",
	.start = start,
	.nested = true,
	.event = event,
	.finish = finish,
};
