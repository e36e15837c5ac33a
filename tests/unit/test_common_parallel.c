/* Work on several processors: each item once, each thing in its order, whatever the
 * number of processors. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "common/memory.h"
#include "common/parallel.h"

#define COUNT 20000

struct seen {
	unsigned char done[COUNT];
	size_t last[LITIFUT_WORKERS_MAX]; /* item, and 1 */
	size_t falls[LITIFUT_WORKERS_MAX];
};

static void see(void *context, size_t worker, size_t item)
{
	struct seen *seen = context;

	seen->done[item]++;
	seen->falls[worker] += item + 1 <= seen->last[worker];
	seen->last[worker] = item + 1;
}

static void each_item_once(void **state)
{
	static struct seen seen;

	(void)state;
	memset(&seen, 0, sizeof(seen));
	litifut_parallel(COUNT, see, &seen);
	for (size_t i = 0; i < COUNT; i++)
		assert_int_equal(seen.done[i], 1);
	for (size_t i = 0; i < LITIFUT_WORKERS_MAX; i++)
		assert_int_equal(seen.falls[i], 0);
	litifut_parallel(0, see, NULL);
}

struct order {
	uintptr_t *things;
	size_t count;
};

static void note(void *context, void *thing)
{
	struct order *order = context;

	order->things[order->count++] = (uintptr_t)thing;
}

static void things_in_order(void **state)
{
	static const size_t counts[] = {0, 1, 15, 16, 17, 64, 65, 1024, 1025, COUNT};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct order order = {calloc(COUNT, sizeof(uintptr_t)), 0};
		struct litifut_queue *queue = litifut_queue_open(note, &order);

		if (litifut_parallel_workers() == 1)
			assert_null(queue);
		for (size_t thing = 0; thing < counts[i] && queue; thing++)
			litifut_queue_add(queue, (void *)(thing + 7));
		litifut_queue_close(queue);
		for (size_t thing = 0; thing < order.count; thing++)
			assert_int_equal(order.things[thing], thing + 7);
		assert_int_equal(order.count, queue ? counts[i] : 0);
		free(order.things);
	}
}

/* One processor gives no thread; one test must see that on every machine. */
static int one_processor(void **state)
{
	cpu_set_t all;
	cpu_set_t one;

	(void)state;
	CPU_ZERO(&one);
	if (sched_getaffinity(0, sizeof(all), &all))
		return -1;
	for (int i = 0; i < CPU_SETSIZE && !CPU_COUNT(&one); i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	return sched_setaffinity(0, sizeof(one), &one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_item_once),
		cmocka_unit_test(things_in_order),
		cmocka_unit_test_setup(each_item_once, one_processor),
		cmocka_unit_test(things_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
