#include <string.h>

#include "node.h"

#define NEIGHBOURS 4
#define SILENT_SECONDS 120
#define FIRST_QUALITY 128

static struct neighbour neighbours[NEIGHBOURS];

static bool is_used(const struct neighbour *neighbour)
{
	return neighbour->node;
}

static uint16_t silence_of(const struct neighbour *neighbour)
{
	return board_seconds() - neighbour->heard;
}

static struct neighbour *find(uint16_t node)
{
	for (uint8_t i = 0; i < NEIGHBOURS; i++)
		if (neighbours[i].node == node)
			return &neighbours[i];
	return NULL;
}

static struct neighbour *find_most_silent(void)
{
	struct neighbour *found = neighbours;

	for (uint8_t i = 1; i < NEIGHBOURS; i++)
		if (silence_of(&neighbours[i]) > silence_of(found))
			found = &neighbours[i];
	return found;
}

static struct neighbour *place_for(uint16_t node)
{
	struct neighbour *place = find(0);

	if (!place)
		place = find_most_silent();
	place->node = node;
	place->quality = FIRST_QUALITY;
	return place;
}

void neighbour_heard(uint16_t node)
{
	struct neighbour *neighbour = find(node);

	if (!neighbour)
		neighbour = place_for(node);
	neighbour->heard = board_seconds();
}

static uint8_t toward(uint8_t quality, uint8_t end)
{
	return (uint8_t)(quality - quality / 8 + end / 8);
}

void neighbour_was_reached(struct neighbour *neighbour, bool reached)
{
	neighbour->quality = toward(neighbour->quality, reached ? 255 : 0);
}

static bool is_better(const struct neighbour *neighbour, const struct neighbour *other)
{
	return is_used(neighbour) && (!other || neighbour->quality > other->quality);
}

static struct neighbour *find_best(void)
{
	struct neighbour *best = NULL;

	for (uint8_t i = 0; i < NEIGHBOURS; i++)
		if (is_better(&neighbours[i], best))
			best = &neighbours[i];
	return best;
}

struct neighbour *route_to(uint16_t node)
{
	struct neighbour *neighbour = find(node);

	return neighbour ? neighbour : find_best();
}

void neighbours_expire(void)
{
	for (uint8_t i = 0; i < NEIGHBOURS; i++)
		if (is_used(&neighbours[i]) && silence_of(&neighbours[i]) > SILENT_SECONDS)
			memset(&neighbours[i], 0, sizeof(neighbours[i]));
}
