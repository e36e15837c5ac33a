/* The bundles that came last, as a neighbour sends one again whose confirmation it has lost. */
#include "node.h"

#define MOST 8

struct name {
	uint32_t time;
	uint16_t node, number;
};

static struct name names[MOST];
static uint8_t next;

static struct name name_of(const struct bundle *bundle)
{
	return (struct name){bundle->fields[FIELD_creation_time],
			     (uint16_t)bundle->fields[FIELD_source_node],
			     (uint16_t)bundle->fields[FIELD_creation_number]};
}

static bool is_same(const struct name *a, const struct name *b)
{
	return a->number == b->number && a->node == b->node && a->time == b->time;
}

static void remember(const struct name *name)
{
	names[next] = *name;
	next = (next + 1) % MOST;
}

bool seen_before(const struct bundle *bundle)
{
	struct name name = name_of(bundle);

	for (uint8_t i = 0; i < MOST; i++)
		if (is_same(&names[i], &name))
			return true;
	remember(&name);
	return false;
}
