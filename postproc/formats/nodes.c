#include "postproc/formats/nodes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/near.h"
#include "postproc/paths/activations.h"
#include "postproc/paths/steps_walk.h"

/* Which functions of the pairs a function is: a bit each, if that was looked at. */
struct post_node_function {
	bool known;
	uint64_t sends, receives;
};

bool post_nodes_wanted(const struct post_output *output)
{
	return output->options.orders != NULL;
}

/* Is the file the one that was given, or does it lie in the folder? */
static bool lies_in(const char *file, const char *given)
{
	size_t length = strlen(given);

	while (length > 1 && given[length - 1] == '/')
		length--;
	return !strncmp(file, given, length) && (!file[length] || file[length] == '/');
}

/* The number of the path that was given for a process; path_count: it is not known. */
static size_t given_for(const struct post_output *output, uint32_t number)
{
	const char *file = output->session->processes[number]->trace->path;
	size_t i = 0;

	while (i < output->options.path_count && !lies_in(file, output->options.paths[i]))
		i++;
	return i;
}

/* As the user has named it: with several traces in a folder, the names of these. */
static char *label_of(const struct post_output *output, uint32_t number)
{
	const struct post_session *session = output->session;
	const char *file = session->processes[number]->trace->path;
	const size_t found = given_for(output, number);
	const char *given =
		found < output->options.path_count ? output->options.paths[found] : NULL;
	char *label;

	for (size_t i = 0; i < session->process_count && given; i++)
		if (i != number && lies_in(session->processes[i]->trace->path, given))
			given = NULL;
	if (!given)
		return post_copy_text(post_base_name(file));
	label = post_copy_text(given);
	for (size_t end = strlen(label); end > 1 && label[end - 1] == '/';)
		label[--end] = '\0';
	return label;
}

void post_nodes_start(struct post_nodes *nodes, struct post_output *output)
{
	const size_t count = output->session->process_count;
	size_t pairs = 0;

	while (output->options.orders[pairs] && pairs < POST_ORDERS_MOST)
		pairs++;
	*nodes = (struct post_nodes){
		.output = output,
		.labels = post_allocate(count + 1, sizeof(*nodes->labels)),
		.given = post_allocate(count + 1, sizeof(*nodes->given)),
		.gaps = post_allocate(count + 1, sizeof(*nodes->gaps)),
		.pairs = post_allocate(pairs + 1, sizeof(*nodes->pairs)),
		.order = {.node_count = (uint32_t)count, .pair_count = (uint32_t)pairs}};
	for (size_t i = 0; i < pairs; i++) /* the options were checked */
		post_flows_read(&nodes->pairs[i], output->options.orders[i]);
	for (uint32_t i = 0; i < count; i++) {
		size_t at = i;

		nodes->labels[i] = label_of(output, i);
		for (; at && given_for(output, nodes->given[at - 1]) > given_for(output, i); at--)
			nodes->given[at] = nodes->given[at - 1];
		nodes->given[at] = i;
	}
}

size_t post_nodes_lane(struct post_nodes *nodes, uint32_t process, uint32_t thread)
{
	const struct post_session *session = nodes->output->session;
	struct post_order *order = &nodes->order;

	/* one CPU does one thing after the other */
	if (session->processes[process]->trace->bare)
		thread = 0;
	for (size_t i = order->lane_count; i-- > 0;)
		if (nodes->lanes[i].process == process && nodes->lanes[i].thread == thread)
			return i;
	POST_GROW(nodes->lanes, order->lane_count, nodes->lane_capacity);
	nodes->lanes[order->lane_count] =
		(struct post_node_lane){.process = process, .thread = thread};
	return post_order_add_lane(order, process);
}

static const struct post_node_function *function_of(struct post_nodes *nodes, uint32_t number)
{
	const struct post_session *session = nodes->output->session;
	struct post_node_function *function;

	POST_WIDEN(nodes->functions, nodes->function_count, number, session->function_count + 64);
	function = &nodes->functions[number];
	for (uint32_t i = 0; i < nodes->order.pair_count && !function->known; i++) {
		const char *const send[] = {nodes->pairs[i].send, NULL};
		const char *const receive[] = {nodes->pairs[i].receive, NULL};

		if (post_function_matches(session, send, number))
			function->sends |= UINT64_C(1) << i;
		if (post_function_matches(session, receive, number))
			function->receives |= UINT64_C(1) << i;
	}
	function->known = true;
	return function;
}

