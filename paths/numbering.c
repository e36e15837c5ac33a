#include "paths/numbering.h"

#include <stdlib.h>
#include <string.h>

#define NO_START UINT64_MAX

enum color { WHITE = 0, OPEN, DONE };

struct numberer {
	const struct path_flow *flow;
	struct path_numbers *numbers;
	uint64_t most;     /* numbers of a function that are allowed */
	uint32_t *order;   /* nodes of a function, each behind those that follow it */
	uint32_t *stack;   /* nodes */
	uint32_t *next;    /* of a node or function: the edge that is looked at next */
	uint8_t *color;    /* of a node */
	bool *apart;       /* of a node: paths end before it, as too many follow */
	bool *closes;      /* of an edge: it closes a loop */
	uint32_t *callees; /* functions in an order such that callees come first */
	bool interprocedural;
	bool changed;
};

unsigned path_bits(uint64_t count)
{
	return count > 1 ? 64 - (unsigned)__builtin_clzll(count - 1) : 0;
}

/* Puts the nodes that can be reached into `order`; finds the edges that close loops. */
static size_t sort_from(struct numberer *n, uint32_t function, uint32_t root, size_t count)
{
	const struct path_flow *flow = n->flow;
	size_t depth = 0;

	n->stack[depth++] = root;
	n->color[root] = OPEN;
	while (depth) {
		const uint32_t node = n->stack[depth - 1];
		uint32_t target;

		if (n->next[node] == flow->nodes[node].count) {
			n->color[node] = DONE;
			n->order[count++] = node;
			depth--;
			continue;
		}
		target = flow->edges[flow->nodes[node].first + n->next[node]];
		if (target != PATH_EXIT && flow->nodes[target].begins)
			target = PATH_EXIT;
		if (target != PATH_EXIT && n->color[target] == OPEN) {
			n->closes[flow->nodes[node].first + n->next[node]] = true;
			n->numbers->functions[function].loops++;
		}
		n->next[node]++;
		if (target == PATH_EXIT || n->color[target] != WHITE)
			continue;
		n->color[target] = OPEN;
		n->stack[depth++] = target;
	}
	return count;
}

static size_t sort_nodes(struct numberer *n, uint32_t function)
{
	const struct path_function *about = &n->flow->functions[function];
	size_t count = sort_from(n, function, about->first, 0);

	for (uint32_t i = about->first; i < about->first + about->count; i++)
		if (n->flow->nodes[i].begins && n->color[i] == WHITE)
			count = sort_from(n, function, i, count);
	return count;
}

/* The called function with the most paths becomes independent. False: there is none. */
static bool part_from_callee(struct numberer *n, const uint32_t *order, size_t count)
{
	uint64_t most = 1;
	uint32_t found = PATH_UNKNOWN;

	for (size_t i = 0; i < count; i++) {
		const uint32_t callee = n->flow->nodes[order[i]].callee;

		if (path_is_dependent(n->numbers, callee) &&
		    n->numbers->functions[callee].paths > most) {
			most = n->numbers->functions[callee].paths;
			found = callee;
		}
	}
	if (found == PATH_UNKNOWN)
		return false;
	n->numbers->functions[found].reasons |= PATH_LARGE;
	n->changed = true;
	return true;
}

/* What follows an edge. */
static bool number_edge(struct numberer *n, uint32_t function, uint32_t edge, uint64_t *more)
{
	struct path_numbers *numbers = n->numbers;
	const uint32_t target = n->flow->edges[edge];
	uint32_t callee;

	*more = 1;
	if (target == PATH_EXIT || n->closes[edge])
		return true;
	if (n->flow->nodes[target].begins) {
		numbers->edge_ends[edge] = true;
		return true;
	}
	if (n->apart[target]) {
		numbers->edge_ends[edge] = true;
		numbers->functions[function].cuts++;
		return true;
	}
	callee = n->flow->nodes[target].callee;
	*more = numbers->follow[target];
	return !path_is_dependent(numbers, callee) ||
	       !__builtin_mul_overflow(*more, numbers->functions[callee].paths, more);
}

