/* Which of several names an address gets: a PLT name first, then functions
 * before labels, exported ones before local ones, puts before _IO_puts, global
 * before weak, and the shorter name. */
#include "postproc/sources/symbols.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/table.h"

/* A symbol of unknown size carries its limit in `end` until finish(). */
#define UNKNOWN_SIZE 0x80000000u

static bool is_control(char letter)
{
	return (unsigned char)letter < ' ' || letter == 0x7f;
}

static const char *clean_name(struct post_symbols *symbols, const char *name)
{
	size_t at = 0;
	char *copy;

	while (name[at] && !is_control(name[at]))
		at++;
	if (!name[at])
		return name;
	copy = post_copy_text(name);
	for (; copy[at]; at++)
		if (is_control(copy[at]))
			copy[at] = '?';
	POST_GROW(symbols->cleaned, symbols->cleaned_count, symbols->cleaned_capacity);
	symbols->cleaned[symbols->cleaned_count++] = copy;
	return copy;
}

void post_symbols_add(struct post_symbols *symbols, const char *name, uint32_t address,
		      uint32_t size, uint32_t limit, uint32_t flags)
{
	uint32_t end = address + size;

	if (end < address) /* a damaged size */
		end = UINT32_MAX;
	if (!size) {
		end = limit > address ? limit : address;
		flags |= UNKNOWN_SIZE;
	}
	POST_GROW(symbols->items, symbols->count, symbols->capacity);
	symbols->items[symbols->count++] =
		(struct post_symbol){address, end, clean_name(symbols, name), flags};
}

static unsigned rank(const struct post_symbol *symbol)
{
	/* the tracer's own marks lie at the user's functions */
	return (strncmp(symbol->name, "litifut_", 8) ? 64u : 0) +
	       (symbol->flags & POST_SYMBOL_PLT ? 32u : 0) +
	       (symbol->flags & POST_SYMBOL_FUNCTION ? 16u : 0) +
	       (symbol->flags & (POST_SYMBOL_GLOBAL | POST_SYMBOL_WEAK) ? 8u : 0) +
	       (symbol->name[0] != '_' ? 4u : 0) + (symbol->flags & POST_SYMBOL_GLOBAL ? 2u : 0) +
	       (symbol->flags & UNKNOWN_SIZE ? 0u : 1u);
}

static int compare(const void *left, const void *right)
{
	const struct post_symbol *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (rank(a) != rank(b))
		return rank(a) > rank(b) ? -1 : 1;
	if (strlen(a->name) != strlen(b->name))
		return strlen(a->name) < strlen(b->name) ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int compare_names(const void *left, const void *right)
{
	const struct post_symbol *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	if (!order && (a->flags ^ b->flags) & POST_SYMBOL_OLD_VERSION)
		return a->flags & POST_SYMBOL_OLD_VERSION ? 1 : -1;
	return order ? order : a->address < b->address ? -1 : a->address > b->address;
}

/* Only .dynsym counts where there is one, but a static program has none, and the functions
 * that it chooses at run time need a name as well. */
static void keep_names(struct post_symbols *symbols)
{
	symbols->named = post_allocate(symbols->count, sizeof(*symbols->named));
	for (size_t i = 0; i < symbols->count; i++) {
		unsigned flags = symbols->items[i].flags;
		if (!(flags & POST_SYMBOL_PLT) &&
		    flags & (POST_SYMBOL_DYNAMIC | POST_SYMBOL_INDIRECT))
			symbols->named[symbols->named_count++] = symbols->items[i];
	}
	qsort(symbols->named, symbols->named_count, sizeof(*symbols->named), compare_names);
}

bool post_symbol_is_tracer(const struct post_symbol *symbol)
{
	static const char start[] = "litifut_";

	return symbol && strncmp(symbol->name, start, sizeof(start) - 1) == 0;
}

const struct post_symbol *post_symbols_named(const struct post_symbols *symbols, const char *name,
					     size_t *count)
{
	size_t low = 0, high = symbols->named_count;

	while (low < high) { /* the first one that is not before `name` */
		size_t middle = low + (high - low) / 2;
		if (strcmp(symbols->named[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (*count = 0; low + *count < symbols->named_count; ++*count) {
		if (strcmp(symbols->named[low + *count].name, name))
			break;
	}
	return *count ? &symbols->named[low] : NULL;
}

void post_symbols_finish(struct post_symbols *symbols)
{
	size_t kept = 0;

	if (!symbols->count)
		return;
	keep_names(symbols);
	qsort(symbols->items, symbols->count, sizeof(*symbols->items), compare);
	for (size_t i = 0; i < symbols->count; i++) {
		if (kept && symbols->items[kept - 1].address == symbols->items[i].address)
			continue;
		symbols->items[kept++] = symbols->items[i];
	}
	symbols->count = kept;

	/* A bare label inside a function of known size is a name for a branch
	 * target, not for a function: drop it. */
	uint32_t covered = 0;
	size_t left = 0;
	for (size_t i = 0; i < kept; i++) {
		struct post_symbol symbol = symbols->items[i];
		bool label = !(symbol.flags & POST_SYMBOL_FUNCTION);
		if (label && symbol.address < covered)
			continue;
		if (!label && !(symbol.flags & UNKNOWN_SIZE) && symbol.end > covered)
			covered = symbol.end;
		symbols->items[left++] = symbol;
	}
	symbols->count = left;
	for (size_t i = 0; i < left; i++) {
		struct post_symbol *symbol = &symbols->items[i];
		if (!(symbol->flags & UNKNOWN_SIZE))
			continue;
		if (i + 1 < left && symbols->items[i + 1].address < symbol->end)
			symbol->end = symbols->items[i + 1].address;
		symbol->flags &= ~UNKNOWN_SIZE;
	}
}

const struct post_symbol *post_symbols_find(const struct post_symbols *symbols, uint32_t address)
{
	size_t low = 0, high = symbols->count;

	while (low < high) { /* the first symbol beyond `address` */
		size_t middle = low + (high - low) / 2;
		if (symbols->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	/* A function may have others inside it (hand-written assembly); walk out
	 * a few steps, not for ever. */
	for (unsigned steps = 0; low > 0 && steps < 32; steps++) {
		const struct post_symbol *symbol = &symbols->items[--low];
		if (address < symbol->end)
			return symbol;
	}
	return NULL;
}

void post_symbols_release(struct post_symbols *symbols)
{
	for (size_t i = 0; i < symbols->cleaned_count; i++)
		free(symbols->cleaned[i]);
	free(symbols->cleaned);
	free(symbols->items);
	free(symbols->named);
	*symbols = (struct post_symbols){0};
}
