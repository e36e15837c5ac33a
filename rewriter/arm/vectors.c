/* The table begins with the first value of sp and the address of the reset handler, and is
 * aligned to 128 bytes at the least (DDI 0403E B1.5.3). Entries before SysTick are left: a
 * fault may come when there is no stack, and some kernels check that the entries of SVCall
 * and PendSV lead to their own handlers. */
#include "rewriter/arm/vectors.h"

#include <elf.h>
#include <string.h>

#define ALIGNMENT 128
#define HARD_FAULT 3
#define FIRST 15       /* SysTick */
#define FIRST_PLAIN 11 /* SVCall: those before it are faults, which the program may not survive */
#define INTERRUPTS 16
#define MOST 512 /* 16 exceptions, 496 interrupts (B1.5.2) */

static uint32_t word_at(const struct litifut_image *image, const struct litifut_section *section,
			uint32_t address)
{
	return litifut_get32(image->file.big_endian, section->bytes + (address - section->address));
}

static bool is_handler(const struct litifut_image *image, uint32_t word)
{
	return word & 1 && litifut_image_function_start(image, word & ~1u);
}

/* Is it a table whatever the ELF header says? Scripts without ENTRY() begin at the table itself,
 * and others name main(). Handlers of reset, NMI and HardFault have to be there. */
static bool has_handlers(const struct litifut_image *image, const struct litifut_section *section,
			 uint32_t table)
{
	if (section->size < 16 || table - section->address > section->size - 16)
		return false;
	for (uint32_t i = 1; i <= HARD_FAULT; i++)
		if (!is_handler(image, word_at(image, section, table + 4 * i)))
			return false;
	return true;
}

/* The address of the table; false: there is none. `by_entry': the table is found by the entry
 * point of the ELF header. The CPU ignores the low bits of the first value of sp, and scripts
 * whose memory has an odd length let them be set. */
static bool search(const struct litifut_image *image, bool by_entry,
		   const struct litifut_section **section, uint32_t *table)
{
	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *each = &image->sections[i];
		uint32_t address = (each->address + ALIGNMENT - 1) & ~(ALIGNMENT - 1u);

		if (!(each->flags & SHF_ALLOC) || !each->bytes)
			continue;
		for (; address >= each->address && address - each->address + 8 <= each->size;
		     address += ALIGNMENT) {
			uint32_t stack = word_at(image, each, address);

			if (!stack || (by_entry ? stack & 3 || word_at(image, each, address + 4) !=
								       (image->file.entry | 1)
						: !has_handlers(image, each, address)))
				continue;
			*section = each;
			*table = address;
			return true;
		}
	}
	return false;
}

static bool find_table(const struct litifut_image *image, const struct litifut_section **section,
		       uint32_t *table)
{
	return search(image, true, section, table) || search(image, false, section, table);
}

/* Boot loaders of some devices look for a checksum or the size of the image in these. */
static bool is_reserved(uint32_t entry)
{
	return (entry >= 7 && entry <= 10) || entry == 13;
}

/* How many entries there are: up to the end of the symbol at its start, or what has no
 * function's address. */
static uint32_t count_entries(const struct litifut_image *image,
			      const struct litifut_section *section, uint32_t table)
{
	uint32_t most = (section->address + section->size - table) / 4;
	uint32_t count = 2;

	if (most > MOST)
		most = MOST;
	for (size_t i = 0; i < image->symbol_count; i++)
		if (image->symbols[i].address == table && image->symbols[i].size >= 8 &&
		    image->symbols[i].type == STT_OBJECT &&
		    image->symbols[i].section == section - image->sections &&
		    image->symbols[i].size / 4 < most)
			most = image->symbols[i].size / 4;
	for (; count < most; count++) {
		uint32_t word = word_at(image, section, table + 4 * count);

		if (word && !is_reserved(count) && !is_handler(image, word))
			break;
	}
	return count;
}

static bool is_shared(const struct litifut_image *image, const struct litifut_section *section,
		      uint32_t table, uint32_t count, uint32_t entry)
{
	uint32_t word = word_at(image, section, table + 4 * entry);

	for (uint32_t i = 1; i < count; i++)
		if (i != entry && word_at(image, section, table + 4 * i) == word)
			return true;
	return false;
}

uint32_t litifut_arm_vectors_stack(const struct litifut_image *image)
{
	const struct litifut_section *section;
	uint32_t table;

	return find_table(image, &section, &table) ? word_at(image, section, table) & ~3u : 0;
}

uint32_t litifut_arm_vectors_reset(const struct litifut_image *image)
{
	const struct litifut_section *section;
	uint32_t table;

	return find_table(image, &section, &table) ? word_at(image, section, table + 4)
						   : image->file.entry;
}

size_t litifut_arm_vectors_handlers(const struct litifut_image *image, uint32_t *handlers,
				    size_t most)
{
	const struct litifut_section *section;
	uint32_t table;
	size_t count = 0;

	if (!find_table(image, &section, &table))
		return 0;
	for (uint32_t i = FIRST_PLAIN, end = count_entries(image, section, table);
	     i < end && count < most; i++) {
		const uint32_t word = word_at(image, section, table + 4 * i);

		if (word)
			handlers[count++] = word & ~1u;
	}
	return count;
}

bool litifut_arm_vectors_free(const struct litifut_image *image, uint32_t number, uint32_t *entry)
{
	const uint32_t exception = number + INTERRUPTS;
	const struct litifut_section *section;
	uint32_t table, count, handler;

	if (number >= MOST || !find_table(image, &section, &table))
		return false;
	count = count_entries(image, section, table);
	if (exception >= count)
		return false;
	*entry = table + 4 * exception;
	handler = word_at(image, section, *entry);
	return !handler || is_shared(image, section, table, count, exception);
}

enum litifut_status litifut_arm_vectors_add(const struct litifut_image *image,
					    struct litifut_site_list *sites,
					    struct litifut_error *error)
{
	const struct litifut_section *section;
	struct litifut_found_site vectors[MOST];
	uint32_t table;
	uint32_t count;
	size_t added = 0;

	if (!find_table(image, &section, &table))
		return LITIFUT_OK;
	count = count_entries(image, section, table);
	for (uint32_t i = FIRST; i < count; i++) {
		uint32_t address = table + 4 * i;
		uint32_t handler = word_at(image, section, address);

		if (!handler || is_shared(image, section, table, count, i))
			continue;
		vectors[added++] = (struct litifut_found_site){
			.site = {.address = address,
				 .return_address = address,
				 .instruction = i,
				 .callee = handler,
				 .kind = LITIFUT_SITE_VECTOR,
				 .thumb = 1,
				 .length = 4},
			.section = (uint16_t)(section - image->sections),
		};
	}
	return litifut_sites_add(sites, image->path, vectors, added, error);
}
