/* Ball-Larus numbers: the examples of the literature, and all paths of graphs made at random, which
 * a search of its own finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "paths/numbering.h"

#define MOST_NODES 400

/* "A>B,C" lines would be longer: a node is a letter, `edges` the letters that follow it, `.` is the
 * exit; `calls` is the function that it calls, or -1. */
struct drawn {
	const char *edges;
	int calls;
};

static void draw(struct path_flow *flow, const struct drawn *nodes, unsigned count)
{
	const uint32_t first = (uint32_t)flow->node_count;

	path_flow_function(flow);
	for (unsigned i = 0; i < count; i++) {
		path_flow_node(flow, nodes[i].calls < 0 ? PATH_UNKNOWN : (uint32_t)nodes[i].calls);
		for (const char *at = nodes[i].edges; *at; at++)
			path_flow_edge(flow,
				       *at == '.' ? PATH_EXIT : first + (uint32_t)(*at - 'A'));
	}
}

/* Follows `nodes` (letters, `.` at the end) and writes the numbers that come out. */
static void walk(const struct path_numbers *numbers, const char *nodes, const char *expected)
{
	struct path_place place = path_begin(numbers, 0);
	char text[200] = "";

	assert_int_equal(place.node, (uint32_t)(nodes[0] - 'A'));
	for (const char *at = nodes + 1; *at; at++) {
		const struct path_node *node = &numbers->flow->nodes[place.node];
		const uint32_t target = *at == '.' ? PATH_EXIT : (uint32_t)(*at - 'A');
		uint32_t edge = node->first;
		uint64_t ended;

		while (edge < node->first + node->count && numbers->flow->edges[edge] != target)
			edge++;
		assert_true(edge < node->first + node->count);
		if (path_follow(numbers, &place, edge, &ended))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u",
				 *text ? " " : "", (unsigned)ended);
	}
	assert_string_equal(text, expected);
}

static void simple_paths(void **state)
{
	/* two branches, one after the other: four paths */
	static const struct drawn nodes[] = {{"BC", -1}, {"D", -1}, {"D", -1}, {"EF", -1},
					     {"G", -1},  {"G", -1}, {".", -1}};
	struct path_flow flow = {0};
	struct path_numbers numbers;

	(void)state;
	draw(&flow, nodes, 7);
	path_numbers_make(&flow, &(struct path_options){0}, &numbers);
	assert_int_equal(numbers.functions[0].paths, 4);
	walk(&numbers, "ABDEG.", "0");
	walk(&numbers, "ABDFG.", "1");
	walk(&numbers, "ACDEG.", "2");
	walk(&numbers, "ACDFG.", "3");
	path_numbers_release(&numbers);
	path_flow_release(&flow);
}

/* The paper's loop: Entry A B C B C B D Exit is 1 3 2. */
static void loop(void **state)
{
	static const struct drawn nodes[] = {{"B", -1}, {"DC", -1}, {"B", -1}, {".", -1}};
	struct path_flow flow = {0};
	struct path_numbers numbers;

	(void)state;
	draw(&flow, nodes, 4);
	path_numbers_make(&flow, &(struct path_options){.interprocedural = true}, &numbers);
	assert_int_equal(numbers.functions[0].paths, 4);
	assert_int_equal(numbers.functions[0].reasons, PATH_LOOP | PATH_OTHERWISE);
	walk(&numbers, "ABCBCBD.", "1 3 2");
	walk(&numbers, "ABCBCBCBD.", "1 3 3 2");
	walk(&numbers, "ABD.", "0");
	path_numbers_release(&numbers);
	path_flow_release(&flow);
}

/* Its interprocedural example: a function with two paths is called before and behind a branch. */
static void eight_paths(void **state)
{
	static const struct drawn foo[] = {{"B", -1}, {"C", 1},  {"DE", -1}, {"F", -1},
					   {"F", -1}, {"G", -1}, {".", 1}};
	static const struct drawn bar[] = {{"BC", -1}, {"D", -1}, {"D", -1}, {".", -1}};
	struct path_flow flow = {0};
	struct path_numbers numbers;
	bool seen[8] = {false};

	(void)state;
	draw(&flow, foo, 7);
	draw(&flow, bar, 4);
	path_numbers_make(&flow, &(struct path_options){.interprocedural = true}, &numbers);
	assert_int_equal(numbers.functions[0].paths, 8);
	assert_int_equal(numbers.functions[1].paths, 2);
	assert_int_equal(numbers.functions[1].reasons, PATH_DEPENDENT);
	assert_int_equal(numbers.follow[1], 4); /* what the first call is multiplied by */
	assert_int_equal(numbers.follow[6], 1);
	for (unsigned first = 0; first < 2; first++)
		for (unsigned way = 0; way < 2; way++)
			for (unsigned second = 0; second < 2; second++) {
				struct path_place place = path_begin(&numbers, 0);
				uint64_t ended = 99;

				path_follow(&numbers, &place, 0, &ended);
				path_returned(&numbers, &place, first);
				path_follow(&numbers, &place, 1, &ended);
				path_follow(&numbers, &place, 2 + way, &ended);
				path_follow(&numbers, &place, 4 + way, &ended);
				path_follow(&numbers, &place, 6, &ended);
				path_returned(&numbers, &place, second);
				assert_true(path_follow(&numbers, &place, 7, &ended));
				assert_true(ended < 8 && !seen[ended]);
				assert_int_equal(ended, 4 * first + 2 * way + second);
				seen[ended] = true;
			}
	path_numbers_release(&numbers);
	path_flow_release(&flow);
}

