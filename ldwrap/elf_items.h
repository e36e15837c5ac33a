/* What libelf gives of a file in memory are pointers into it, and a member of an archive
 * may begin at any even address there. So nothing is read where it is: it is copied. */
#ifndef LITIFUT_LDWRAP_ELF_ITEMS_H
#define LITIFUT_LDWRAP_ELF_ITEMS_H

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* False: there is none, or it is damaged. `section` may be NULL. */
static inline bool elf_items_header(Elf_Scn *section, Elf32_Shdr *header)
{
	const void *found = section ? elf32_getshdr(section) : NULL;

	if (found)
		memcpy(header, found, sizeof(*header));
	return found != NULL;
}

/* How many items of `size` bytes there are; `data` may be NULL. */
static inline size_t elf_items_count(const Elf_Data *data, size_t size)
{
	return data && data->d_buf ? data->d_size / size : 0;
}

static inline void elf_items_copy(const Elf_Data *data, size_t index, size_t size, void *item)
{
	memcpy(item, (const char *)data->d_buf + index * size, size);
}

/* Item number `index`, which must be below elf_items_count(). */
static inline Elf32_Sym elf_items_symbol(const Elf_Data *data, size_t index)
{
	Elf32_Sym symbol;

	elf_items_copy(data, index, sizeof(symbol), &symbol);
	return symbol;
}

static inline Elf32_Rel elf_items_relocation(const Elf_Data *data, size_t index)
{
	Elf32_Rel relocation;

	elf_items_copy(data, index, sizeof(relocation), &relocation);
	return relocation;
}

static inline uint32_t elf_items_word(const Elf_Data *data, size_t index)
{
	uint32_t word;

	elf_items_copy(data, index, sizeof(word), &word);
	return word;
}

#endif
