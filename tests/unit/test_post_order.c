/* One timeline of several nodes: the order of their pieces, by what they send and receive. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "postproc/paths/order.h"

/* Pieces as "lane:first-end ". */
struct text {
	char bytes[512];
	size_t length;
};

static void write_piece(void *context, size_t lane, size_t first, size_t end)
{
	struct text *text = context;

	text->length +=
		(size_t)snprintf(text->bytes + text->length, sizeof(text->bytes) - text->length,
				 "%zu:%zu-%zu ", lane, first, end);
	assert_true(text->length < sizeof(text->bytes));
}

/* A lane of `node` from text: s and r are calls of pair 0, S and R of pair 1, and . is a step; each
 * call begins with its step. */
static void add_lane(struct post_order *order, uint32_t node, const char *steps)
{
	const size_t lane = post_order_add_lane(order, node);

	for (size_t i = 0; steps[i]; i++)
		if (steps[i] != '.')
			post_order_add_call(order, lane, i, steps[i] < 'a', (steps[i] | 32) == 's');
	order->lanes[lane].steps = strlen(steps);
}

/* A lane is a node. */
static struct post_order_result order_of(const char *const *nodes, size_t count, struct text *text)
{
	struct post_order order = {.node_count = (uint32_t)count, .pair_count = 2};
	struct post_order_result result;

	*text = (struct text){.length = 0};
	for (size_t i = 0; i < count; i++)
		add_lane(&order, (uint32_t)i, nodes[i]);
	post_order_run(&order, write_piece, text, &result);
	post_order_release(&order);
	return result;
}

#define ORDER_OF(text, ...)                                                                        \
	order_of((const char *const[]){__VA_ARGS__},                                               \
		 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *), text)

static void fits(const struct post_order_result *result)
{
	assert_int_equal(result->missing.count, 0);
	assert_int_equal(result->contrary.count, 0);
}

static void messages_are_received_after_they_are_sent(void **state)
{
	struct text text;
	struct post_order_result result = ORDER_OF(&text, "..r.s", ".s..r.");

	(void)state;
	fits(&result);
	assert_string_equal(text.bytes, "0:0-2 1:0-1 1:1-4 0:2-4 0:4-5 1:4-6 ");
	post_order_result_release(&result);
	/* what is not ordered stands where the node has come about as far as the other */
	result = ORDER_OF(&text, "sss", "rrr");
	assert_string_equal(text.bytes, "0:0-0 0:0-1 1:0-0 1:0-1 0:1-2 1:1-2 0:2-3 1:2-3 ");
	post_order_result_release(&result);
	result = ORDER_OF(&text, "s.........s", ".....r...rr........r.", "S....S....");
	assert_int_equal(result.missing.count, 2);
	assert_string_equal(text.bytes,
			    "0:0-0 0:0-10 1:0-5 2:0-0 2:0-5 1:5-9 2:5-10 0:10-11 1:9-10 1:10-19 "
			    "1:19-21 ");
	post_order_result_release(&result);
	/* pairs do not mix */
	result = ORDER_OF(&text, "Rr", "s.S");
	fits(&result);
	assert_string_equal(text.bytes, "0:0-0 1:0-0 1:0-2 1:2-3 0:0-1 0:1-2 ");
	post_order_result_release(&result);
}

static void lost_messages_are_counted(void **state)
{
	struct text text;
	struct post_order_result result = ORDER_OF(&text, "s.s.s", "r.s", "..");

	(void)state;
	fits(&result);
	assert_int_equal(result.sent[0], 3);
	assert_int_equal(result.sent[1], 1);
	assert_int_equal(result.received[0], 0);
	assert_int_equal(result.received[1], 1);
	post_order_result_release(&result);
	/* any of the three may be the one that was received: it is behind all, */
	result = ORDER_OF(&text, "s.s.s", ".r.");
	fits(&result);
	assert_string_equal(text.bytes, "0:0-0 0:0-2 1:0-1 0:2-4 0:4-5 1:1-3 ");
	post_order_result_release(&result);
	/* but not where the sender has gone on only after an answer */
	result = ORDER_OF(&text, "ssRss", ".rS");
	fits(&result);
	assert_string_equal(text.bytes, "0:0-0 0:0-1 1:0-1 0:1-2 1:1-2 1:2-3 0:2-3 0:3-4 0:4-5 ");
	post_order_result_release(&result);
}

