#include "paths/emission.h"

/* The way from a branch, or from the start of a path, to the next branch. */
struct way {
	const struct path_numbers *numbers;
	struct path_emission emission;
	uint32_t heads[PATH_WHOLE_MOST + 1]; /* of paths that have begun on it */
	unsigned head_count;
	uint64_t id;
	bool known; /* `id' is what has been added up, and not what is added to it */
};

static void end_path(struct way *way)
{
	struct path_emission *emission = &way->emission;

	if (!way->known) {
		emission->ends = true;
		emission->add = way->id;
	} else if (emission->whole_count < PATH_WHOLE_MOST) {
		emission->whole[emission->whole_count++] = way->id;
	} else {
		emission->too_many = true;
	}
	way->known = true;
}

/* Begins the path behind an edge that has ended one. False: what is recorded there begins it, or it
 * is another round of a loop in which nothing is decided. */
static bool begin_path(struct way *way, uint32_t node)
{
	if (node == PATH_EXIT || way->numbers->flow->nodes[node].begins || way->emission.too_many)
		return false;
	for (unsigned i = 0; i < way->head_count; i++)
		if (way->heads[i] == node)
			return false;
	way->heads[way->head_count++] = node;
	way->id = way->numbers->start[node];
	return true;
}

/* Goes through the edge. False: the way ends there. */
static bool pass(struct way *way, uint32_t edge, uint32_t *node)
{
	const uint32_t target = way->numbers->flow->edges[edge];

	way->id += way->numbers->edge_value[edge];
	*node = target;
	if (target != PATH_EXIT && !way->numbers->edge_ends[edge])
		return true;
	end_path(way);
	return begin_path(way, target);
}

static void go_on(struct way *way, uint32_t node)
{
	const struct path_node *nodes = way->numbers->flow->nodes;

	while (nodes[node].count == 1)
		if (!pass(way, nodes[node].first, &node))
			return;
	if (!nodes[node].count) {
		end_path(way); /* the program ends there */
	} else if (way->known) {
		way->emission.goes_on = true;
		way->emission.start = way->id;
	} else {
		way->emission.add = way->id;
	}
}

struct path_emission path_emission_of_edge(const struct path_numbers *numbers, uint32_t edge)
{
	struct way way = {.numbers = numbers};
	uint32_t node;

	if (pass(&way, edge, &node))
		go_on(&way, node);
	return way.emission;
}

struct path_emission path_emission_of_start(const struct path_numbers *numbers, uint32_t node)
{
	struct way way = {.numbers = numbers, .known = true, .id = numbers->start[node]};

	way.heads[way.head_count++] = node;
	go_on(&way, node);
	return way.emission;
}
