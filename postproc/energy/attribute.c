#include "postproc/energy/attribute.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "postproc/energy/integral.h"

/* The calls of a function that have ended. */
struct ended {
	double least, most, sum; /* joules */
	double count;
};

struct attribution {
	struct energy_result *result;
	const struct energy_hook *hook;
	struct energy_integral integral;
	struct energy_active active;
	struct ended *ended; /* by function */
	size_t functions;
	bool failed;
};

/* What peripherals draw from `from` to `to` goes to the calls that caused it; `taken` is that, by
 * channel. Only the part `known` of that time has been measured. */
static void take_out(struct attribution *attribution, double from, double to, double known,
		     double *taken)
{
	struct energy_result *result = attribution->result;
	struct energy_active *active = &attribution->active;

	while (from < to && active->all) {
		double until = energy_active_until(active, from);
		double end = until < to ? until : to;
		for (unsigned i = 0; i < active->count; i++) {
			const struct energy_occupation *item =
				&active->all->items[active->items[i]];
			double joules = item->watts * (end - from) * known;
			for (unsigned k = 0; k < result->channels; k++)
				taken[k] += joules * item->share[k];
			if (item->cause < result->tree.count)
				result->tree.nodes[item->cause].later += joules;
		}
		from = end;
	}
}

static void segment(void *context, struct energy_lane *lane, uint32_t number, double from,
		    double to)
{
	struct attribution *attribution = context;
	struct energy_result *result = attribution->result;
	double joules[ENERGY_CHANNELS] = {0};
	double unknown = 0;

	if (!result->only_times)
		unknown = energy_integral_to(&attribution->integral, to, joules);

	if (attribution->active.all && attribution->active.all->count) {
		double known = to > from ? 1 - unknown / (to - from) : 0;
		double taken[ENERGY_CHANNELS] = {0};
		take_out(attribution, from, to, known, taken);
		for (unsigned k = 0; k < result->channels; k++) {
			joules[k] -= taken[k];
			result->later[k] += taken[k];
		}
	}

	if (number == ENERGY_TRANSFER) {
		for (unsigned i = 0; i < result->channels; i++)
			result->transfer[i] += joules[i];
		result->transfer_seconds += to - from;
		result->unknown += unknown;
		return;
	}
	struct energy_node *node = &result->tree.nodes[number];
	for (unsigned i = 0; i < result->channels; i++) {
		node->joules[i] += joules[i];
		lane->joules[i] += joules[i];
	}
	node->seconds += to - from;
	node->unknown += unknown;
	lane->seconds += to - from;
	result->unknown += unknown;
}

static void interrupted(void *context, struct energy_lane *lane, uint32_t node, uint64_t count)
{
	struct attribution *attribution = context;

	attribution->result->tree.nodes[node].hooks.interrupts += count;
	lane->hooks += attribution->hook->interrupt * (double)count;
}

static void room_for(struct attribution *attribution, uint32_t function)
{
	size_t wanted = attribution->functions ? attribution->functions : 64;

	if (function < attribution->functions)
		return;
	while (wanted <= function)
		wanted *= 2;
	struct ended *ended = litifut_memory_resized(attribution->ended, wanted, sizeof(*ended));
	if (!ended) {
		attribution->failed = true;
		return;
	}
	attribution->ended = ended;
	for (size_t i = attribution->functions; i < wanted; i++)
		ended[i] = (struct ended){.least = INFINITY, .most = -INFINITY};
	attribution->functions = wanted;
}

static void enter(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind)
{
	struct attribution *attribution = context;
	const struct energy_hook *hook = attribution->hook;
	struct energy_node *nodes = attribution->result->tree.nodes;

	(void)kind;
	nodes[under].hooks.enter_before++;
	nodes[frame->node].hooks.enter_after++;
	nodes[frame->node].calls++;
	lane->hooks += hook->enter_before;
	memcpy(frame->joules, lane->joules, sizeof(frame->joules));
	frame->seconds = lane->seconds;
	frame->hooks = lane->hooks;
	lane->hooks += hook->enter_after;
}