static void more_are_received_than_sent(void **state)
{
	struct text text;
	/* a node does not receive what it sends itself */
	struct post_order_result result = ORDER_OF(&text, ".s.", "r.s.r.r.s");

	(void)state;
	assert_int_equal(result.contrary.count, 0);
	assert_int_equal(result.missing.count, 2);
	assert_int_equal(result.missing.node, 1);
	assert_int_equal(result.missing.number, 2);
	assert_int_equal(result.missing.sent, 1);
	assert_string_equal(text.bytes, "0:0-1 1:0-0 0:1-3 1:0-2 1:2-4 1:4-6 1:6-8 1:8-9 ");
	post_order_result_release(&result);
}

static void an_order_that_is_impossible_ends(void **state)
{
	struct text text;
	struct post_order_result result = ORDER_OF(&text, "rs", ".rs");

	(void)state;
	assert_int_equal(result.missing.count, 0);
	assert_int_equal(result.contrary.count, 1);
	assert_int_equal(result.contrary.node, 0);
	assert_int_equal(result.contrary.number, 1);
	assert_int_equal(result.contrary.sent, 0);
	assert_string_equal(text.bytes, "0:0-0 1:0-1 0:0-1 0:1-2 1:1-2 1:2-3 ");
	post_order_result_release(&result);
}

static void nothing_and_no_calls(void **state)
{
	struct text text;
	struct post_order_result result = ORDER_OF(&text, "", "...");
	struct post_order none = {.node_count = 0};

	(void)state;
	fits(&result);
	assert_string_equal(text.bytes, "0:0-0 1:0-3 ");
	post_order_result_release(&result);
	post_order_run(&none, write_piece, &text, &result);
	fits(&result);
	post_order_result_release(&result);
}

/* A run in which nodes send, and receive what has come, or lose it, in any order; and what a node
 * has seen, as a lane each. Any order that is given must be one that could have been. */
#define NODES 5
#define STEPS 300

struct checked {
	const struct post_order *order;
	size_t at[NODES]; /* steps so far */
	size_t call[NODES];
	uint64_t sent[2][NODES], received[2][NODES];
};

static void check_piece(void *context, size_t lane, size_t first, size_t end)
{
	struct checked *checked = context;
	const struct post_order_lane *from = &checked->order->lanes[lane];

	assert_int_equal(first, checked->at[lane]);
	assert_true(end >= first && end <= from->steps);
	checked->at[lane] = end;
	while (checked->call[lane] < from->call_count &&
	       from->calls[checked->call[lane]].at < end) {
		const struct post_order_call *call = &from->calls[checked->call[lane]++];
		uint64_t others = 0;

		if (call->sends) {
			checked->sent[call->pair][from->node]++;
			continue;
		}
		for (uint32_t node = 0; node < checked->order->node_count; node++)
			others += node == from->node ? 0 : checked->sent[call->pair][node];
		assert_true(++checked->received[call->pair][from->node] <= others);
	}
}

static void any_run_gets_an_order_that_could_be(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 300; seed++) {
		char lanes[NODES][STEPS + 1] = {{0}};
		unsigned waiting[2][NODES] = {{0}};
		const unsigned nodes = 2 + seed % (NODES - 1);
		struct post_order order = {.node_count = nodes, .pair_count = 2};
		struct post_order_result result;
		struct checked checked = {.order = &order};

		srand(seed);
		for (unsigned i = 0; i < STEPS; i++) {
			const unsigned node = (unsigned)rand() % nodes, pair = rand() & 1;
			const unsigned what = (unsigned)rand() % 4;
			char *end = lanes[node] + strlen(lanes[node]);

			if (what == 0) { /* to one node, or to all */
				const unsigned to = (unsigned)rand() % (nodes + 1);
				*end = pair ? 'S' : 's';
				for (unsigned other = 0; other < nodes; other++)
					waiting[pair][other] +=
						other != node && (to == nodes || to == other);
			} else if (what < 3 && waiting[pair][node]) {
				waiting[pair][node]--;
				*end = rand() % 4 ? pair ? 'R' : 'r' : '.';
			} else {
				*end = '.';
			}
		}
		for (unsigned node = 0; node < nodes; node++)
			add_lane(&order, node, lanes[node]);
		post_order_run(&order, check_piece, &checked, &result);
		fits(&result);
		for (unsigned node = 0; node < nodes; node++)
			assert_int_equal(checked.at[node], order.lanes[node].steps);
		post_order_result_release(&result);
		post_order_release(&order);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_received_after_they_are_sent),
		cmocka_unit_test(lost_messages_are_counted),
		cmocka_unit_test(more_are_received_than_sent),
		cmocka_unit_test(an_order_that_is_impossible_ends),
		cmocka_unit_test(nothing_and_no_calls),
		cmocka_unit_test(any_run_gets_an_order_that_could_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
