#include "ldwrap/symbols.h"

#include <stdlib.h>
#include <string.h>

static int same_name(const void *left, const void *right)
{
	return !strcmp(left, right);
}

htab_t symbols_table(void)
{
	return htab_create(4096, htab_hash_string, same_name, NULL);
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
