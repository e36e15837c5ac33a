/* Functions of loaded files, found as a debugger would: through the list of loaded
 * files that the dynamic linker keeps (<link.h>; where its head is, the executable's
 * dynamic section says: the gABI's DT_DEBUG, or on MIPS DT_MIPS_RLD_MAP and
 * DT_MIPS_RLD_MAP_REL). The tracer may not need any symbol of libc, or it could not be
 * linked into all programs. */

#include "tracer/port/linux/loaded.h"

#include <elf.h>
#include <stddef.h>

#include "tracer/recorder/state.h"
#include "tracer/recorder/text.h"

#define LITIFUT_MIPS_RLD_MAP_REL 0x70000035

/* Heads of struct r_debug and struct link_map. */
struct litifut_debug {
	int32_t version;
	struct litifut_loaded *first;
};

struct litifut_loaded {
	uint32_t bias;
	const char *name;
	const Elf32_Dyn *dynamic;
	struct litifut_loaded *next;
};

struct litifut_symbols {
	const Elf32_Sym *symbols;
	const char *names;
	const uint32_t *hash;     /* DT_HASH */
	const uint32_t *gnu_hash; /* DT_GNU_HASH */
	const uint16_t *versions; /* DT_VERSYM */
};

static bool litifut_starts(const char *text, const char *start)
{
	for (; *start; text++, start++)
		if (*text != *start)
			return false;
	return true;
}

/* The dynamic linker adds the load bias to the addresses in a dynamic section,
 * unless that is read-only. */
static const void *litifut_pointer(const struct litifut_loaded *file, uint32_t value)
{
	return (const void *)(value < file->bias ? value + file->bias : value);
}

/* NULL for a static program: one that has no dynamic linker has no PT_PHDR either,
 * without which it is unknown where a static PIE was loaded. */
static struct litifut_loaded *litifut_loaded_files(void)
{
	uint32_t phdr = litifut_recorder.program_headers;
	uint32_t count = litifut_recorder.program_header_count;
	uint32_t bias = 0;
	bool has_bias = false;
	const Elf32_Dyn *dynamic = NULL;
	const struct litifut_debug *debug = NULL;

	for (uint32_t i = 0; phdr && i < count; i++) {
		const Elf32_Phdr *segment = (const Elf32_Phdr *)phdr + i;

		if (segment->p_type == PT_PHDR) {
			bias = phdr - segment->p_vaddr;
			has_bias = true;
		} else if (segment->p_type == PT_DYNAMIC && has_bias) {
			dynamic = (const Elf32_Dyn *)(segment->p_vaddr + bias);
		}
	}
	for (; dynamic && dynamic->d_tag != DT_NULL && !debug; dynamic++) {
		if (dynamic->d_tag == DT_DEBUG)
			debug = (const struct litifut_debug *)dynamic->d_un.d_ptr;
		else if (dynamic->d_tag == DT_MIPS_RLD_MAP && !bias)
			debug = *(const struct litifut_debug **)dynamic->d_un.d_ptr;
		else if (dynamic->d_tag == LITIFUT_MIPS_RLD_MAP_REL)
			debug = *(const struct litifut_debug **)((uint32_t)dynamic +
								 dynamic->d_un.d_val);
	}
	return debug ? debug->first : NULL;
}

static const char *litifut_base_name(const struct litifut_loaded *file)
{
	const char *name = file->name;

	for (const char *at = file->name; *at; at++)
		if (*at == '/')
			name = at + 1;
	return name;
}

static bool litifut_is_libc(const struct litifut_loaded *file)
{
	const char *name = litifut_base_name(file);

	return litifut_starts(name, "libc.so") || litifut_starts(name, "libc-2.") ||
	       litifut_starts(name, "ld-musl-");
}

static struct litifut_symbols litifut_symbols_of(const struct litifut_loaded *file)
{
	struct litifut_symbols table = {NULL, NULL, NULL, NULL, NULL};