static void leave(void *context, struct energy_lane *lane, struct energy_frame *frame,
		  uint32_t under, enum energy_event_kind kind, double time)
{
	struct attribution *attribution = context;
	struct energy_result *result = attribution->result;
	const struct energy_hook *hook = attribution->hook;
	struct energy_node *node = &result->tree.nodes[frame->node];
	struct energy_occurrence call = {
		.node = frame->node, .start = frame->entered, .open = kind == ENERGY_EVENT_LOST};

	(void)time;
	if (kind == ENERGY_EVENT_LEAVE) {
		node->hooks.exit_before++;
		lane->hooks += hook->exit_before;
	}
	double hooks = lane->hooks - frame->hooks;
	call.duration = lane->seconds - frame->seconds - hooks;
	for (unsigned i = 0; i < result->channels; i++)
		call.joules[i] = lane->joules[i] - frame->joules[i];
	for (unsigned i = 0; i < result->channels; i++)
		call.joules[i] -= hooks * hook->watts * hook->share[i];
	if (kind == ENERGY_EVENT_LEAVE) {
		result->tree.nodes[under].hooks.exit_after++;
		lane->hooks += hook->exit_after;
	}
	room_for(attribution, node->function);
	if (!attribution->failed && !call.open) {
		double sum = energy_sum(call.joules, result->channels);
		struct ended *ended = &attribution->ended[node->function];
		ended->least = fmin(ended->least, sum);
		ended->most = fmax(ended->most, sum);
		ended->sum += sum;
		ended->count++;
	}
	if (result->occurrence)
		result->occurrence(result->context, &call);
}

static enum litifut_status no_memory(struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_IO, NULL, NULL, LITIFUT_NO_ADDRESS,
				 "not enough memory for the functions");
}

enum litifut_status energy_attribute(struct energy_result *result, const struct energy_power *power,
				     const struct energy_events *events,
				     const struct energy_clock *clock,
				     const struct energy_hook *hook, struct litifut_error *error)
{
	struct attribution attribution = {.result = result, .hook = hook};
	struct energy_visitor visitor = {.context = &attribution,
					 .segment = segment,
					 .enter = enter,
					 .leave = leave,
					 .interrupted = interrupted};
	struct energy_integral all;

	attribution.active.all = result->occupations;
	result->channels = power->channels;
	result->begin = energy_power_start(power);
	result->end = energy_power_end(power);
	energy_integral_start(&all, power);
	if (!result->only_times)
		energy_integral_to(&all, result->end, result->total);
	energy_tree_start(&result->tree);
	energy_integral_start(&attribution.integral, power);
	enum litifut_status status = energy_walk(events, clock, &result->tree, result->begin,
						 result->end, &visitor, &result->counts, error);
	if (status == LITIFUT_OK && attribution.failed)
		status = no_memory(error);
	if (status == LITIFUT_OK)
		status = energy_sum_up(result, hook, error);
	for (size_t i = 0; status == LITIFUT_OK && i < result->function_count; i++) {
		const struct ended *ended = &attribution.ended[i];
		result->functions[i].least = ended->least;
		result->functions[i].most = ended->most;
		result->functions[i].mean = ended->sum / ended->count;
	}
	free(attribution.ended);
	return status;
}

/* ---- sums over the tree ---- */

struct inclusive {
	double joules[ENERGY_CHANNELS];
	double seconds, later;
};

/* Children of each node, as lists. */
struct links {
	uint32_t *first, *next;
};

static int by_functions(const void *left, const void *right)
{
	const struct energy_edge *a = left, *b = right;

	if (a->caller != b->caller)
		return a->caller < b->caller ? -1 : 1;
	return (a->callee > b->callee) - (a->callee < b->callee);
}

