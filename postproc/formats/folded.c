/* folded: one line for each distinct stack, as flamegraph.pl, inferno and
 * speedscope read it. The number is time where returns were recorded with a clock: that of
 * the uppermost function itself, in ticks. Else it is that of calls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/formats/text.h"
#include "postproc/measure/call_tree.h"

static void start(struct post_output *output)
{
	struct post_call_tree *tree = post_allocate(1, sizeof(*tree));

	tree->merge_recursion = output->options.merge_recursion;
	output->state = tree;
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

static uint64_t cost_of(const struct post_call_tree *tree, uint32_t node)
{
	return tree->timed ? tree->nodes[node].self : tree->nodes[node].calls;
}

/* The stacks of a deep recursion have the square of its depth in names. The numbers, some bytes a
 * line, are left out of the sum. */
static void note_size(struct post_output *output, const struct post_call_tree *tree)
{
	uint64_t *length = post_allocate(tree->count, sizeof(*length)), size = 0;

	for (uint32_t i = 0; i < tree->count; i++) {
		const struct post_tree_node *node = &tree->nodes[i];

		length[i] = strlen(output->session->functions[node->function].name) + 1;
		if (node->parent != POST_NONE)
			length[i] += length[node->parent];
		if (cost_of(tree, i))
			size += length[i];
	}
	free(length);
	post_note_large_text(output, size > INT64_MAX ? INT64_MAX : (off_t)size,
			     tree->merge_recursion
				     ? NULL
				     : "--merge-recursion keeps a function once in a stack");
}

static void finish(struct post_output *output)
{
	struct post_call_tree *tree = output->state;
	uint32_t *path = post_allocate(tree->count, sizeof(*path));

	note_size(output, tree);
	for (uint32_t i = 0; i < tree->count; i++) {
		uint64_t cost = cost_of(tree, i);
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
	.uses = POST_USES_MERGE_RECURSION,
	.start = start,
	.nested = true,
	.event = event,
	.finish = finish,
};
