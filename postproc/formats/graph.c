/* graph: the call tree from the top, as text: each function below its caller, with what was
 * spent in it and below. */
#include <inttypes.h>
#include <stdlib.h>

#include "postproc/formats/format.h"
#include "postproc/formats/losses.h"
#include "postproc/measure/call_tree.h"
#include "postproc/measure/measure.h"

#define USUAL_SHARE 0.005

struct state {
	struct post_call_tree tree;
	struct post_tree_order order;
	double least;
};

static void start(struct post_output *output)
{
	struct state *state = post_allocate(1, sizeof(*state));

	state->tree.merge_recursion = output->options.merge_recursion;
	output->state = state;
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct state *state = output->state;

	post_call_tree_take(&state->tree, output->session, event);
}

static void write_line(struct post_output *output, uint32_t node, uint32_t depth)
{
	const struct state *state = output->state;
	const struct post_session *session = output->session;
	const struct post_tree_node *about = &state->tree.nodes[node];
	const struct post_function *function = &session->functions[about->function];
	struct post_measures unit = {.hertz = output->measures ? output->measures->hertz : 0};
	char text[64];

	fprintf(output->file, "%5.1f%% ",
		state->order.sum
			? 100.0 * (double)state->order.total[node] / (double)state->order.sum
			: 0.0);
	if (state->tree.timed) {
		fprintf(output->file, "%12s ",
			post_measures_text(&unit, state->order.total[node], text, sizeof(text)));
		fprintf(output->file, "%12s ",
			post_measures_text(&unit, about->self, text, sizeof(text)));
	}
	fprintf(output->file, "%12" PRIu64 "  %*s%s [%s]\n", about->calls, (int)(2 * depth), "",
		function->name, session->modules[function->module].name);
}

/* Not recursive: a stack can be deep. */
static void write_tree(struct post_output *output)
{
	struct state *state = output->state;
	uint32_t *next = post_allocate(state->tree.count + (size_t)1, sizeof(*next));
	uint32_t depth = 0;
	uint32_t *parents = post_allocate(state->tree.count + (size_t)1, sizeof(*parents));

	parents[0] = state->tree.count;
	next[0] = state->order.first[state->tree.count];
	for (;;) {
		uint32_t at = next[depth];
		uint32_t node = at < state->tree.count ? state->order.order[at] : POST_NONE;
		if (node == POST_NONE || post_tree_parent(&state->tree, node) != parents[depth] ||
		    (double)state->order.total[node] < state->least * (double)state->order.sum) {
			if (!depth)
				break;
			depth--;
			continue;
		}
		next[depth]++;
		write_line(output, node, depth);
		uint32_t child = state->order.first[node];
		if (child < state->tree.count &&
		    post_tree_parent(&state->tree, state->order.order[child]) == node) {
			depth++;
			parents[depth] = node;
			next[depth] = child;
		}
	}
	free(next);
	free(parents);
}

static void finish(struct post_output *output)
{
	struct state *state = output->state;

	state->least = output->options.min_share >= 0 ? output->options.min_share : USUAL_SHARE;
	post_tree_order_make(&state->order, &state->tree);
	post_losses_write(output->file, output->session, "# ", "\n");
	fprintf(output->file, "%6s ", "share");
	if (state->tree.timed)
		fprintf(output->file, "%12s %12s ", "total", "self");
	fprintf(output->file, "%12s  function [module]\n", "calls");
	if (state->tree.count)
		write_tree(output);
	post_call_tree_release(&state->tree);
	post_tree_order_release(&state->order);
	free(state);
}

const struct post_format post_format_graph = {
	.name = "graph",
	.summary = "call tree from the top, with time or counts",
	.uses = POST_USES_MIN | POST_USES_MERGE_RECURSION,
	.measured = true,
	.nested = true,
	.start = start,
	.event = event,
	.finish = finish,
};