static void add_inclusive(double *joules, double *seconds, const struct inclusive *inclusive,
			  unsigned channels)
{
	for (unsigned k = 0; k < channels; k++)
		joules[k] += inclusive->joules[k];
	*seconds += inclusive->seconds;
}

/* Goes down the tree with the number of open calls of each function, so that a recursion is
 * counted where it begins. An edge's energy is that of its calls that are not inside a call
 * over the same edge: what lies below a caller of the same function is shown by `open`. */
static void go_down(struct energy_result *result, const struct links *links,
		    const struct inclusive *inclusive, uint32_t *open)
{
	uint32_t at = ENERGY_ROOT;
	const struct energy_node *nodes = result->tree.nodes;
	bool down = true;

	for (;;) {
		if (down && at != ENERGY_ROOT) {
			struct energy_function *function = &result->functions[nodes[at].function];
			struct energy_edge *edge = &result->edges[at - 1];
			if (!open[nodes[at].function]++)
				add_inclusive(function->inclusive, &function->inclusive_seconds,
					      &inclusive[at], result->channels);
			*edge = (struct energy_edge){.caller = nodes[nodes[at].parent].function,
						     .callee = nodes[at].function,
						     .calls = nodes[at].calls,
						     .later = inclusive[at].later};
			if (open[nodes[at].function] == 1)
				add_inclusive(edge->inclusive, &edge->seconds, &inclusive[at],
					      result->channels);
		}
		if (down && links->first[at]) {
			at = links->first[at];
			continue;
		}
		if (at == ENERGY_ROOT)
			return;
		open[nodes[at].function]--;
		down = links->next[at] != 0;
		at = down ? links->next[at] : nodes[at].parent;
		if (!down && at == ENERGY_ROOT)
			return;
	}
}

static void merge_edges(struct energy_result *result)
{
	size_t kept = 0, count = result->tree.count - 1;

	qsort(result->edges, count, sizeof(*result->edges), by_functions);
	for (size_t i = 0; i < count; i++) {
		struct energy_edge *edge = &result->edges[i];
		struct energy_edge *last = kept ? &result->edges[kept - 1] : NULL;
		if (!last || last->caller != edge->caller || last->callee != edge->callee) {
			result->edges[kept++] = *edge;
			continue;
		}
		last->calls += edge->calls;
		last->seconds += edge->seconds;
		last->later += edge->later;
		for (unsigned k = 0; k < result->channels; k++)
			last->inclusive[k] += edge->inclusive[k];
	}
	result->edge_count = kept;
}

enum litifut_status energy_sum_up(struct energy_result *result, const struct energy_hook *hook,
				  struct litifut_error *error)
{
	const size_t count = result->tree.count;
	const struct energy_node *nodes = result->tree.nodes;
	struct inclusive *inclusive = calloc(count, sizeof(*inclusive));
	struct links links = {calloc(count, sizeof(uint32_t)), calloc(count, sizeof(uint32_t))};
	size_t functions = 0;

