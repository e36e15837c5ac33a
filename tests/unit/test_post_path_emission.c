/* What a device does at branches: on graphs made at random, walks give the numbers of the paths
 * that are walked, each with its last branch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "paths/emission.h"

#define MOST 4096

static uint32_t seed;

static uint32_t any(uint32_t limit)
{
	seed = seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)seed * limit >> 32);
}

/* The first node begins a path, and so do some others. */
static void make_function(struct path_flow *flow)
{
	const uint32_t count = 1 + any(12);

	*flow = (struct path_flow){0};
	path_flow_function(flow);
	for (uint32_t i = 0; i < count; i++) {
		const unsigned edges = i + 1 == count ? 1 : any(3) ? 1 + any(3) : 1;

		path_flow_node(flow, PATH_UNKNOWN);
		flow->nodes[i].begins = !i || !any(8);
		for (unsigned j = 0; j < edges; j++)
			path_flow_edge(flow, i + 1 == count || !any(8) ? PATH_EXIT
					     : any(3)                  ? i + 1
								       : any(count));
	}
}

struct numbers {
	uint64_t items[MOST];
	size_t times[MOST]; /* how many edges had been followed */
	size_t count;
};

static void record(struct numbers *numbers, uint64_t id, size_t time)
{
	assert_true(numbers->count < MOST);
	numbers->items[numbers->count] = id;
	numbers->times[numbers->count++] = time;
}

/* What is kept of an activation. */
struct device {
	bool active;
	uint64_t sum;
	struct numbers recorded;
};

static void take(struct device *device, const struct path_emission *emission, bool starts,
		 size_t time)
{
	assert_false(emission->too_many);
	assert_int_equal(device->active, !starts);
	device->sum += emission->add;
	if (!starts && !emission->ends)
		return;
	if (emission->ends)
		record(&device->recorded, device->sum, time);
	for (unsigned i = 0; i < emission->whole_count; i++)
		record(&device->recorded, emission->whole[i], time);
	device->active = emission->goes_on;
	device->sum = emission->start;
}

/* A walk of the function, as code of its nodes would be executed. The numbers of its paths as they
 * are ended, too. */
static void walk(const struct path_numbers *numbers, struct device *device, struct numbers *ended,
		 size_t *last_branch)
{
	const struct path_flow *flow = numbers->flow;
	struct path_place place = path_begin(numbers, 0);
	size_t branch = 0;

	for (size_t time = 0; place.node != PATH_EXIT && time < 200; time++) {
		const struct path_node *node = &flow->nodes[place.node];
		const uint32_t edge = node->first + any(node->count);
		struct path_emission emission;
		uint64_t id;

		if (node->begins) {
			emission = path_emission_of_start(numbers, place.node);
			take(device, &emission, true, 2 * time);
			branch = 2 * time;
		}
		if (node->count > 1) {
			emission = path_emission_of_edge(numbers, edge);
			take(device, &emission, false, 2 * time + 1);
			branch = 2 * time + 1;
		}
		if (path_follow(numbers, &place, edge, &id)) {
			last_branch[ended->count] = branch;
			record(ended, id, 2 * time + 1);
		}
	}
	if (place.node == PATH_EXIT)
		assert_false(device->active);
}

/* Has the function a loop in which nothing is decided and no path is recorded? Its rounds are
 * recorded once. */
static bool has_endless_loop(const struct path_flow *flow)
{
	for (uint32_t i = 0; i < flow->node_count; i++) {
		uint32_t at = i;

		for (size_t steps = 0; steps <= flow->node_count; steps++) {
			if (at == PATH_EXIT || flow->nodes[at].count != 1 || flow->nodes[at].begins)
				break;
			at = flow->edges[flow->nodes[at].first];
			if (steps == flow->node_count)
				return true;
		}
	}
	return false;
}

static void test_walks(void **state)
{
	static struct device device;
	static struct numbers ended;
	static size_t last_branch[MOST];
	size_t compared = 0;

	(void)state;
	for (seed = 1; seed < 40000; seed += 7) {
		const uint32_t kept = seed;
		const struct path_options options = {.id_bits = 8 + any(9)};
		struct path_flow flow;
		struct path_numbers numbers;

		make_function(&flow);
		assert_true(path_numbers_make(&flow, &options, &numbers));
		for (unsigned i = 0; i < 5 && !has_endless_loop(&flow); i++) {
			device = (struct device){0};
			ended = (struct numbers){0};
			walk(&numbers, &device, &ended, last_branch);
			/* the walk may have stopped behind the last branch of a path */
			assert_in_range(device.recorded.count, ended.count, ended.count + 3);
			for (size_t j = 0; j < ended.count; j++) {
				assert_int_equal(device.recorded.items[j], ended.items[j]);
				assert_true(device.recorded.times[j] <= last_branch[j]);
				assert_true(ended.items[j] < numbers.functions[0].paths);
				compared++;
			}
		}
		path_numbers_release(&numbers);
		path_flow_release(&flow);
		seed = kept;
	}
	assert_true(compared > 10000);
}

/* for (;;) f(); without a separate start: one number, and no more. */
static void test_endless(void **state)
{
	const struct path_options options = {.id_bits = 16};
	struct path_flow flow = {0};
	struct path_numbers numbers;
	struct path_emission emission;

	(void)state;
	path_flow_function(&flow);
	path_flow_node(&flow, PATH_UNKNOWN);
	path_flow_edge(&flow, 1);
	path_flow_node(&flow, PATH_UNKNOWN);
	path_flow_edge(&flow, 1);
	flow.nodes[0].begins = true;
	assert_true(path_numbers_make(&flow, &options, &numbers));
	emission = path_emission_of_start(&numbers, 0);
	assert_int_equal(emission.whole_count, 2);
	assert_false(emission.goes_on);
	path_numbers_release(&numbers);
	flow.nodes[1].begins = true;
	assert_true(path_numbers_make(&flow, &options, &numbers));
	assert_int_equal(path_emission_of_start(&numbers, 0).whole_count, 1);
	assert_int_equal(path_emission_of_start(&numbers, 1).whole_count, 1);
	assert_false(path_emission_of_start(&numbers, 1).goes_on);
	path_numbers_release(&numbers);
	path_flow_release(&flow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walks),
		cmocka_unit_test(test_endless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