/* False: that is too many for 64 bits. */
static bool number_node(struct numberer *n, uint32_t function, uint32_t node, uint64_t most)
{
	struct path_numbers *numbers = n->numbers;
	const struct path_node *about = &n->flow->nodes[node];
	uint64_t paths = 0, more;
	bool fits = true;

	for (uint32_t i = about->first; i < about->first + about->count; i++) {
		numbers->edge_value[i] = paths;
		numbers->edge_ends[i] = n->closes[i];
		fits &= number_edge(n, function, i, &more);
		fits &= !__builtin_add_overflow(paths, more, &paths);
	}
	numbers->follow[node] = about->count ? paths : 1;
	paths = numbers->follow[node];
	if (path_is_dependent(numbers, about->callee))
		fits &= !__builtin_mul_overflow(paths, numbers->functions[about->callee].paths,
						&paths);
	n->apart[node] = paths > most;
	return fits;
}

static uint64_t paths_of(const struct path_numbers *numbers, uint32_t node)
{
	const uint32_t callee = numbers->flow->nodes[node].callee;

	return numbers->follow[node] *
	       (path_is_dependent(numbers, callee) ? numbers->functions[callee].paths : 1);
}

/* Adds up the paths from all places where one begins. */
static bool number_starts(struct numberer *n, uint32_t function, const uint32_t *order,
			  size_t count)
{
	const struct path_flow *flow = n->flow;
	struct path_numbers *numbers = n->numbers;
	const uint32_t entry = flow->functions[function].first;
	uint64_t total = paths_of(numbers, entry);
	bool fits = total <= n->most;

	for (size_t i = 0; i < count; i++)
		numbers->start[order[i]] = NO_START;
	numbers->start[entry] = 0;
	for (size_t i = 0; i < count; i++) {
		const struct path_node *node = &flow->nodes[order[i]];

		if (node->begins && numbers->start[order[i]] == NO_START) {
			numbers->start[order[i]] = total;
			fits &= !__builtin_add_overflow(total, paths_of(numbers, order[i]),
							&total) &&
				total <= n->most;
		}
		for (uint32_t j = node->first; j < node->first + node->count; j++) {
			const uint32_t head = flow->edges[j];

			if (!numbers->edge_ends[j] || numbers->start[head] != NO_START)
				continue;
			numbers->start[head] = total;
			fits &= !__builtin_add_overflow(total, paths_of(numbers, head), &total) &&
				total <= n->most;
		}
	}
	numbers->functions[function].paths = total;
	return fits;
}

/* False: the numbers do not fit, and a callee was made independent. */
static bool number_function(struct numberer *n, uint32_t function)
{
	const struct path_function *about = &n->flow->functions[function];
	struct path_function_numbers *own = &n->numbers->functions[function];
	uint64_t most = n->most;
	size_t count;

	memset(n->color + about->first, WHITE, about->count);
	memset(n->next + about->first, 0, about->count * sizeof(*n->next));
	own->loops = 0;
	count = sort_nodes(n, function);
	for (bool fits = false; !fits && most; most /= 2) {
		own->cuts = 0;
		fits = true;
		for (size_t i = 0; i < count; i++) {
			fits &= number_node(n, function, n->order[i], most);
			if ((!fits || n->apart[n->order[i]]) &&
			    part_from_callee(n, n->order, count))
				return false;
		}
		/* With 1, paths end before each branch: less is not possible. */
		fits = number_starts(n, function, n->order, count) && fits;
		if (!fits && part_from_callee(n, n->order, count))
			return false;
	}
	if (own->loops)
		own->reasons |= PATH_LOOP;
	if (own->cuts)
		own->reasons |= PATH_LARGE;
	return true;
}

/* The calls of a function, one after the other; PATH_UNKNOWN: no more. */
static uint32_t next_callee(struct numberer *n, uint32_t function, uint32_t *at)
{
	const struct path_function *about = &n->flow->functions[function];

	while (*at < about->count) {
		const uint32_t callee = n->flow->nodes[about->first + (*at)++].callee;

		if (callee != PATH_UNKNOWN)
			return callee;
	}
	return PATH_UNKNOWN;
}

/* Strongly connected components (Tarjan 1972). */
struct components {
	uint32_t *index, *low, *open, *work, *at;
	bool *is_open;
	uint32_t last;
	size_t open_count;
};

