/* Which names a link has defined and which it still looks for, as far as that
 * decides what is loaded from archives. Names are not copied. */
#ifndef LITIFUT_LDWRAP_SYMBOLS_H
#define LITIFUT_LDWRAP_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include <libiberty/hashtab.h>

struct symbols {
	htab_t defined;
	htab_t wanted;
};

void symbols_open(struct symbols *symbols);
void symbols_close(struct symbols *symbols);

/* An empty table of names; for htab_delete(). */
htab_t symbols_table(void);

/* Puts `name` into a table; true if it was not there. */
bool symbols_add(htab_t table, const char *name);

bool symbols_has(htab_t table, const char *name);

/* For a name that is asked for again and again: its hash, and symbols_has() with it. */
hashval_t symbols_hash(const char *name);
bool symbols_has_hashed(htab_t table, const char *name, hashval_t hash);

#endif