	for (size_t i = 1; i < count; i++) {
		if (nodes[i].function >= functions)
			functions = (size_t)nodes[i].function + 1;
	}
	uint32_t *open = calloc(functions + 1, sizeof(*open));
	free(result->functions);
	free(result->edges);
	result->functions = calloc(functions + 1, sizeof(*result->functions));
	result->edges = calloc(count, sizeof(*result->edges));
	result->function_count = functions;
	bool good = inclusive && links.first && links.next && open && result->functions &&
		    result->edges;
	memset(result->hooks, 0, sizeof(result->hooks));
	result->hook_seconds = 0;
	for (size_t i = count; good && i-- > 0;) {
		const struct energy_node *node = &nodes[i];
		double seconds = energy_hook_seconds(hook, &node->hooks);
		double joules[ENERGY_CHANNELS];
		memcpy(joules, node->joules, sizeof(joules));
		for (unsigned k = 0; k < result->channels; k++) {
			joules[k] -= seconds * hook->watts * hook->share[k];
			result->hooks[k] += seconds * hook->watts * hook->share[k];
		}
		result->hook_seconds += seconds;
		for (unsigned k = 0; k < result->channels; k++)
			inclusive[i].joules[k] += joules[k];
		inclusive[i].seconds += node->seconds - seconds;
		inclusive[i].later += node->later;
		if (i == ENERGY_ROOT) {
			memcpy(result->outside, joules, sizeof(joules));
			result->outside_seconds = node->seconds - seconds;
			break;
		}
		struct energy_function *function = &result->functions[node->function];
		for (unsigned k = 0; k < result->channels; k++) {
			function->self[k] += joules[k];
			inclusive[node->parent].joules[k] += inclusive[i].joules[k];
		}
		inclusive[node->parent].seconds += inclusive[i].seconds;
		inclusive[node->parent].later += inclusive[i].later;
		function->self_seconds += node->seconds - seconds;
		function->hook_seconds += seconds;
		function->unknown += node->unknown;
		function->calls += node->calls;
		function->later += node->later;
		function->hooks.enter_before += node->hooks.enter_before;
		function->hooks.enter_after += node->hooks.enter_after;
		function->hooks.exit_before += node->hooks.exit_before;
		function->hooks.exit_after += node->hooks.exit_after;
		function->hooks.interrupts += node->hooks.interrupts;
		if (node->parent != ENERGY_ROOT)
			result->functions[nodes[node->parent].function].made += node->calls;
		links.next[i] = links.first[node->parent];
		links.first[node->parent] = (uint32_t)i;
	}
	if (good) {
		go_down(result, &links, inclusive, open);
		merge_edges(result);
	}
	free(inclusive);
	free(links.first);
	free(links.next);
	free(open);
	return good ? LITIFUT_OK : no_memory(error);
}

/* A border that is off moves energy of the difference of the powers on its two sides. What
 * all borders have in common adds up, the rest by squares. */
void energy_uncertainties(struct energy_result *result, const struct energy_clock *clock,
			  const struct energy_hook *hook, double tick, double noise_density)
{
	const struct energy_node *nodes = result->tree.nodes;

	for (size_t i = 0; i < result->function_count; i++)
		result->functions[i].uncertainty = 0;
	double *common = calloc(result->function_count + 1, sizeof(*common));
	if (!common)
		return;
	for (size_t i = 1; i < result->tree.count; i++) {
		const struct energy_node *node = &nodes[i], *parent = &nodes[node->parent];
		struct energy_function *function = &result->functions[node->function];
		double power = node->seconds > 0
				       ? energy_sum(node->joules, result->channels) / node->seconds
				       : 0;
		double around = parent->seconds > 0 ? energy_sum(parent->joules, result->channels) /
							      parent->seconds
						    : power;
		double step = power - around, calls = (double)node->calls;
		double alone = tick * tick / 6;
		function->uncertainty += calls * alone * step * step;
		common[node->function] += calls * clock->uncertainty * fabs(step);
		if (node->parent != ENERGY_ROOT) {
			result->functions[parent->function].uncertainty +=
				calls * alone * step * step;
			common[parent->function] += calls * clock->uncertainty * fabs(step);
		}
	}
	for (size_t i = 0; i < result->function_count; i++) {
		struct energy_function *function = &result->functions[i];
		double hooks = (double)(function->calls + function->made) * hook->uncertainty *
			       hook->watts;
		/* what was drawn while samples are missing is not in the sum */
		double missing = function->self_seconds > 0
					 ? function->unknown *
						   energy_sum(function->self, result->channels) /
						   function->self_seconds
					 : 0;
		function->uncertainty =
			sqrt(function->uncertainty + common[i] * common[i] + missing * missing +
			     noise_density * fmax(0, function->self_seconds) + hooks * hooks);
	}
	free(common);
}

void energy_result_release(struct energy_result *result)
{
	energy_tree_release(&result->tree);
	free(result->functions);
	free(result->edges);
	result->functions = NULL;
	result->edges = NULL;
}