void post_nodes_call(struct post_nodes *nodes, size_t lane, uint32_t number)
{
	const struct post_node_function *function = function_of(nodes, number);
	const size_t at = nodes->order.lanes[lane].steps;

	/* what passes a message on has received it before */
	for (uint32_t i = 0; i < nodes->order.pair_count; i++)
		if (function->receives >> i & 1)
			post_order_add_call(&nodes->order, lane, at, i, false);
	for (uint32_t i = 0; i < nodes->order.pair_count; i++)
		if (function->sends >> i & 1)
			post_order_add_call(&nodes->order, lane, at, i, true);
}

static uint64_t sum(const struct post_nodes *nodes, const uint64_t *counts, uint32_t pair)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < nodes->order.node_count; i++)
		all += counts[(size_t)pair * nodes->order.node_count + i];
	return all;
}

static void report_none(const struct post_nodes *nodes, const char *name, const char *what)
{
	char *none = post_near_none(nodes->output->session, name);

	post_problem_at(nodes->output->session->problems, NULL, LITIFUT_NO_ADDRESS,
			"--order: no call of %s, which %s, was recorded%s", name, what, none);
	free(none);
}

static void report_misfits(const struct post_nodes *nodes, const struct post_order_result *result)
{
	struct post_problems *problems = nodes->output->session->problems;
	const struct post_order_misfit *misfit = &result->contrary;

	if (misfit->count)
		post_problem_at(
			problems, nodes->labels[misfit->node], LITIFUT_NO_ADDRESS,
			"--order: nodes wait for each other: no order has call %" PRIu64
			" of %s there behind as many calls of %s of the others, which have made "
			"%" PRIu64 " until then; %" PRIu64 " call%s shown too early: check that "
			"each call of one receives what a call of the other sends",
			misfit->number, nodes->pairs[misfit->pair].receive,
			nodes->pairs[misfit->pair].send, misfit->sent, misfit->count,
			misfit->count == 1 ? " is" : "s are");
	misfit = &result->missing;
	if (misfit->count)
		post_problem_at(
			problems, nodes->labels[misfit->node], LITIFUT_NO_ADDRESS,
			"--order: call %" PRIu64 " of %s is one more than the others have made of "
			"%s, and %" PRIu64 " such call%s shown where nothing orders them: the "
			"trace of a node is missing, or does not begin when the node began",
			misfit->number, nodes->pairs[misfit->pair].receive,
			nodes->pairs[misfit->pair].send, misfit->count,
			misfit->count == 1 ? " is" : "s are");
}

/* Has each message come to all other nodes, or to one? */
static bool all_have_come(const struct post_nodes *nodes, const struct post_order_result *result,
			  uint32_t pair)
{
	const uint32_t count = nodes->order.node_count;
	const uint64_t sent = sum(nodes, result->sent, pair);
	bool to_all = true;

	for (uint32_t i = 0; i < count; i++) {
		const size_t at = (size_t)pair * count + i;

		to_all &= result->received[at] == sent - result->sent[at];
	}
	return to_all || sum(nodes, result->received, pair) == sent;
}

static void note_lost(const struct post_nodes *nodes, const struct post_order_result *result,
		      uint32_t pair)
{
	const uint32_t count = nodes->order.node_count;
	char *text = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&text, &size);

	if (!memory)
		return;
	for (uint32_t i = 0; i < count; i++) {
		const size_t at = (size_t)pair * count + nodes->given[i];
		const uint64_t sent = result->sent[at], received = result->received[at];

		if (sent || received)
			fprintf(memory, "%s %s has sent %" PRIu64 " and received %" PRIu64,
				ftell(memory) ? "," : "", nodes->labels[nodes->given[i]], sent,
				received);
	}
	fclose(memory);
	post_note_at(nodes->output->session->problems, NULL, LITIFUT_NO_ADDRESS,
		     "--order %s=%s: messages were lost, or did not go to all nodes:%s",
		     nodes->pairs[pair].send, nodes->pairs[pair].receive, text);
	free(text);
}

