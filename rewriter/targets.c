/* Where can control arrive other than from the instruction before? */
#include "rewriter/targets.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/image.h"

/* Not in every <elf.h>: compact kinds of dynamic relocations. */
#define SHT_RELR_RELATIVE 19u
#define SHT_ANDROID_REL 0x60000001u
#define SHT_ANDROID_RELA 0x60000002u

static size_t pages(const struct litifut_targets *targets)
{
	return (targets->end - targets->start) / 16 / LITIFUT_TARGETS_PAGE + 1;
}

enum litifut_status litifut_targets_create(uint32_t start, uint32_t end,
					   struct litifut_targets *targets,
					   struct litifut_error *error)
{
	targets->start = start;
	targets->end = end < start ? start : end;
	targets->bits = calloc(pages(targets), LITIFUT_TARGETS_PAGE);
	targets->touched = calloc(pages(targets), 1);
	if (!targets->bits || !targets->touched)
		return litifut_error_memory(error, NULL);
	return LITIFUT_OK;
}

void litifut_targets_release(struct litifut_targets *targets)
{
	free(targets->bits);
	free(targets->touched);
	memset(targets, 0, sizeof(*targets));
}

void litifut_targets_add_words(struct litifut_targets *targets, uint32_t address, uint32_t count)
{
	uint32_t half = (address - targets->start) / 2;
	bool inside = address >= targets->start && address < targets->end &&
		      (targets->end - address + 3) / 4 >= count;

	while (count) {
		/* Four of them make a byte. */
		unsigned step = inside && count >= 4 && half % 8 < 2 ? 4 : 1;

		litifut_targets_add(targets, address);
		if (step == 4)
			targets->bits[half / 8] |= (uint8_t)(0x55u << half % 8);
		count -= step;
		half += 2 * step;
		address += 4 * step;
	}
}

void litifut_targets_merge(struct litifut_targets *targets, const struct litifut_targets *from)
{
	for (size_t page = 0; page < pages(targets); page++) {
		size_t first = page * LITIFUT_TARGETS_PAGE;

		if (!from->touched[page])
			continue;
		targets->touched[page] = 1;
		for (size_t i = first; i < first + LITIFUT_TARGETS_PAGE; i++)
			targets->bits[i] |= from->bits[i];
	}
}

void litifut_targets_remove(struct litifut_targets *targets, const struct litifut_targets *from)
{
	for (size_t page = 0; page < pages(targets); page++) {
		size_t first = page * LITIFUT_TARGETS_PAGE;

		if (!from->touched[page] || !targets->touched[page])
			continue;
		for (size_t i = first; i < first + LITIFUT_TARGETS_PAGE; i++)
			targets->bits[i] &= (uint8_t)~from->bits[i];
	}
}

static void add_word(struct litifut_targets *targets, const struct litifut_image *image,
		     uint32_t address)
{
	const struct litifut_section *section = litifut_image_section_at(image, address, 4);

	if (section)
		litifut_targets_add(targets,
				    litifut_get32(image->file.big_endian,
						  section->bytes + (address - section->address)));
}

/* Unwind tables: made of the starts of functions, as distances between addresses, which
 * look like anything. */
static bool is_frame_table(const struct litifut_section *section)
{
	return strcmp(section->name, ".eh_frame") == 0 ||
	       strcmp(section->name, ".eh_frame_hdr") == 0;
}

static bool is_page(const struct litifut_pages *pages, const struct litifut_image *image,
		    uint32_t address, uint32_t value)
{
	const uint32_t number = value >> 16;

	return pages && address >= pages->start && address < pages->end && !(value & 0xffff) &&
	       !(pages->formed[number / 8] >> number % 8 & 1) &&
	       !litifut_image_function_start(image, value);
}

static uint32_t word_of(const struct litifut_image *image, const struct litifut_section *section,
			uint32_t at)
{
	return litifut_get32(image->file.big_endian, section->bytes + at);
}

/* A compiler's table of a switch has two entries at least, one behind the other. A word alone that
 * looks like one is something else. */
