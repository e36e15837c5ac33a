/* The symbol table of an image, read and sorted once. A large program has a
 * million symbols, and each look at a name is a miss of the cache: what names
 * tell is noted when they are read. */
#include "rewriter/image.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "rewriter/sort.h"

#define OWN_PREFIX "litifut_"

static bool is_own(const char *name)
{
	return strncmp(name, OWN_PREFIX, strlen(OWN_PREFIX)) == 0;
}

static int by_place(const void *left, const void *right)
{
	const struct litifut_symbol *a = left;
	const struct litifut_symbol *b = right;

	if ((a->type == STT_FUNC) != (b->type == STT_FUNC))
		return a->type == STT_FUNC ? -1 : 1;
	/* Among names for one place the largest first: an alias without a size
	 * must not hide the function. */
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return strcmp(a->name, b->name);
}

static int by_address(const void *left, const void *right, void *symbols)
{
	const struct litifut_symbol *a = (struct litifut_symbol *)symbols + *(const uint32_t *)left;
	const struct litifut_symbol *b =
		(struct litifut_symbol *)symbols + *(const uint32_t *)right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	return a < b ? -1 : a > b;
}

static bool same_place(const struct litifut_symbol *a, const struct litifut_symbol *b)
{
	return a->section == b->section && a->address == b->address;
}

/* By section and address; at one place by_place(). */
static enum litifut_status sort_symbols(struct litifut_image *image, struct litifut_error *error)
{
	struct litifut_sort_item *items =
		litifut_memory_array(image->symbol_count + 1, sizeof(*items));
	struct litifut_symbol *sorted =
		litifut_memory_array(image->symbol_count + 1, sizeof(*sorted));
	enum litifut_status status = LITIFUT_OK;
	size_t first = 0;

	if (!items || !sorted) {
		free(items);
		free(sorted);
		return litifut_error_memory(error, image->path);
	}
	for (size_t i = 0; i < image->symbol_count; i++) {
		items[i].key =
			(uint64_t)image->symbols[i].section << 32 | image->symbols[i].address;
		items[i].value = i;
	}
	status = litifut_sort(items, image->symbol_count, 48, error);
	for (size_t i = 0; i < image->symbol_count; i++)
		sorted[i] = image->symbols[items[i].value];
	for (size_t i = 1; i <= image->symbol_count; i++) {
		if (i < image->symbol_count && same_place(&sorted[i], &sorted[first]))
			continue;
		if (i - first > 1)
			qsort(sorted + first, i - first, sizeof(*sorted), by_place);
		first = i;
	}
	free(items);
	free(image->symbols);
	image->symbols = sorted;
	return status;
}

/* Every call is looked up here, and the steps of a search over all functions of a large
 * program miss the cache. */
static enum litifut_status count_pages(struct litifut_image *image, struct litifut_error *error)
{
	const uint32_t *addresses = image->function_addresses;
	size_t count = image->function_count;
	size_t pages =
		count ? (addresses[count - 1] - addresses[0]) / LITIFUT_FUNCTION_PAGE + 1 : 0;

	/* A damaged table may spread its functions over all addresses. */
	if (pages / 64 > count)
		return LITIFUT_OK;
	image->function_pages = calloc(pages + 1, sizeof(*image->function_pages));
	if (!image->function_pages)
		return litifut_error_memory(error, image->path);
	image->function_page_count = pages;
	for (size_t i = 0; i < count; i++)
		image->function_pages[(addresses[i] - addresses[0]) / LITIFUT_FUNCTION_PAGE + 1]++;
	for (size_t i = 0; i < pages; i++)
		image->function_pages[i + 1] += image->function_pages[i];
	return LITIFUT_OK;
}

static enum litifut_status list_symbols(struct litifut_image *image, struct litifut_error *error)
{
	size_t own = 0;
	bool sorted = true;

	for (size_t i = 0; i < image->symbol_count; i++)
		own += image->symbols[i].own;
	image->functions = litifut_memory_array(image->symbol_count + 1, sizeof(*image->functions));
	image->function_addresses =
		litifut_memory_array(image->symbol_count + 1, sizeof(*image->function_addresses));
	image->own = calloc(own + 1, sizeof(*image->own));
	if (!image->functions || !image->function_addresses || !image->own)
		return litifut_error_memory(error, image->path);
	for (size_t i = 0; i < image->symbol_count; i++) {
		if (image->symbols[i].own)
			image->own[image->own_count++] = (uint32_t)i;
		if (image->symbols[i].type != STT_FUNC)
			continue;
		image->functions[image->function_count++] = (uint32_t)i;
		sorted = sorted && (image->function_count == 1 ||
				    by_address(&image->functions[image->function_count - 2],
					       &image->functions[image->function_count - 1],
					       image->symbols) < 0);
	}
	/* Sections mostly stand in the order of their numbers. */
	if (!sorted)
		qsort_r(image->functions, image->function_count, sizeof(*image->functions),
			by_address, image->symbols);
	for (size_t i = 0; i < image->function_count; i++)
		image->function_addresses[i] = image->symbols[image->functions[i]].address;
	return count_pages(image, error);
}