static void close_component(struct numberer *n, struct components *c, uint32_t root, size_t *done)
{
	const bool alone = c->open[c->open_count - 1] == root;
	uint32_t function;

	do {
		function = c->open[--c->open_count];
		c->is_open[function] = false;
		if (!alone)
			n->numbers->functions[function].reasons |= PATH_RECURSION;
		n->callees[(*done)++] = function;
	} while (function != root);
}

static void visit(struct numberer *n, struct components *c, uint32_t root, size_t *done)
{
	size_t depth = 0;

	c->work[depth++] = root;
	while (depth) {
		const uint32_t function = c->work[depth - 1];
		uint32_t callee;

		if (!c->index[function]) {
			c->index[function] = c->low[function] = ++c->last;
			c->open[c->open_count++] = function;
			c->is_open[function] = true;
		}
		callee = next_callee(n, function, &c->at[function]);
		if (callee == PATH_UNKNOWN) {
			depth--;
			if (c->low[function] == c->index[function])
				close_component(n, c, function, done);
			if (depth && c->low[function] < c->low[c->work[depth - 1]])
				c->low[c->work[depth - 1]] = c->low[function];
		} else if (callee == function) {
			n->numbers->functions[function].reasons |= PATH_RECURSION;
		} else if (!c->index[callee]) {
			c->work[depth++] = callee;
		} else if (c->is_open[callee] && c->index[callee] < c->low[function]) {
			c->low[function] = c->index[callee];
		}
	}
}

/* False: no memory. */
static bool sort_functions(struct numberer *n)
{
	const size_t count = n->flow->function_count + 1;
	struct components c = {
		.index = calloc(count, sizeof(uint32_t)),
		.low = calloc(count, sizeof(uint32_t)),
		.open = calloc(count, sizeof(uint32_t)),
		.work = calloc(count, sizeof(uint32_t)),
		.at = calloc(count, sizeof(uint32_t)),
		.is_open = calloc(count, sizeof(bool)),
	};
	const bool has_memory = c.index && c.low && c.open && c.work && c.at && c.is_open;
	size_t done = 0;

	for (uint32_t i = 0; has_memory && i < n->flow->function_count; i++)
		if (!c.index[i])
			visit(n, &c, i, &done);
	free(c.index);
	free(c.low);
	free(c.open);
	free(c.work);
	free(c.at);
	free(c.is_open);
	return has_memory;
}

/* False: no memory. */
static bool find_reasons(struct numberer *n)
{
	struct path_function_numbers *functions = n->numbers->functions;
	bool *called = calloc(n->flow->function_count + 1, sizeof(*called));

	if (!called)
		return false;
	for (uint32_t i = 0; i < n->flow->function_count; i++) {
		uint32_t at = 0, callee;

		if (!n->interprocedural)
			functions[i].reasons = PATH_ALL;
		if (!n->flow->functions[i].traced)
			functions[i].reasons |= PATH_UNTRACED;
		while ((callee = next_callee(n, i, &at)) != PATH_UNKNOWN) {
			called[callee] = true;
			if (n->interprocedural && !n->flow->functions[i].traced)
				functions[callee].reasons |= PATH_CALLER;
		}
	}
	for (uint32_t i = 0; i < n->flow->function_count; i++)
		if (n->interprocedural && (!called[i] || n->flow->functions[i].entered_otherwise))
			functions[i].reasons |= PATH_OTHERWISE;
	free(called);
	return true;
}

bool path_numbers_make(const struct path_flow *flow, const struct path_options *options,
		       struct path_numbers *numbers)
{
	const size_t nodes = flow->node_count + 1;
	const unsigned bits = options->id_bits ? options->id_bits : 64;
	struct numberer n = {
		.flow = flow,
		.numbers = numbers,
		.most = bits < 64 ? UINT64_C(1) << bits : UINT64_MAX,
		.order = calloc(nodes, sizeof(*n.order)),
		.stack = calloc(nodes, sizeof(*n.stack)),
		.next = calloc(nodes, sizeof(*n.next)),
		.color = calloc(nodes, sizeof(*n.color)),
		.apart = calloc(nodes, sizeof(*n.apart)),
		.closes = calloc(flow->edge_count + 1, sizeof(*n.closes)),
		.callees = calloc(flow->function_count + 1, sizeof(*n.callees)),
		.interprocedural = options->interprocedural,
	};