static void report(const struct post_nodes *nodes, const struct post_order_result *result)
{
	for (uint32_t i = 0; i < nodes->order.pair_count; i++) {
		const uint64_t sent = sum(nodes, result->sent, i);
		const uint64_t received = sum(nodes, result->received, i);

		if (!sent)
			report_none(nodes, nodes->pairs[i].send, "sends");
		if (!received)
			report_none(nodes, nodes->pairs[i].receive, "receives");
		if (sent && received && !all_have_come(nodes, result, i))
			note_lost(nodes, result, i);
	}
	for (uint32_t i = 0; i < nodes->order.node_count; i++)
		if (nodes->gaps[i])
			post_note_at(nodes->output->session->problems, nodes->labels[i],
				     LITIFUT_NO_ADDRESS,
				     "--order: its recording has gaps; calls in them are not "
				     "counted, so what comes behind may be ordered wrongly");
	report_misfits(nodes, result);
}

void post_nodes_run(struct post_nodes *nodes,
		    void (*piece)(void *context, size_t lane, size_t first, size_t end),
		    void *context)
{
	struct post_order_result result;

	post_order_run(&nodes->order, piece, context, &result);
	if (nodes->order.lane_count)
		report(nodes, &result);
	post_order_result_release(&result);
}

void post_nodes_release(struct post_nodes *nodes)
{
	for (uint32_t i = 0; i < nodes->order.node_count; i++)
		free(nodes->labels[i]);
	for (uint32_t i = 0; i < nodes->order.pair_count; i++)
		post_flows_release(&nodes->pairs[i]);
	post_order_release(&nodes->order);
	free(nodes->labels);
	free(nodes->given);
	free(nodes->gaps);
	free(nodes->pairs);
	free(nodes->lanes);
	free(nodes->functions);
}

struct step_list {
	struct post_path_step *items;
	size_t capacity; /* of as many as the lane has */
};

struct walk {
	struct post_nodes *nodes;
	uint32_t process;
	struct post_path_tracker tracker;
	struct step_list *lists; /* by lane */
	size_t list_count;
	void (*take)(void *context, uint32_t process, const struct post_path_step *step);
	void *context;
};

static void collect(void *context, const struct post_path_step *step)
{
	struct walk *walk = context;
	struct post_nodes *nodes = walk->nodes;
	const size_t lane = post_nodes_lane(nodes, walk->process, step->thread);

	if (step->kind == POST_PATH_TAKEN || step->kind == POST_PATH_PASSED)
		return;
	POST_WIDEN(walk->lists, walk->list_count, lane, nodes->lane_capacity);
	nodes->gaps[walk->process] |= step->kind == POST_PATH_GAP;
	if (post_path_track(&walk->tracker, step))
		post_nodes_call(nodes, lane,
				post_session_function(nodes->output->session, step->code->module,
						      step->code->blocks[step->block].block.start));
	struct step_list *list = &walk->lists[lane];
	size_t *count = &nodes->order.lanes[lane].steps;

	POST_GROW(list->items, *count, list->capacity);
	list->items[(*count)++] = *step;
}

static void hand_on(void *context, size_t lane, size_t first, size_t end)
{
	const struct walk *walk = context;

	for (size_t i = first; i < end; i++)
		walk->take(walk->context, walk->nodes->lanes[lane].process,
			   &walk->lists[lane].items[i]);
}

void post_nodes_walk(struct post_nodes *nodes, struct post_path_codes *codes,
		     void (*take)(void *context, uint32_t process,
				  const struct post_path_step *step),
		     void *context)
{
	struct post_session *session = nodes->output->session;
	struct walk walk = {.nodes = nodes, .take = take, .context = context};

	for (uint32_t i = 0; i < session->process_count; i++) {
		const struct post_process *process = session->processes[nodes->given[i]];

		if (!process->trace || !process->trace->bits_count)
			continue;
		walk.process = nodes->given[i];
		post_steps_walk(session, process, codes, collect, &walk,
				&(struct post_path_totals){0});
		post_path_track_end(&walk.tracker);
	}
	post_nodes_run(nodes, hand_on, &walk);
	for (size_t i = 0; i < walk.list_count; i++)
		free(walk.lists[i].items);
	free(walk.lists);
}
