#include "tests/oracle/steps.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct step {
	uint32_t from; /* 0: the slot is free */
	uint32_t to;
	uint64_t count;
};

static struct step *steps;
static size_t capacity;
static size_t used;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct step *slot_of(uint32_t from, uint32_t to)
{
	size_t at = ((size_t)from * 2654435761u ^ (size_t)to * 40503u) & (capacity - 1);

	while (steps[at].from && (steps[at].from != from || steps[at].to != to))
		at = (at + 1) & (capacity - 1);
	return &steps[at];
}

static void grow(void)
{
	struct step *old = steps;
	const size_t before = capacity;

	capacity = before ? 2 * before : 1 << 14;
	steps = calloc(capacity, sizeof(*steps));
	if (!steps)
		abort();
	for (size_t i = 0; i < before; i++)
		if (old[i].from)
			*slot_of(old[i].from, old[i].to) = old[i];
	free(old);
}

void oracle_step(const struct oracle_place *from, const struct oracle_place *to)
{
	struct step *step;

	const uint32_t before = from ? from->number : UINT32_MAX;
	const uint32_t after = to ? to->number : 0;
	pthread_mutex_lock(&lock);
	if (2 * used >= capacity)
		grow();
	step = slot_of(before, after);
	used += !step->from;
	step->from = before;
	step->to = after;
	step->count++;
	pthread_mutex_unlock(&lock);
}

void oracle_steps_clear(void)
{
	free(steps);
	steps = NULL;
	capacity = used = 0;
}

bool oracle_steps_write(const char *path)
{
	FILE *file = fopen(path, "we");

	if (!file)
		return false;
	for (size_t i = 0; i < capacity; i++)
		if (steps[i].from)
			fprintf(file, "%d %u %llu\n", (int32_t)steps[i].from, steps[i].to,
				(unsigned long long)steps[i].count);
	return fclose(file) == 0;
}
