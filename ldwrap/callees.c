#include "ldwrap/callees.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#include "ldwrap/symbols.h"

/* A function that is called by its name. */
struct callee {
	const char *name;
	hashval_t hash;
	size_t last_item; /* that was noted to call it */
	unsigned counted; /* by this run of callees_count() */
};

struct use {
	struct callee *callee;
	size_t item;
};

struct callees {
	htab_t names;
	struct use *uses;
	size_t count;
	size_t room;
	size_t *local; /* by item */
	size_t items;
	unsigned runs;
};

static hashval_t hash_callee(const void *callee)
{
	return ((const struct callee *)callee)->hash;
}

static int same_callee(const void *callee, const void *name)
{
	return !strcmp(((const struct callee *)callee)->name, name);
}

struct callees *callees_create(size_t items)
{
	struct callees *callees = xcalloc(1, sizeof(*callees));

	callees->names = htab_create(4096, hash_callee, same_callee, free);
	callees->local = xcalloc(items + 1, sizeof(*callees->local));
	callees->items = items;
	return callees;
}

void callees_release(struct callees *callees)
{
	htab_delete(callees->names);
	free(callees->uses);
	free(callees->local);
	free(callees);
}

void callees_add(struct callees *callees, size_t item, const char *name)
{
	hashval_t hash = symbols_hash(name);
	void **slot = htab_find_slot_with_hash(callees->names, name, hash, INSERT);
	struct callee *callee = *slot;

	if (!callee) {
		callee = xcalloc(1, sizeof(*callee));
		*callee = (struct callee){name, hash, SIZE_MAX, 0};
		*slot = callee;
	}
	if (callee->last_item == item)
		return;
	callee->last_item = item;
	if (callees->count == callees->room) {
		callees->room = 2 * callees->room + 1024;
		callees->uses = xrealloc(callees->uses, callees->room * sizeof(*callees->uses));
	}
	callees->uses[callees->count++] = (struct use){callee, item};
}

void callees_add_local(struct callees *callees, size_t item, size_t count)
{
	callees->local[item] += count;
}

size_t callees_count(struct callees *callees, const bool *chosen, htab_t defined, size_t *foreign)
{
	size_t count = 0;

	*foreign = 0;
	callees->runs++;
	for (size_t i = 0; i < callees->items; i++)
		count += chosen[i] ? callees->local[i] : 0;
	for (size_t i = 0; i < callees->count; i++) {
		struct callee *callee = callees->uses[i].callee;

		if (!chosen[callees->uses[i].item] || callee->counted == callees->runs)
			continue;
		callee->counted = callees->runs;
		count++;
		*foreign += !symbols_has_hashed(defined, callee->name, callee->hash);
	}
	return count;
}
