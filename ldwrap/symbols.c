#include "ldwrap/symbols.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Names of C++ are long, and half of the time of a link's guess went into looking
 * at each of their bytes. */
static hashval_t hash_name(const void *name)
{
	return symbols_hash(name);
}

hashval_t symbols_hash(const char *name)
{
	size_t left = strlen(name);
	uint64_t hash = left;

	for (; left >= sizeof(uint64_t); left -= sizeof(uint64_t), name += sizeof(uint64_t)) {
		uint64_t word;

		memcpy(&word, name, sizeof(word));
		hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
		hash ^= hash >> 32;
	}
	for (; left; left--, name++)
		hash = (hash ^ (uint8_t)*name) * 0x9e3779b97f4a7c15u;
	return (hashval_t)(hash ^ hash >> 32);
}

static int same_name(const void *left, const void *right)
{
	return !strcmp(left, right);
}

htab_t symbols_table(void)
{
	return htab_create(4096, hash_name, same_name, NULL);
}

void symbols_open(struct symbols *symbols)
{
	symbols->defined = symbols_table();
	symbols->wanted = symbols_table();
}

void symbols_close(struct symbols *symbols)
{
	htab_delete(symbols->defined);
	htab_delete(symbols->wanted);
}

bool symbols_add(htab_t table, const char *name)
{
	void **slot = htab_find_slot(table, name, INSERT);

	if (*slot)
		return false;
	*slot = (void *)name;
	return true;
}

bool symbols_has(htab_t table, const char *name)
{
	return htab_find(table, name) != NULL;
}

bool symbols_has_hashed(htab_t table, const char *name, hashval_t hash)
{
	return htab_find_with_hash(table, name, hash) != NULL;
}
