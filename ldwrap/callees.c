#include "ldwrap/callees.h"

#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

struct use {
	const struct symbol *symbol;
	size_t item;
};

struct callees {
	size_t *last_items;   /* by number of the symbol: the item that was last noted to
				 call it, and 1; 0: none */
	unsigned *counted_in; /* the same: the run of callees_count() that has counted it */
	size_t symbol_room;
	struct use *uses;
	size_t count;
	size_t room;
	size_t *local; /* by item */
	size_t items;
	unsigned runs;
};

struct callees *callees_create(size_t items)
{
	struct callees *callees = xcalloc(1, sizeof(*callees));

	callees->local = xcalloc(items + 1, sizeof(*callees->local));
	callees->items = items;
	return callees;
}

void callees_release(struct callees *callees)
{
	free(callees->last_items);
	free(callees->counted_in);
	free(callees->uses);
	free(callees->local);
	free(callees);
}

static void make_room_for_symbol(struct callees *callees, size_t number)
{
	size_t before = callees->symbol_room;
	size_t added = number + 1024;

	callees->symbol_room += added;
	callees->last_items =
		xrealloc(callees->last_items, callees->symbol_room * sizeof(*callees->last_items));
	callees->counted_in =
		xrealloc(callees->counted_in, callees->symbol_room * sizeof(*callees->counted_in));
	memset(callees->last_items + before, 0, added * sizeof(*callees->last_items));
	memset(callees->counted_in + before, 0, added * sizeof(*callees->counted_in));
}

void callees_add(struct callees *callees, size_t item, const struct symbol *symbol)
{
	if (symbol->number >= callees->symbol_room)
		make_room_for_symbol(callees, symbol->number);
	if (callees->last_items[symbol->number] == item + 1)
		return;
	callees->last_items[symbol->number] = item + 1;
	if (callees->count == callees->room) {
		callees->room = 2 * callees->room + 1024;
		callees->uses = xrealloc(callees->uses, callees->room * sizeof(*callees->uses));
	}
	callees->uses[callees->count++] = (struct use){symbol, item};
}

void callees_add_local(struct callees *callees, size_t item, size_t count)
{
	callees->local[item] += count;
}

size_t callees_count(struct callees *callees, const bool *chosen, size_t *foreign)
{
	size_t count = 0;

	*foreign = 0;
	callees->runs++;
	for (size_t i = 0; i < callees->items; i++)
		count += chosen[i] ? callees->local[i] : 0;
	for (size_t i = 0; i < callees->count; i++) {
		const struct symbol *symbol = callees->uses[i].symbol;

		if (!chosen[callees->uses[i].item] ||
		    callees->counted_in[symbol->number] == callees->runs)
			continue;
		callees->counted_in[symbol->number] = callees->runs;
		count++;
		*foreign += !symbol->defined;
	}
	return count;
}
