/* The functions of one ELF image, sorted, looked up by address. */
#ifndef LITIFUT_POSTPROC_SOURCES_SYMBOLS_H
#define LITIFUT_POSTPROC_SOURCES_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum post_symbol_flags {
	POST_SYMBOL_FUNCTION = 1, /* STT_FUNC, else a bare label in code */
	POST_SYMBOL_GLOBAL = 2,
	POST_SYMBOL_WEAK = 4,
	POST_SYMBOL_INDIRECT = 16,   /* STT_GNU_IFUNC: what is here picks the function */
	POST_SYMBOL_PLT = 8,         /* a PLT entry or lazy stub, named after its target */
	POST_SYMBOL_DYNAMIC = 32,    /* from .dynsym: the dynamic linker finds it by its name */
	POST_SYMBOL_OLD_VERSION = 64 /* a version that links do not get by default */
};

struct post_symbol {
	uint32_t address; /* link-time, bit 0 clear */
	uint32_t end;     /* address after its last byte */
	const char *name; /* not owned; without "@plt" */
	uint32_t flags;   /* enum post_symbol_flags */
};

/* All zero is an empty table. */
struct post_symbols {
	struct post_symbol *items; /* owned */
	size_t count;
	size_t capacity;
	/* Every definition that others can refer to by name, aliases and old versions
	 * included, in the order of names. */
	struct post_symbol *named; /* owned */
	size_t named_count;
	char **cleaned; /* names that are not as the file has them; owned, each as well */
	size_t cleaned_count;
	size_t cleaned_capacity;
};

/* Control characters in a name, which a hostile file may have and which would reach terminals and
 * the lines of formats, become '?'. `size` 0: unknown, the symbol then reaches to the next one or
 * to `limit`, whichever comes first. */
void post_symbols_add(struct post_symbols *symbols, const char *name, uint32_t address,
		      uint32_t size, uint32_t limit, uint32_t flags);

/* Sorts, keeps the best name of each address, works out unknown sizes. Must be
 * called after the last add and before the first find. */
void post_symbols_finish(struct post_symbols *symbols);

/* The symbol that `address` lies in, NULL when there is none. */
const struct post_symbol *post_symbols_find(const struct post_symbols *symbols, uint32_t address);

/* Is it a function of the tracer? NULL is not. */
bool post_symbol_is_tracer(const struct post_symbol *symbol);

/* The definitions of a name that others can refer to; `*count` is how many there are. */
const struct post_symbol *post_symbols_named(const struct post_symbols *symbols, const char *name,
					     size_t *count);

void post_symbols_release(struct post_symbols *symbols);

#endif
