/* Open addressing, linear probing, at most half full. */
#include "postproc/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void post_out_of_memory(void)
{
	fputs("litifut-post: out of memory\n", stderr);
	exit(1);
}

void *post_allocate(size_t count, size_t size)
{
	void *memory = calloc(count ? count : 1, size ? size : 1);
	if (!memory)
		post_out_of_memory();
	return memory;
}

void *post_reallocate(void *memory, size_t count, size_t size)
{
	void *grown = reallocarray(memory, count ? count : 1, size ? size : 1);
	if (!grown)
		post_out_of_memory();
	return grown;
}

char *post_copy_text(const char *text)
{
	char *copy = strdup(text);
	if (!copy)
		post_out_of_memory();
	return copy;
}

/* Mixes all bits of `value`. */
static uint32_t hash(uint64_t value)
{
	value ^= value >> 32;
	value *= 0x9e3779b97f4a7c15u;
	return (uint32_t)(value >> 32);
}

static size_t slot_of(const struct post_table *table, struct post_key key)
{
	uint64_t low = (uint64_t)key.part[0] << 32 | key.part[1];
	uint64_t high = (uint64_t)key.part[2] << 32 | key.part[3];
	size_t index = hash(low ^ (uint64_t)hash(high) * 0x100000001b3u);

	for (index &= table->capacity - 1; table->slots[index].value != POST_NONE;
	     index = (index + 1) & (table->capacity - 1)) {
		if (!memcmp(&table->slots[index].key, &key, sizeof(key)))
			break;
	}
	return index;
}

uint32_t post_table_find(const struct post_table *table, struct post_key key)
{
	return table->capacity ? table->slots[slot_of(table, key)].value : POST_NONE;
}

static void grow(struct post_table *table)
{
	struct post_table larger = {.capacity = table->capacity ? table->capacity * 2 : 64};

	larger.slots = post_reallocate(NULL, larger.capacity, sizeof(*larger.slots));
	for (size_t i = 0; i < larger.capacity; i++)
		larger.slots[i].value = POST_NONE;
	for (size_t i = 0; i < table->capacity; i++) {
		if (table->slots[i].value != POST_NONE)
			larger.slots[slot_of(&larger, table->slots[i].key)] = table->slots[i];
	}
	larger.count = table->count;
	free(table->slots);
	*table = larger;
}

void post_table_put(struct post_table *table, struct post_key key, uint32_t value)
{
	if (table->count * 2 >= table->capacity)
		grow(table);
	struct post_slot *slot = &table->slots[slot_of(table, key)];
	if (slot->value == POST_NONE)
		table->count++;
	slot->key = key;
	slot->value = value;
}

void post_table_release(struct post_table *table)
{
	free(table->slots);
	*table = (struct post_table){0};
}