/* Its call graphs: who is independent depends on who calls, and who of them is traced. Functions
 * 0 and 1 are the untraced task and event, then Foo, Bar, Baz. */
static unsigned independent(const char *task, const char *event, const char *foo, const char *bar)
{
	const char *calls[5] = {task, event, foo, bar, ""};
	struct path_flow flow = {0};
	struct path_numbers numbers;
	unsigned set = 0;

	for (unsigned i = 0; i < 5; i++) {
		path_flow_function(&flow);
		flow.functions[i].traced = i >= 2;
		for (const char *at = calls[i]; *at; at++) {
			path_flow_node(&flow, (uint32_t)(*at - '0'));
			path_flow_edge(&flow, (uint32_t)flow.node_count);
		}
		path_flow_node(&flow, PATH_UNKNOWN);
		path_flow_edge(&flow, PATH_EXIT);
	}
	path_numbers_make(&flow, &(struct path_options){.interprocedural = true}, &numbers);
	for (unsigned i = 2; i < 5; i++)
		set |= numbers.functions[i].reasons ? 1u << i : 0;
	path_numbers_release(&numbers);
	path_flow_release(&flow);
	return set;
}

static void traced_subsets(void **state)
{
	(void)state;
	assert_int_equal(independent("2", "", "3", "4"), 1u << 2);
	assert_int_equal(independent("2", "3", "3", "4"), 1u << 2 | 1u << 3);
	assert_int_equal(independent("2", "4", "3", "4"), 1u << 2 | 1u << 4);
	/* Bar calls itself */
	assert_int_equal(independent("2", "", "3", "34"), 1u << 2 | 1u << 3);
	/* Foo and Bar call each other */
	assert_int_equal(independent("2", "", "3", "24"), 1u << 2 | 1u << 3);
}

/* Of 80 branches in a row the numbers do not fit; of a function that is called often neither. */
static void too_many(void **state)
{
	struct path_flow flow = {0};
	struct path_numbers numbers;

	(void)state;
	path_flow_function(&flow);
	for (uint32_t i = 0; i < 80; i++) {
		path_flow_node(&flow, 1);
		path_flow_edge(&flow, i + 1);
	}
	path_flow_node(&flow, PATH_UNKNOWN);
	path_flow_edge(&flow, PATH_EXIT);
	path_flow_function(&flow);
	path_flow_node(&flow, PATH_UNKNOWN);
	path_flow_edge(&flow, 82);
	path_flow_edge(&flow, PATH_EXIT);
	path_flow_node(&flow, PATH_UNKNOWN);
	path_flow_edge(&flow, PATH_EXIT);
	path_flow_function(&flow);
	for (uint32_t i = 0; i < 80; i++) {
		path_flow_node(&flow, PATH_UNKNOWN);
		path_flow_edge(&flow, 83 + 3 * i + 1);
		path_flow_edge(&flow, 83 + 3 * i + 2);
		for (unsigned way = 0; way < 2; way++) {
			path_flow_node(&flow, PATH_UNKNOWN);
			path_flow_edge(&flow, i == 79 ? PATH_EXIT : 83 + 3 * i + 3);
		}
	}
	for (unsigned bits = 64; bits >= 8; bits /= 2) {
		path_numbers_make(&flow,
				  &(struct path_options){.interprocedural = true, .id_bits = bits},
				  &numbers);
		assert_int_equal(numbers.functions[1].reasons, PATH_LARGE);
		assert_int_equal(numbers.functions[0].paths, 1);
		assert_true(numbers.functions[2].reasons & PATH_LARGE);
		assert_true(numbers.functions[2].cuts > 0);
		if (bits < 64)
			assert_true(numbers.functions[2].paths <= UINT64_C(1) << bits);
		else
			assert_true(numbers.functions[2].cuts < 10);
		path_numbers_release(&numbers);
	}
	path_flow_release(&flow);
}

/* Graphs made at random, and a search for all of their paths. */
static uint32_t seed;

static uint32_t any(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * limit >> 32);
}

static void make_program(struct path_flow *flow, unsigned functions, unsigned loops)
{
	*flow = (struct path_flow){0};
	for (unsigned f = 0; f < functions; f++) {
		const uint32_t first = (uint32_t)flow->node_count;
		const uint32_t count = 1 + any(7);

		path_flow_function(flow);
		for (uint32_t i = 0; i < count; i++) {
			const unsigned edges = i + 1 == count ? 1 : 1 + any(3);

			/* callees come later, mostly */
			path_flow_node(flow, f + 1 < functions && !any(3)
						     ? f + 1 + any(functions - f - 1)
						     : PATH_UNKNOWN);
			for (unsigned j = 0; j < edges; j++) {
				if (any(100) < loops)
					path_flow_edge(flow, first + any(count));
				else
					path_flow_edge(flow, i + 1 == count || !any(6)
								     ? PATH_EXIT
								     : first + i + 1 +
									       any(count - i - 1));
			}
		}
	}
}