	for (const Elf32_Dyn *item = file->dynamic; item->d_tag != DT_NULL; item++) {
		const void *pointer = litifut_pointer(file, item->d_un.d_ptr);

		if (item->d_tag == DT_SYMTAB)
			table.symbols = pointer;
		else if (item->d_tag == DT_STRTAB)
			table.names = pointer;
		else if (item->d_tag == DT_HASH)
			table.hash = pointer;
		else if (item->d_tag == DT_GNU_HASH)
			table.gnu_hash = pointer;
		else if (item->d_tag == DT_VERSYM)
			table.versions = pointer;
	}
	return table;
}

/* Is symbol `index` the function `name`, in its default version? */
static bool litifut_is_function(const struct litifut_symbols *table, uint32_t index,
				const char *name)
{
	const Elf32_Sym *symbol = &table->symbols[index];

	return symbol->st_shndx != SHN_UNDEF && ELF32_ST_TYPE(symbol->st_info) == STT_FUNC &&
	       !(table->versions && table->versions[index] & 0x8000) &&
	       litifut_equal(table->names + symbol->st_name, name);
}

/* a modulo b, or 0. ARM has no instruction for it before ARMv7, and the tracer links no library. */
static uint32_t litifut_modulo(uint32_t a, uint32_t b)
{
	int shift;

	if (!b || a < b)
		return b ? a : 0;
	shift = __builtin_clz(b) - __builtin_clz(a);
	for (b <<= shift; shift >= 0; shift--, b >>= 1)
		if (a >= b)
			a -= b;
	return a;
}

/* The gABI, "Hash Table". */
static uint32_t litifut_find_symbol(const struct litifut_symbols *table, const char *name)
{
	const uint32_t *buckets = table->hash + 2;
	uint32_t hash = 0;
	uint32_t index;

	for (const char *at = name; *at; at++) {
		hash = (hash << 4) + (uint8_t)*at;
		hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
	}
	for (index = buckets[litifut_modulo(hash, table->hash[0])]; index;
	     index = buckets[table->hash[0] + index])
		if (litifut_is_function(table, index, name))
			break;
	return index;
}

/* DT_GNU_HASH: four words (buckets, first symbol, words of the filter, shift), the
 * filter, the buckets, and for each symbol its hash, whose lowest bit ends a chain. */
static uint32_t litifut_find_gnu_symbol(const struct litifut_symbols *table, const char *name)
{
	const uint32_t *head = table->gnu_hash;
	const uint32_t *buckets = head + 4 + head[2];
	const uint32_t *hashes = buckets + head[0] - head[1];
	uint32_t hash = 5381;
	uint32_t index;

	for (const char *at = name; *at; at++)
		hash = hash * 33 + (uint8_t)*at;
	index = buckets[litifut_modulo(hash, head[0])];
	if (!index)
		return 0;
	for (;; index++) {
		if ((hashes[index] | 1) == (hash | 1) && litifut_is_function(table, index, name))
			return index;
		if (hashes[index] & 1)
			return 0;
	}
}

/* The function `name` of `file`; 0: none. */
static uint32_t litifut_function(const struct litifut_loaded *file,
				 const struct litifut_symbols *table, const char *name)
{
	uint32_t index = 0;

	if (!table->symbols || !table->names)
		return 0;
	if (table->gnu_hash)
		index = litifut_find_gnu_symbol(table, name);
	else if (table->hash)
		index = litifut_find_symbol(table, name);
	return index ? file->bias + table->symbols[index].st_value : 0;
}

bool litifut_functions_of(enum litifut_loaded_file which, const char *names, uint32_t *addresses,
			  uint32_t count)
{
	const struct litifut_loaded *file = litifut_loaded_files();
	struct litifut_symbols table;

	while (which == LITIFUT_LOADED_LIBC && file && !litifut_is_libc(file))
		file = file->next;
	if (!file)
		return false;
	table = litifut_symbols_of(file);
	for (uint32_t i = 0; i < count; i++, names += litifut_length(names) + 1)
		addresses[i] = litifut_function(file, &table, names);
	return true;
}

uint32_t litifut_library_function(const char *library, const char *name)
{
	for (const struct litifut_loaded *file = litifut_loaded_files(); file; file = file->next) {
		struct litifut_symbols table;

		if (!litifut_starts(litifut_base_name(file), library))
			continue;
		table = litifut_symbols_of(file);
		return litifut_function(file, &table, name);
	}
	return 0;
}