/* False: the symbol does not stand for a place. */
static bool read_symbol(const struct litifut_image *image, const uint8_t *entry,
			const struct litifut_section *strings, struct litifut_symbol *symbol)
{
	uint32_t name = litifut_get32(image->file.big_endian, entry);

	*symbol = (struct litifut_symbol){
		.address = litifut_get32(image->file.big_endian, entry + 4),
		.size = litifut_get32(image->file.big_endian, entry + 8),
		.type = ELF32_ST_TYPE(entry[12]),
		.binding = ELF32_ST_BIND(entry[12]),
		.other = entry[13],
		.section = litifut_get16(image->file.big_endian, entry + 14),
	};
	if (symbol->section == SHN_UNDEF || symbol->section >= image->section_count ||
	    symbol->type == STT_SECTION || symbol->type == STT_FILE)
		return false;
	symbol->name = name < strings->size ? (char *)strings->bytes + name : "";
	symbol->mapping = symbol->name[0] == '$';
	/* mold says that its own are functions */
	if (symbol->mapping && symbol->name[1] && (!symbol->name[2] || symbol->name[2] == '.'))
		symbol->type = STT_NOTYPE;
	symbol->own = is_own(symbol->name);
	symbol->reserved = !symbol->name[0] || symbol->name[0] == '.' ||
			   (symbol->name[0] == '_' && symbol->name[1] != 'Z');
	if (symbol->type == STT_GNU_IFUNC)
		symbol->type = STT_FUNC;
	if (symbol->type == STT_FUNC && symbol->address & 1) {
		symbol->thumb = true;
		symbol->address &= ~1u;
	}
	return true;
}

enum litifut_status litifut_image_read_symbols(struct litifut_image *image,
					       struct litifut_error *error)
{
	const struct litifut_section *table = NULL;
	enum litifut_status status;

	for (size_t i = 1; i < image->section_count && !table; i++)
		if (image->sections[i].type == SHT_SYMTAB)
			table = &image->sections[i];
	if (!table)
		return LITIFUT_OK;
	if (table->link >= image->section_count ||
	    image->sections[table->link].type != SHT_STRTAB || !image->sections[table->link].size)
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path, table->name,
					 LITIFUT_NO_ADDRESS, "symbol table without names");
	const struct litifut_section *strings = &image->sections[table->link];
	size_t count = table->size / sizeof(Elf32_Sym);

	if (strings->bytes[strings->size - 1] != '\0')
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path, strings->name,
					 LITIFUT_NO_ADDRESS, "string table without an end");
	image->symbols = litifut_memory_array(count + 1, sizeof(*image->symbols));
	if (!image->symbols)
		return litifut_error_memory(error, image->path);
	for (size_t i = 0; i < count; i++)
		image->symbol_count += read_symbol(image, table->bytes + i * sizeof(Elf32_Sym),
						   strings, &image->symbols[image->symbol_count]);
	status = sort_symbols(image, error);
	return status ? status : list_symbols(image, error);
}

void litifut_image_forget_symbols(struct litifut_image *image)
{
	free(image->own);
	free(image->function_pages);
	free(image->function_addresses);
	free(image->functions);
	free(image->symbols);
	image->own = NULL;
	image->function_pages = NULL;
	image->function_addresses = NULL;
	image->functions = NULL;
	image->symbols = NULL;
	image->own_count = image->function_page_count = image->function_count = 0;
	image->symbol_count = 0;
}

const struct litifut_symbol *litifut_image_symbol(const struct litifut_image *image,
						  const char *name)
{
	if (is_own(name)) {
		for (size_t i = 0; i < image->own_count; i++)
			if (strcmp(image->symbols[image->own[i]].name, name) == 0)
				return &image->symbols[image->own[i]];
		return NULL;
	}
	for (size_t i = 0; i < image->symbol_count; i++)
		if (strcmp(image->symbols[i].name, name) == 0)
			return &image->symbols[i];
	return NULL;
}

/* Index in `functions` of the first function above `address`. */
static size_t functions_above(const struct litifut_image *image, uint32_t address)
{
	size_t low = 0;
	size_t high = image->function_count;
	uint32_t first = high ? image->function_addresses[0] : 0;
	size_t page = (address - first) / LITIFUT_FUNCTION_PAGE;

	if (address >= first && page < image->function_page_count) {
		low = image->function_pages[page];
		high = image->function_pages[page + 1];
	}
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (image->function_addresses[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct litifut_symbol *litifut_image_function_at(const struct litifut_image *image,
						       uint32_t address)
{
	size_t above = functions_above(image, address);
	const struct litifut_symbol *best = NULL;
	bool ended = false;

	/* Functions may nest or overlap (hand-written assembly, aliases of parts):
	 * the nearest start that reaches over the address wins. Looking back over a
	 * handful is enough; a miss only means "unknown function". A function whose size is
	 * not known does not go on behind others that have ended: the tracer may come next. */
	for (size_t i = above, steps = 0; i-- > 0 && steps < 16; steps++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];

		if (address - function->address < function->size)
			return function;
		if (!best && !ended && function->size == 0)
			best = function;
		ended |= function->size != 0;
		if (best && function->address < best->address)
			break;
	}
	return best;
}

const struct litifut_symbol *litifut_image_function_start(const struct litifut_image *image,
							  uint32_t address)
{
	size_t above = functions_above(image, address);
	const struct litifut_symbol *found = NULL;

	while (above-- > 0) {
		if (image->function_addresses[above] != address)
			break;
		found = &image->symbols[image->functions[above]];
	}
	return found;
}

size_t litifut_image_functions_below(const struct litifut_image *image, uint32_t address)
{
	return address ? functions_above(image, address - 1) : 0;
}

const struct litifut_symbol *litifut_image_function_from(const struct litifut_image *image,
							 uint32_t address)
{
	size_t first = litifut_image_functions_below(image, address);

	return first < image->function_count ? &image->symbols[image->functions[first]] : NULL;
}

uint32_t litifut_image_function_end(const struct litifut_image *image,
				    const struct litifut_symbol *function)
{
	const struct litifut_section *section = &image->sections[function->section];
	const uint32_t end = section->address + section->size;
	const struct litifut_symbol *next;

	if (function->size)
		return function->address + function->size;
	next = litifut_image_function_from(image, function->address + 1);
	return next && next->address < end ? next->address : end;
}
