#include "ldwrap/symbols.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>
#include <libiberty/objalloc.h>

/* Names of C++ are long, and half of the time of a link's guess went into looking
 * at each of their bytes. */
static hashval_t hash_name(const char *name)
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

static hashval_t hash_symbol(const void *symbol)
{
	return ((const struct symbol *)symbol)->hash;
}

static int same_symbol(const void *left, const void *right)
{
	const struct symbol *a = left;
	const struct symbol *b = right;

	return a->hash == b->hash && !strcmp(a->name, b->name);
}

void symbols_open(struct symbols *symbols)
{
	*symbols = (struct symbols){
		.names = htab_create(4096, hash_symbol, same_symbol, NULL),
		.memory = objalloc_create(),
	};
	if (!symbols->memory)
		xmalloc_failed(sizeof(struct symbol));
}

void symbols_close(struct symbols *symbols)
{
	htab_delete(symbols->names);
	objalloc_free(symbols->memory);
}

struct symbol *symbols_get(struct symbols *symbols, const char *name)
{
	struct symbol wanted = {.name = name, .hash = hash_name(name), .number = symbols->count};
	void **slot = htab_find_slot_with_hash(symbols->names, &wanted, wanted.hash, INSERT);
	struct symbol *symbol = *slot;

	if (!symbol) {
		symbol = objalloc_alloc(symbols->memory, sizeof(*symbol));
		if (!symbol)
			xmalloc_failed(sizeof(*symbol));
		*symbol = wanted;
		*slot = symbol;
		symbols->count++;
	}
	return symbol;
}

bool symbols_defines(const struct symbols *symbols, const char *name)
{
	const struct symbol wanted = {.name = name, .hash = hash_name(name)};
	const struct symbol *symbol = htab_find_with_hash(symbols->names, &wanted, wanted.hash);

	return symbol && symbol->defined;
}