struct search {
	const struct path_numbers *numbers;
	uint32_t function;
	uint8_t *seen;
	uint64_t found;
	uint32_t nodes[MOST_NODES]; /* of the path so far */
	size_t count;
};

/* What remains to be done when the function that is searched has ended. */
struct frame {
	const struct frame *caller;
	struct path_place place;
};

static void search_edges(struct search *search, const struct frame *frame);

static void arrive(struct search *search, const struct frame *frame)
{
	const uint32_t callee = search->numbers->flow->nodes[frame->place.node].callee;

	assert_true(search->count < MOST_NODES);
	search->nodes[search->count++] = frame->place.node;
	if (path_is_dependent(search->numbers, callee)) {
		const struct frame inner = {frame, path_begin(search->numbers, callee)};

		arrive(search, &inner);
	} else {
		search_edges(search, frame);
	}
	search->count--;
}

static void ended(struct search *search, const struct frame *frame, uint64_t id)
{
	uint32_t nodes[MOST_NODES];

	if (frame->caller) {
		struct frame caller = *frame->caller;

		path_returned(search->numbers, &caller.place, id);
		search_edges(search, &caller);
		return;
	}
	assert_true(id < search->numbers->functions[search->function].paths);
	assert_false(search->seen[id]);
	search->seen[id] = 1;
	search->found++;
	assert_int_equal(path_decode(search->numbers, search->function, id, nodes, MOST_NODES),
			 search->count);
	assert_memory_equal(nodes, search->nodes, search->count * sizeof(*nodes));
}

static void search_edges(struct search *search, const struct frame *frame)
{
	const struct path_node *node = &search->numbers->flow->nodes[frame->place.node];

	for (uint32_t edge = node->first; edge < node->first + node->count; edge++) {
		struct frame next = *frame;
		uint64_t id;

		if (path_follow(search->numbers, &next.place, edge, &id))
			ended(search, frame, id);
		else
			arrive(search, &next);
	}
}

/* Of each independent function; a path begins at each node that an edge leads to with which one
 * ends. */
static uint64_t search_all(const struct path_numbers *numbers)
{
	const struct path_flow *flow = numbers->flow;
	uint64_t all = 0;

	for (uint32_t f = 0; f < flow->function_count; f++) {
		struct search search = {.numbers = numbers, .function = f};

		if (!numbers->functions[f].reasons || numbers->functions[f].paths > 100000)
			continue;
		search.seen = calloc(numbers->functions[f].paths, 1);
		for (uint32_t i = 0; i < flow->functions[f].count; i++) {
			const uint32_t node = flow->functions[f].first + i;
			struct frame frame = {NULL, {node, numbers->start[node]}};

			if (numbers->start[node] != UINT64_MAX)
				arrive(&search, &frame);
		}
		assert_int_equal(search.found, numbers->functions[f].paths);
		all += search.found;
		free(search.seen);
	}
	return all;
}

static void random_programs(void **state)
{
	static const unsigned bits[] = {64, 16, 8};
	uint64_t paths = 0;
	unsigned dependent = 0, large = 0;

	(void)state;
	seed = 1;
	for (unsigned i = 0; i < 3000; i++) {
		struct path_options options = {.interprocedural = i % 4 != 0,
					       .id_bits = bits[i % 3]};
		struct path_flow flow;
		struct path_numbers numbers;

		make_program(&flow, 1 + i % 6, i % 5 ? 5 : 0);
		path_numbers_make(&flow, &options, &numbers);
		paths += search_all(&numbers);
		for (uint32_t f = 0; f < flow.function_count; f++) {
			dependent += !numbers.functions[f].reasons;
			large += numbers.functions[f].reasons & PATH_LARGE ? 1 : 0;
			assert_true(numbers.functions[f].paths <= UINT64_C(1) << 62);
			if (options.id_bits == 8)
				assert_true(numbers.functions[f].paths <= 256);
		}
		path_numbers_release(&numbers);
		path_flow_release(&flow);
	}
	/* the cases that matter were there */
	assert_true(paths > 100000 && dependent > 1000 && large > 20);
}

static void bits(void **state)
{
	(void)state;
	assert_int_equal(path_bits(0), 0);
	assert_int_equal(path_bits(1), 0);
	assert_int_equal(path_bits(2), 1);
	assert_int_equal(path_bits(3), 2);
	assert_int_equal(path_bits(256), 8);
	assert_int_equal(path_bits(257), 9);
	assert_int_equal(path_bits(UINT64_MAX), 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(simple_paths), cmocka_unit_test(loop),
		cmocka_unit_test(eight_paths),  cmocka_unit_test(traced_subsets),
		cmocka_unit_test(too_many),     cmocka_unit_test(random_programs),
		cmocka_unit_test(bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
