/* vfork, _Fork, clone, syscall, prctl, seccomp_load, _exit, execve and more, by name. A static
 * program has them; others reach them through PLT entries, whose slots the dynamic relocations
 * name, through the lazy stubs of MIPS, which are the values of undefined dynamic symbols, by
 * veneers, or through the GOT, where the tracer finds the address at run time. */
#include "rewriter/spawners.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "platform/platform.h"
#include "rewriter/dynamic_symbols.h"
#include "rewriter/image.h"
#include "rewriter/program_code.h"

struct slots {
	uint32_t addresses[LITIFUT_SPAWNER_SLOTS];
	uint32_t marks[LITIFUT_SPAWNER_SLOTS];
	size_t count;
};

/* In one of these lists, which may be NULL? */
struct names {
	const char *const *lists[3];
	bool local; /* local functions as well */
};

static bool is_name(const struct names *names, const char *name)
{
	for (size_t i = 0; i < sizeof(names->lists) / sizeof(names->lists[0]); i++)
		if (platform_lists(names->lists[i], name))
			return true;
	return false;
}

static struct names spawner_names(void)
{
	return (struct names){.lists = {platform_linux.process_makers, platform_linux.confiners}};
}

static uint32_t mark_of(const char *name)
{
	return platform_lists(platform_linux.confiners, name) ? LITIFUT_SPAWNER_CONFINES_BIT : 0;
}

static void add_place(struct litifut_spawners *spawners, uint32_t address, uint32_t mark)
{
	size_t i = 0;

	address &= ~1u;
	while (i < LITIFUT_MODULE_SPAWNERS && spawners->places[i] &&
	       (spawners->places[i] & ~1u) != address)
		i++;
	if (i < LITIFUT_MODULE_SPAWNERS)
		spawners->places[i] = address | mark;
}

/* The slots that one section of dynamic relocations has for them. */
static void add_slots(const struct litifut_image *image, const struct cpu_linkage *linkage,
		      const struct names *names, const struct litifut_section *section,
		      struct slots *slots)
{
	const struct litifut_section *symbols = litifut_image_linked(image, section->link);
	uint32_t bytes = section->type == SHT_RELA ? sizeof(Elf32_Rela) : sizeof(Elf32_Rel);

	if (!symbols || symbols->type != SHT_DYNSYM)
		return;
	for (uint32_t at = 0; at + bytes <= section->size; at += bytes) {
		uint32_t info = litifut_image_word(image, section, at + 4);

		if (info == 0 || (ELF32_R_TYPE(info) != linkage->jump_slot &&
				  ELF32_R_TYPE(info) != linkage->global_data))
			continue;
		const char *name = litifut_dynamic_name(image, symbols, ELF32_R_SYM(info));
		if (slots->count < LITIFUT_SPAWNER_SLOTS && is_name(names, name)) {
			slots->marks[slots->count] = mark_of(name);
			slots->addresses[slots->count++] = litifut_image_word(image, section, at);
		}
	}
}

/* The entries of a PLT that lead to one of these slots. Code of the other state seldom
 * looks like an entry, and then leads elsewhere. */
static void add_entries(const struct litifut_image *image, const struct cpu_linkage *linkage,
			const struct litifut_section *section, const struct slots *slots,
			struct litifut_spawners *spawners)
{
	const struct litifut_code_reader code = litifut_image_reader(image);

	for (uint32_t at = 0; at + 4 <= section->size; at += 4) {
		for (uint32_t thumb = 0; thumb < 2; thumb++) {
			struct litifut_lead lead =
				linkage->follow(&code, (section->address + at) | thumb);

			for (size_t i = 0; i < slots->count; i++)
				if (lead.kind == LITIFUT_LEADS_TO_SLOT &&
				    lead.address == slots->addresses[i])
					add_place(spawners, section->address + at, slots->marks[i]);
		}
	}
}

/* Veneers that lead to one of the places: from A32 to T32 code, or over a long way. */
static void add_veneers(const struct litifut_image *image, const struct cpu_linkage *linkage,
			struct litifut_spawners *spawners)
{
	const struct litifut_code_reader code = litifut_image_reader(image);
	const struct litifut_spawners places = *spawners;

	for (size_t i = 0; linkage->is_veneer && i < image->function_count; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];
		struct litifut_lead lead;

		if (!linkage->is_veneer(function->name))
			continue;
		lead = linkage->follow(&code, function->address | function->thumb);
		for (size_t place = 0; lead.kind == LITIFUT_LEADS_TO_CODE &&
				       place < LITIFUT_MODULE_SPAWNERS && places.places[place];
		     place++)
			if (((lead.address ^ places.places[place]) & ~1u) == 0)
				add_place(spawners, function->address, places.places[place] & 1);
	}
}

static void add_dynamic(const struct litifut_image *image, const struct names *names,
			const struct litifut_section *symbols, struct litifut_spawners *spawners)
{
	for (uint32_t i = 0; i < symbols->size / sizeof(Elf32_Sym); i++) {
		uint32_t symbol = i * (uint32_t)sizeof(Elf32_Sym);
		uint32_t value;

		if (!is_name(names, litifut_dynamic_name(image, symbols, i)))
			continue;
		spawners->used = true;
		value = litifut_image_word(image, symbols,
					   symbol + (uint32_t)offsetof(Elf32_Sym, st_value));
		if (value)
			add_place(spawners, value,
				  mark_of(litifut_dynamic_name(image, symbols, i)));
	}
}

