/* graph: the call tree from the top, as text: each function below its caller, with what was
 * spent in it and below. */
#include <inttypes.h>
#include <stdlib.h>

#include "postproc/formats/format.h"
#include "postproc/measure/call_tree.h"
#include "postproc/measure/measure.h"

#define USUAL_SHARE 0.005

struct state {
	struct post_call_tree tree;
	uint64_t *total; /* by node: its cost and that of all nodes below */
	uint32_t *order; /* the nodes, those of one parent side by side, most cost first */
	uint32_t *first; /* by node: where its children begin in `order`; [count]: of the roots */
	uint64_t sum;
	double least;
};

static void start(struct post_output *output)
{
	output->state = post_allocate(1, sizeof(struct state));
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;
	struct state *state = output->state;

	post_call_tree_take(&state->tree, output->session, event);
}

static uint32_t parent_of(const struct state *state, uint32_t node)
{
	uint32_t parent = state->tree.nodes[node].parent;

	return parent == POST_NONE ? state->tree.count : parent;
}

static int by_parent(const void *left, const void *right, void *context)
{
	const struct state *state = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (parent_of(state, a) != parent_of(state, b))
		return parent_of(state, a) < parent_of(state, b) ? -1 : 1;
	if (state->total[a] != state->total[b])
		return state->total[a] > state->total[b] ? -1 : 1;
	return a < b ? -1 : a > b;
}

static void add_up(struct state *state)
{
	const struct post_call_tree *tree = &state->tree;

	state->total = post_allocate(tree->count, sizeof(*state->total));
	state->order = post_allocate(tree->count, sizeof(*state->order));
	state->first = post_allocate(tree->count + (size_t)1, sizeof(*state->first));
	for (uint32_t i = tree->count; i-- > 0;) { /* children come before their parents here */
		state->order[i] = i;
		state->total[i] += tree->timed ? tree->nodes[i].self : tree->nodes[i].calls;
		if (tree->nodes[i].parent != POST_NONE)
			state->total[tree->nodes[i].parent] += state->total[i];
		else
			state->sum += state->total[i];
	}
	qsort_r(state->order, tree->count, sizeof(*state->order), by_parent, state);
	for (uint32_t i = tree->count; i-- > 0;)
		state->first[parent_of(state, state->order[i])] = i;
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
		state->sum ? 100.0 * (double)state->total[node] / (double)state->sum : 0.0);
	if (state->tree.timed) {
		fprintf(output->file, "%12s ",
			post_measures_text(&unit, state->total[node], text, sizeof(text)));
		fprintf(output->file, "%12s ",
			post_measures_text(&unit, about->self, text, sizeof(text)));
	}
	fprintf(output->file, "%12" PRIu64 "  %*s%s [%s]\n", about->calls, (int)(2 * depth), "",
		function->name, session->modules[function->module].name);
}

/* Without recursion of its own: a stack can be deep. */
static void write_tree(struct post_output *output)
{
	struct state *state = output->state;
	uint32_t *next = post_allocate(state->tree.count + (size_t)1, sizeof(*next));
	uint32_t depth = 0;
	uint32_t *parents = post_allocate(state->tree.count + (size_t)1, sizeof(*parents));

	parents[0] = state->tree.count;
	next[0] = state->first[state->tree.count];
	for (;;) {
		uint32_t at = next[depth];
		uint32_t node = at < state->tree.count ? state->order[at] : POST_NONE;
		if (node == POST_NONE || parent_of(state, node) != parents[depth] ||
		    (double)state->total[node] < state->least * (double)state->sum) {
			if (!depth)
				break;
			depth--;
			continue;
		}
		next[depth]++;
		write_line(output, node, depth);
		uint32_t child = state->first[node];
		if (child < state->tree.count && parent_of(state, state->order[child]) == node) {
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
	add_up(state);
	fprintf(output->file, "%6s ", "share");
	if (state->tree.timed)
		fprintf(output->file, "%12s %12s ", "total", "self");
	fprintf(output->file, "%12s  function [module]\n", "calls");
	if (state->tree.count)
		write_tree(output);
	post_call_tree_release(&state->tree);
	free(state->total);
	free(state->order);
	free(state->first);
	free(state);
}

const struct post_format post_format_graph = {
	.name = "graph",
	.summary = "call tree from the top, with time or counts",
	.uses = POST_USES_MIN,
	.measured = true,
	.nested = true,
	.start = start,
	.event = event,
	.finish = finish,
};
