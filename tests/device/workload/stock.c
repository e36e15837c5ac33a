/* Counts shapes by size: the second program on the library, in C, with
 * threads. What it prints depends on its argument only. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "shapes.h"

#define THREADS 3

struct counter {
	int seed;
	int count;
	int small;
	int large;
};

static int is_small(int area)
{
	return area < 1500;
}

static int count(int area, void *data)
{
	struct counter *counter = data;

	if (is_small(area))
		counter->small++;
	else
		counter->large++;
	return 1;
}

static void *thread(void *data)
{
	struct counter *counter = data;

	shape_visit((unsigned)counter->seed, counter->count, count, counter);
	return NULL;
}

int main(int argc, char **argv)
{
	int amount = argc > 1 ? atoi(argv[1]) : 100;
	struct counter counters[THREADS];
	pthread_t threads[THREADS];

	/* The dynamic linker resolves a function at its first call: here, not in
	 * the threads, where chance would decide how many of them meet it unresolved. */
	counters[0] = (struct counter){.seed = 0};
	shape_visit(0, 1, count, &counters[0]);
	for (int i = 0; i < THREADS; i++) {
		counters[i] = (struct counter){.seed = i, .count = amount};
		if (pthread_create(&threads[i], NULL, thread, &counters[i]))
			return 1;
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		printf("%d: %d small, %d large\n", i, counters[i].small, counters[i].large);
	}
	printf("outline %d\n", shape_outline(1, 30, 40));
	return 0;
}
