/* Memory without holes: when a block is given back, those behind it move. */
#include <string.h>

#include "node.h"

#define POOL_BYTES 1024

static uint8_t pool[POOL_BYTES];
static uint16_t pool_used;
static struct memory *first;

bool memory_is_empty(const struct memory *memory)
{
	return !memory->bytes;
}

static bool memory_has_room(uint8_t size)
{
	return POOL_BYTES - pool_used >= size;
}

/* Where the address of this block, or the end of the list, is kept. */
static struct memory **memory_link(const struct memory *memory)
{
	struct memory **link = &first;

	while (*link != memory)
		link = &(*link)->next;
	return link;
}

static void memory_append(struct memory *memory)
{
	memory->next = NULL;
	*memory_link(NULL) = memory;
}

static void memory_shift_all(struct memory *from, uint8_t bytes)
{
	for (; from; from = from->next)
		from->bytes -= bytes;
}

static void memory_close_gap(uint8_t *gap, uint8_t bytes)
{
	pool_used -= bytes;
	for (; gap < pool + pool_used; gap++)
		gap[0] = gap[bytes];
}

static void memory_copy(uint8_t *to, const uint8_t *from, uint8_t size)
{
	while (size--)
		*to++ = *from++;
}

void memory_make_gap(struct memory *memory, uint8_t at, uint8_t bytes)
{
	const uint8_t *gap_end = memory->bytes + at + bytes;
	uint8_t *to = memory->bytes + memory->size;

	while (to != gap_end) {
		to--;
		*to = *(to - bytes);
	}
}

bool memory_take(struct memory *memory, uint8_t size)
{
	if (!memory_has_room(size))
		return false;
	memory->bytes = pool + pool_used;
	memory->size = size;
	pool_used += size;
	memory_append(memory);
	return true;
}

void memory_give_back(struct memory *memory)
{
	if (memory_is_empty(memory))
		return;
	*memory_link(memory) = memory->next;
	memory_shift_all(memory->next, memory->size);
	memory_close_gap(memory->bytes, memory->size);
	memset(memory, 0, sizeof(*memory));
}

/* `memory` takes the place of `other`. */
static void memory_become(struct memory *memory, const struct memory *other)
{
	*memory_link(other) = memory;
	*memory = *other;
}

static uint8_t smaller(uint8_t a, uint8_t b)
{
	return a < b ? a : b;
}

bool memory_resize(struct memory *memory, uint8_t size)
{
	struct memory other = {0};

	if (!memory_take(&other, size))
		return false;
	memory_copy(other.bytes, memory->bytes, smaller(memory->size, size));
	memory_give_back(memory);
	memory_become(memory, &other);
	return true;
}
