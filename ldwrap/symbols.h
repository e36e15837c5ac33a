/* The names of a link: which it has defined and which it still looks for, as far as
 * that decides what is loaded from archives. Each name is looked up once for each
 * object or index that has it; from then on it is a pointer. */
#ifndef LITIFUT_LDWRAP_SYMBOLS_H
#define LITIFUT_LDWRAP_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>

#include <libiberty/hashtab.h>

struct symbol {
	const char *name;
	hashval_t hash;
	unsigned number; /* of this name, from 0 */
	bool defined;
	bool wanted;
	bool grouped; /* is the signature of a COMDAT group that was seen */
};

struct symbols {
	htab_t names;
	struct objalloc *memory;
	unsigned count;
};

void symbols_open(struct symbols *symbols);
void symbols_close(struct symbols *symbols);

/* The symbol of this name, made if need be. The name is not copied; the symbol stays
 * where it is until symbols_close(). */
struct symbol *symbols_get(struct symbols *symbols, const char *name);

/* True if there is a symbol of this name that is defined. */
bool symbols_defines(const struct symbols *symbols, const char *name);

#endif