	*numbers = (struct path_numbers){
		.flow = flow,
		.functions = calloc(flow->function_count + 1, sizeof(*numbers->functions)),
		.follow = calloc(nodes, sizeof(*numbers->follow)),
		.edge_value = calloc(flow->edge_count + 1, sizeof(*numbers->edge_value)),
		.edge_ends = calloc(flow->edge_count + 1, sizeof(*numbers->edge_ends)),
		.start = calloc(nodes, sizeof(*numbers->start)),
	};
	const bool has_memory = n.order && n.stack && n.next && n.color && n.apart && n.closes &&
				n.callees && numbers->functions && numbers->follow &&
				numbers->edge_value && numbers->edge_ends && numbers->start &&
				find_reasons(&n) && sort_functions(&n);
	for (size_t i = 0; has_memory && i < nodes; i++)
		numbers->start[i] = NO_START;
	n.changed = has_memory;
	while (n.changed) {
		n.changed = false;
		for (size_t i = 0; i < flow->function_count; i++)
			if (flow->functions[n.callees[i]].traced &&
			    !number_function(&n, n.callees[i]))
				i--; /* again, without what was too much */
	}                            /* callers that had been numbered with it */
	for (size_t i = 0; has_memory && i < flow->function_count; i++)
		numbers->independent += flow->functions[i].traced && numbers->functions[i].reasons;
	free(n.order);
	free(n.stack);
	free(n.next);
	free(n.color);
	free(n.apart);
	free(n.closes);
	free(n.callees);
	return has_memory;
}

void path_numbers_release(struct path_numbers *numbers)
{
	free(numbers->functions);
	free(numbers->follow);
	free(numbers->edge_value);
	free(numbers->edge_ends);
	free(numbers->start);
	*numbers = (struct path_numbers){0};
}

void path_returned(const struct path_numbers *numbers, struct path_place *place, uint64_t id)
{
	place->id += id * numbers->follow[place->node];
}

bool path_follow(const struct path_numbers *numbers, struct path_place *place, uint32_t edge,
		 uint64_t *ended)
{
	const uint32_t target = numbers->flow->edges[edge];
	const bool ends = target == PATH_EXIT || numbers->edge_ends[edge];

	place->id += numbers->edge_value[edge];
	place->node = target;
	if (!ends)
		return false;
	*ended = place->id;
	place->id = target == PATH_EXIT ? 0 : numbers->start[target];
	return true;
}

/* Where the path with this number begins. */
static uint32_t start_of(const struct path_numbers *numbers, uint32_t function, uint64_t id)
{
	const struct path_function *about = &numbers->flow->functions[function];
	uint32_t found = about->first;

	for (uint32_t i = about->first; i < about->first + about->count; i++)
		if (numbers->start[i] != NO_START && numbers->start[i] <= id &&
		    numbers->start[i] >= numbers->start[found])
			found = i;
	return found;
}

size_t path_decode(const struct path_numbers *numbers, uint32_t function, uint64_t id,
		   uint32_t *nodes, size_t room)
{
	const struct path_flow *flow = numbers->flow;
	uint32_t node = start_of(numbers, function, id);
	size_t count = 0;

	id -= numbers->start[node];
	while (node != PATH_EXIT) {
		const struct path_node *about = &flow->nodes[node];
		uint32_t edge = about->first + about->count;

		if (count < room)
			nodes[count] = node;
		count++;
		if (path_is_dependent(numbers, about->callee)) {
			const size_t left = count < room ? room - count : 0;

			count += path_decode(numbers, about->callee, id / numbers->follow[node],
					     left ? nodes + count : NULL, left);
			id %= numbers->follow[node];
		}
		if (!about->count)
			break;
		do
			edge--;
		while (numbers->edge_value[edge] > id);
		id -= numbers->edge_value[edge];
		if (numbers->edge_ends[edge])
			break;
		node = flow->edges[edge];
	}
	return count;
}