static bool is_in_table(const struct litifut_targets *targets, const struct litifut_image *image,
			const struct litifut_section *section, uint32_t base, uint32_t at)
{
	const uint32_t size = targets->end - targets->start;
	const uint32_t before = at >= 4 ? base + word_of(image, section, at - 4) : 0;
	const uint32_t behind =
		section->size - at >= 8 ? base + word_of(image, section, at + 4) : 0;

	return (before - targets->start < size && !(before & 3)) ||
	       (behind - targets->start < size && !(behind & 3));
}

/* May the word at offset `at` of the section be a pointer to code, if it has the address of some?
 * With a `base`, which is added to it, it must be an entry of a table. */
static bool may_lead(const struct litifut_targets *targets, const struct litifut_image *image,
		     const struct litifut_pointers *pointers, const struct litifut_section *section,
		     uint32_t base, uint32_t at)
{
	const uint32_t value = base + word_of(image, section, at);
	const uint32_t address = section->address + at;

	if (pointers->alignment && value % pointers->alignment)
		return false;
	if (address - pointers->called_start < pointers->called_end - pointers->called_start &&
	    pointers->called[(address - pointers->called_start) / 32] >>
			    (address - pointers->called_start) / 4 % 8 &
		    1)
		return false;
	return base ? is_in_table(targets, image, section, base, at)
		    : !is_page(pointers->pages, image, section->address + at, value);
}

/* Every word of the sections that hold data; `only` one of this name, or NULL. */
static void add_sections(struct litifut_targets *targets, const struct litifut_image *image,
			 const struct litifut_pointers *pointers, uint32_t base, const char *only)
{
	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (!section->bytes || !(section->flags & SHF_ALLOC) ||
		    section->flags & SHF_EXECINSTR || (only && strcmp(section->name, only) != 0) ||
		    is_frame_table(section) ||
		    (section->type != SHT_PROGBITS && section->type != SHT_INIT_ARRAY &&
		     section->type != SHT_FINI_ARRAY && section->type != SHT_PREINIT_ARRAY))
			continue;
		for (uint32_t at = 0; at + 4 <= section->size; at += 4)
			if (may_lead(targets, image, pointers, section, base, at))
				litifut_targets_add(targets, base + word_of(image, section, at));
	}
}

void litifut_targets_add_offsets(struct litifut_targets *targets, const struct litifut_image *image,
				 const struct litifut_pointers *pointers, uint32_t base)
{
	add_sections(targets, image, pointers, base, NULL);
}

/* Adds the words that dynamic relocations of `image` stand for. False: there are
 * none of the plain kind, or some of another. */
static bool add_relocated(struct litifut_targets *targets, const struct litifut_image *image)
{
	bool found = false;

	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (!(section->flags & SHF_ALLOC))
			continue;
		if (section->type == SHT_RELA || section->type == SHT_RELR_RELATIVE ||
		    section->type == SHT_ANDROID_REL || section->type == SHT_ANDROID_RELA)
			return false;
		if (section->type != SHT_REL || !section->bytes)
			continue;
		found = true;
		for (uint32_t at = 0; at + 8 <= section->size; at += 8)
			add_word(targets, image,
				 litifut_get32(image->file.big_endian, section->bytes + at));
	}
	return found;
}

void litifut_targets_add_pointers(struct litifut_targets *targets,
				  const struct litifut_image *image,
				  const struct litifut_pointers *pointers)
{
	if (image->file.type == ET_DYN &&
	    add_relocated(targets, image)) /* MIPS: without being listed */
		add_sections(targets, image, pointers, 0, ".got");
	else
		add_sections(targets, image, pointers, 0, NULL);
}

/* The values of thread variables are distances, and those of symbols in sections that are not in
 * memory, such as the debugging information of link-time optimisation, are offsets. Linker scripts
 * for firmware give stack and heap such sections as well, but with an address. */
static bool has_address(const struct litifut_image *image, const struct litifut_symbol *symbol)
{
	const struct litifut_section *section = &image->sections[symbol->section];

	return symbol->type != STT_TLS && (section->flags & SHF_ALLOC || section->address);
}

void litifut_targets_add_data(struct litifut_targets *targets, const struct litifut_image *image,
			      const struct litifut_pointers *pointers)
{
	for (size_t i = 0; i < image->symbol_count; i++)
		if (!image->symbols[i].mapping && has_address(image, &image->symbols[i]))
			litifut_targets_add(targets, image->symbols[i].address);
	litifut_targets_add_pointers(targets, image, pointers);
}
