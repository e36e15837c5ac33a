#include "rewriter/dynamic_symbols.h"

#include <elf.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/program_code.h"

/* PLT entries and veneers, one after another. */
#define LEADS_MAX 4

struct litifut_slot {
	uint32_t address;
	uint32_t symbol; /* in .dynsym */
};

uint32_t litifut_image_word(const struct litifut_image *image,
			    const struct litifut_section *section, uint32_t offset)
{
	return litifut_get32(image->file.big_endian, section->bytes + offset);
}

const struct litifut_section *litifut_image_linked(const struct litifut_image *image,
						   uint32_t index)
{
	return index < image->section_count && image->sections[index].bytes
		       ? &image->sections[index]
		       : NULL;
}

const char *litifut_dynamic_name(const struct litifut_image *image,
				 const struct litifut_section *symbols, uint32_t index)
{
	const struct litifut_section *strings = litifut_image_linked(image, symbols->link);
	uint32_t name;

	if (!strings || index >= symbols->size / sizeof(Elf32_Sym))
		return "";
	name = litifut_image_word(image, symbols,
				  index * (uint32_t)sizeof(Elf32_Sym) +
					  (uint32_t)offsetof(Elf32_Sym, st_name));
	return name < strings->size && memchr(strings->bytes + name, 0, strings->size - name)
		       ? (const char *)strings->bytes + name
		       : "";
}

static int by_slot(const void *left, const void *right)
{
	const struct litifut_slot *a = left;
	const struct litifut_slot *b = right;

	return a->address < b->address ? -1 : a->address > b->address;
}

static enum litifut_status add_slots(const struct litifut_image *image,
				     const struct cpu_linkage *linkage,
				     const struct litifut_section *section,
				     struct litifut_slots *slots, struct litifut_error *error)
{
	const uint32_t bytes = section->type == SHT_RELA ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);
	struct litifut_slot *grown =
		realloc(slots->items, (slots->count + section->size / bytes + 1) * sizeof(*grown));

	if (!grown)
		return litifut_error_memory(error, image->path);
	slots->items = grown;
	for (uint32_t at = 0; at + bytes <= section->size; at += bytes) {
		const uint32_t info = litifut_image_word(image, section, at + 4);

		if (info && (ELF32_R_TYPE(info) == linkage->jump_slot ||
			     ELF32_R_TYPE(info) == linkage->global_data))
			slots->items[slots->count++] = (struct litifut_slot){
				litifut_image_word(image, section, at), ELF32_R_SYM(info)};
	}
	return LITIFUT_OK;
}

enum litifut_status litifut_slots_find(const struct litifut_image *image,
				       const struct cpu_linkage *linkage,
				       const struct litifut_section *symbols,
				       struct litifut_slots *slots, struct litifut_error *error)
{
	enum litifut_status status = LITIFUT_OK;

	*slots = (struct litifut_slots){.symbols = symbols};
	for (size_t i = 1; i < image->section_count && symbols && !status; i++) {
		const struct litifut_section *section = &image->sections[i];

		if ((section->type == SHT_REL || section->type == SHT_RELA) &&
		    section->flags & SHF_ALLOC && section->bytes &&
		    litifut_image_linked(image, section->link) == symbols)
			status = add_slots(image, linkage, section, slots, error);
	}
	if (slots->count)
		qsort(slots->items, slots->count, sizeof(*slots->items), by_slot);
	return status;
}

const char *litifut_slots_name(const struct litifut_image *image, const struct litifut_slots *slots,
			       uint32_t address)
{
	const struct litifut_slot key = {.address = address};
	const struct litifut_slot *slot = slots->count ? bsearch(&key, slots->items, slots->count,
								 sizeof(*slots->items), by_slot)
						       : NULL;

	return slot ? litifut_dynamic_name(image, slots->symbols, slot->symbol) : "";
}

void litifut_slots_release(struct litifut_slots *slots)
{
	free(slots->items);
	*slots = (struct litifut_slots){0};
}

static bool read_word(const void *context, uint32_t address, uint32_t *value)
{
	const struct litifut_image *image = context;
	const struct litifut_section *section = litifut_image_section_at(image, address, 4);

	if (section)
		*value = litifut_image_word(image, section, address - section->address);
	return section != NULL;
}

static bool read_half(const void *context, uint32_t address, uint16_t *value)
{
	const struct litifut_image *image = context;
	const struct litifut_section *section = litifut_image_section_at(image, address, 2);

	if (section)
		*value = litifut_get16(image->file.big_endian,
				       section->bytes + (address - section->address));
	return section != NULL;
}

struct litifut_code_reader litifut_image_reader(const struct litifut_image *image)
{
	return (struct litifut_code_reader){read_word, read_word, read_half, image};
}

struct litifut_way_end litifut_way_from(const struct litifut_image *image, const struct cpu *cpu,
					const struct litifut_slots *slots, uint32_t address)
{
	const struct litifut_code_reader code = litifut_image_reader(image);

	for (unsigned leads = 0; leads < LEADS_MAX; leads++) {
		const struct litifut_symbol *function =
			litifut_image_function_start(image, address & ~1u);
		const struct litifut_section *section =
			litifut_image_section_at(image, address & ~1u, 2);
		struct litifut_lead lead;

		if (function && !(section && litifut_section_is_linkage(section)) &&
		    !cpu_is_veneer(cpu, function->name))
			return (struct litifut_way_end){.function = function, .address = address};
		lead = cpu->linkage.follow(&code, address);
		if (lead.kind == LITIFUT_LEADS_TO_SLOT)
			return (struct litifut_way_end){
				.slot = litifut_slots_name(image, slots, lead.address),
				.address = address};
		if (lead.kind != LITIFUT_LEADS_TO_CODE)
			break;
		address = lead.address;
	}
	return (struct litifut_way_end){.address = address};
}