static void find(const struct litifut_image *image, const struct cpu_linkage *linkage,
		 const struct names *names, struct litifut_spawners *spawners)
{
	const struct litifut_section *symbols = litifut_image_section(image, ".dynsym");
	struct slots slots = {.count = 0};

	memset(spawners, 0, sizeof(*spawners));
	for (size_t i = 0; i < image->function_count; i++) {
		const struct litifut_symbol *function = &image->symbols[image->functions[i]];

		/* A program may have many local functions of its own called `clone`. */
		if (function->section &&
		    (names->local || function->binding != STB_LOCAL || function->reserved) &&
		    is_name(names, function->name)) {
			spawners->used = true;
			add_place(spawners, function->address, mark_of(function->name));
		}
	}
	if (symbols && symbols->bytes)
		add_dynamic(image, names, symbols, spawners);
	if (!spawners->used)
		return;
	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if ((section->type == SHT_REL || section->type == SHT_RELA) &&
		    section->flags & SHF_ALLOC && section->bytes)
			add_slots(image, linkage, names, section, &slots);
	}
	memcpy(spawners->slots, slots.addresses, slots.count * sizeof(*slots.addresses));
	for (size_t i = 1; i < image->section_count && slots.count; i++)
		if (image->sections[i].flags & SHF_EXECINSTR && image->sections[i].bytes &&
		    litifut_section_is_linkage(&image->sections[i]))
			add_entries(image, linkage, &image->sections[i], &slots, spawners);
	add_veneers(image, linkage, spawners);
}

/* Adds where a function is called that ends the program, as far as there is room. */
static void add_ender(const struct litifut_image *image, const struct cpu_linkage *linkage,
		      const char *name, struct litifut_spawners *spawners)
{
	const char *const list[] = {name, NULL};
	/* those of a static libc may be local, and others do no harm */
	const struct names names = {.lists = {list}, .local = true};
	struct litifut_spawners found;
	size_t count = 0;

	find(image, linkage, &names, &found);
	spawners->ends |= found.used;
	while (count < LITIFUT_MODULE_SPAWNERS && spawners->places[count])
		count++;
	for (size_t i = 0; i < LITIFUT_MODULE_SPAWNERS && found.places[i]; i++) {
		if (count == LITIFUT_MODULE_SPAWNERS ||
		    litifut_spawners_has(spawners, found.places[i]))
			continue;
		spawners->enders |= 1u << count;
		spawners->places[count++] = found.places[i];
	}
}

void litifut_spawners_find(const struct litifut_image *image, const struct cpu_linkage *linkage,
			   struct litifut_spawners *spawners)
{
	const struct names names = spawner_names();

	find(image, linkage, &names, spawners);
	for (const char *const *name = platform_linux.enders; *name; name++)
		add_ender(image, linkage, *name, spawners);
}

void litifut_spawners_named(const struct litifut_image *image, const struct cpu_linkage *linkage,
			    const char *const *list, bool local, struct litifut_spawners *places)
{
	const struct names names = {.lists = {list}, .local = local};

	find(image, linkage, &names, places);
}

/* LITIFUT_MODULE_SPAWNERS: it is none of the places. */
static size_t number_of(const struct litifut_spawners *spawners, uint32_t address)
{
	for (size_t i = 0; i < LITIFUT_MODULE_SPAWNERS && spawners->places[i]; i++)
		if ((spawners->places[i] & ~1u) == (address & ~1u))
			return i;
	return LITIFUT_MODULE_SPAWNERS;
}

bool litifut_spawners_has(const struct litifut_spawners *spawners, uint32_t address)
{
	return number_of(spawners, address) < LITIFUT_MODULE_SPAWNERS;
}

bool litifut_spawners_ends(const struct litifut_spawners *spawners, uint32_t address)
{
	const size_t number = number_of(spawners, address);

	return number < LITIFUT_MODULE_SPAWNERS && spawners->enders >> number & 1;
}

static bool is_symbol(const struct litifut_image *image, uint32_t index, const struct names *names)
{
	const struct litifut_section *symbols = litifut_image_section(image, ".dynsym");

	return symbols && symbols->bytes &&
	       is_name(names, litifut_dynamic_name(image, symbols, index));
}

bool litifut_spawners_is_symbol(const struct litifut_image *image, uint32_t index)
{
	const struct names names = {.lists = {platform_linux.process_makers,
					      platform_linux.confiners, platform_linux.enders}};

	return is_symbol(image, index, &names);
}

bool litifut_spawners_is_ender(const struct litifut_image *image, uint32_t index)
{
	return litifut_spawners_is_named(image, index, platform_linux.enders);
}

bool litifut_spawners_is_named(const struct litifut_image *image, uint32_t index,
			       const char *const *list)
{
	const struct names names = {.lists = {list}};

	return is_symbol(image, index, &names);
}
