/* The functions and call sites of an image. */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "elf/sections.h"
#include "postproc/sources/debug_file.h"
#include "postproc/table.h"

/* It says how code is encoded, and is not a name. */
static bool is_mapping_symbol(const struct post_image *image, const char *name)
{
	enum litifut_code_state state;

	return image->cpu->linkage.mapping && image->cpu->linkage.mapping(name, &state);
}

static void add_symbol(struct post_image *image, Elf *elf, const GElf_Shdr *table,
		       const GElf_Sym *symbol, bool old_version)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info), bind = GELF_ST_BIND(symbol->st_info);
	const char *name = elf_strptr(elf, table->sh_link, symbol->st_name);
	bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
	uint32_t address = (uint32_t)symbol->st_value & ~1u, limit = 0;
	uint32_t flags = (type == STT_GNU_IFUNC ? POST_SYMBOL_INDIRECT : 0u) |
			 (function ? POST_SYMBOL_FUNCTION : 0u) |
			 (bind == STB_GLOBAL ? POST_SYMBOL_GLOBAL : 0u) |
			 (bind == STB_WEAK ? POST_SYMBOL_WEAK : 0u) |
			 (table->sh_type == SHT_DYNSYM ? POST_SYMBOL_DYNAMIC : 0u) |
			 (old_version ? POST_SYMBOL_OLD_VERSION : 0u);

	if (!name || (!function && type != STT_NOTYPE) || is_mapping_symbol(image, name) ||
	    !strncmp(name, ".L", 2) || (!function && !*name))
		return;
	if (symbol->st_shndx == SHN_UNDEF) {
		/* An undefined function with a value: its canonical PLT entry or
		 * its lazy stub. The names in .symtab carry versions. */
		if (function && address && table->sh_type == SHT_DYNSYM)
			post_symbols_add(&image->symbols, name, address, 0, address + 16,
					 flags | POST_SYMBOL_PLT);
		return;
	}
	if (symbol->st_shndx < SHN_LORESERVE) {
		GElf_Shdr section;
		if (!gelf_getshdr(elf_getscn(elf, symbol->st_shndx), &section) ||
		    !(section.sh_flags & SHF_EXECINSTR))
			return;
		uint64_t end = section.sh_addr + section.sh_size;
		limit = end > UINT32_MAX ? UINT32_MAX : (uint32_t)end;
		if (address < section.sh_addr || address >= end)
			return;
	} else if (!function) {
		return;
	}
	post_symbols_add(&image->symbols, name, address, (uint32_t)symbol->st_size, limit, flags);
}

/* The table with a version for each symbol of .dynsym; NULL: the file has none. */
static Elf_Data *symbol_versions(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_GNU_versym)
			return elf_getdata(section, NULL);
	}
	return NULL;
}

static void add_symbols(struct post_image *image, const struct post_image *from)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(from->file.elf, section))) {
		GElf_Shdr header;
		GElf_Sym symbol;
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		Elf_Data *data = elf_getdata(section, NULL);
		image->has_symbol_table |= header.sh_type == SHT_SYMTAB;
		Elf_Data *versions =
			header.sh_type == SHT_DYNSYM ? symbol_versions(from->file.elf) : NULL;
		for (int i = 1; data && gelf_getsym(data, i, &symbol); i++) {
			GElf_Versym version;
			bool old = versions && gelf_getversym(versions, i, &version) &&
				   version & 0x8000 && symbol.st_shndx != SHN_UNDEF;
			add_symbol(image, from->file.elf, &header, &symbol, old);
		}
	}
}

struct slots {
	struct post_table by_address;
	const char **names; /* NULL: ask the symbol table about `resolver` */
	uint32_t *resolvers;
	size_t count, capacity, resolver_capacity;
};

static void add_slot(struct post_image *image, struct slots *slots, uint32_t address,
		     const char *name, uint32_t resolver)
{
	(void)image;
	if (slots->count == slots->resolver_capacity) {
		slots->resolver_capacity = slots->resolver_capacity * 2 + 16;
		slots->resolvers = post_reallocate(slots->resolvers, slots->resolver_capacity,
						   sizeof(*slots->resolvers));
	}
	slots->resolvers[slots->count] = resolver;
	post_table_put(&slots->by_address, (struct post_key){{address}}, (uint32_t)slots->count);
	POST_GROW(slots->names, slots->count, slots->capacity);
	slots->names[slots->count++] = name;
}

/* Which function's address each GOT slot will hold. */
static void read_slots(struct post_image *image, struct slots *slots)
{
	Elf_Scn *section = NULL;
	const struct cpu *cpu = image->cpu;

	while ((section = elf_nextscn(image->file.elf, section))) {
		GElf_Shdr header, symbol_header;
		if (!gelf_getshdr(section, &header) ||
		    (header.sh_type != SHT_REL && header.sh_type != SHT_RELA) ||
		    !(header.sh_flags & SHF_ALLOC))
			continue;
		Elf_Scn *symbols = elf_getscn(image->file.elf, header.sh_link);
		Elf_Data *symbol_data = NULL;
		if (symbols && gelf_getshdr(symbols, &symbol_header))
			symbol_data = elf_getdata(symbols, NULL);
		Elf_Data *data = elf_getdata(section, NULL);
		for (int i = 0; data; i++) {
			GElf_Rela entry = {0};
			GElf_Rel short_entry;
			GElf_Sym symbol;
			bool explicit = header.sh_type == SHT_RELA;
			if (explicit && !gelf_getrela(data, i, &entry))
				break;
			if (!explicit) {
				if (!gelf_getrel(data, i, &short_entry))
					break;
				entry.r_offset = short_entry.r_offset;
				entry.r_info = short_entry.r_info;
			}
			unsigned type = (unsigned)GELF_R_TYPE(entry.r_info);
			uint32_t address = (uint32_t)entry.r_offset;
			if (cpu->linkage.indirect_function &&
			    type == cpu->linkage.indirect_function) {
				uint8_t stored[4];
				uint32_t resolver = (uint32_t)entry.r_addend;
				if (!explicit &&
				    post_image_bytes(image, address, stored, sizeof(stored)))
					resolver = litifut_get32(image->file.big_endian, stored);
				add_slot(image, slots, address, NULL, resolver & ~1u);
			} else if ((type == cpu->linkage.jump_slot ||
				    type == cpu->linkage.global_data) &&
				   symbol_data &&
				   gelf_getsym(symbol_data, (int)GELF_R_SYM(entry.r_info),
					       &symbol)) {
				const char *name = elf_strptr(
					image->file.elf, symbol_header.sh_link, symbol.st_name);
				if (name && *name)
					add_slot(image, slots, address, name, 0);
			}
		}
	}
}

static void read_plt_section(struct post_image *image, const struct slots *slots, uint32_t start,
			     uint32_t end)
{
	struct litifut_code_reader code = post_image_code(image);

	for (uint32_t address = start; address < end && address >= start;) {
		struct litifut_lead lead = image->cpu->linkage.follow(&code, address | 1);
		if (lead.kind != LITIFUT_LEADS_TO_SLOT)
			lead = image->cpu->linkage.follow(&code, address);
		uint32_t slot = POST_NONE;
		if (lead.kind == LITIFUT_LEADS_TO_SLOT)
			slot = post_table_find(&slots->by_address,
					       (struct post_key){{lead.address}});
		if (slot == POST_NONE) {
			address += 4;
			continue;
		}
		const char *name = slots->names[slot];
		if (!name) {
			/* An indirect function of this very module. Its symbol was read
			 * before, but the table is not sorted yet. */
			for (size_t i = 0; i < image->symbols.count; i++) {
				const struct post_symbol *symbol = &image->symbols.items[i];
				if (symbol->address == slots->resolvers[slot] &&
				    symbol->flags & POST_SYMBOL_INDIRECT)
					name = symbol->name;
			}
		}
		if (name)
			post_symbols_add(&image->symbols, name, address, lead.length, 0,
					 POST_SYMBOL_FUNCTION | POST_SYMBOL_PLT);
		address += lead.length ? lead.length : 4;
	}
}

static void read_plt(struct post_image *image)
{
	struct slots slots = {0};
	Elf_Scn *section = NULL;
	size_t names;

	if (elf_getshdrstrndx(image->file.elf, &names))
		return;
	read_slots(image, &slots);
	while (slots.count && (section = elf_nextscn(image->file.elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header) || !(header.sh_flags & SHF_EXECINSTR) ||
		    header.sh_type != SHT_PROGBITS)
			continue;
		const char *name = elf_strptr(image->file.elf, names, header.sh_name);
		if (!name || (strncmp(name, ".plt", 4) && strncmp(name, ".iplt", 5)))
			continue;
		/* The size that the file has room for, not the one it claims. */
		Elf_Data *data = elf_rawdata(section, NULL);
		if (data)
			read_plt_section(image, &slots, (uint32_t)header.sh_addr,
					 (uint32_t)(header.sh_addr + data->d_size));
	}
	post_table_release(&slots.by_address);
	free(slots.names);
	free(slots.resolvers);
}

static int compare_sites(const void *left, const void *right)
{
	const struct litifut_site *a = left, *b = right;

	if (a->return_address != b->return_address)
		return a->return_address < b->return_address ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int compare_exits(const void *left, const void *right)
{
	const struct litifut_site *a = *(const struct litifut_site *const *)left;
	const struct litifut_site *b = *(const struct litifut_site *const *)right;

	return a->exit < b->exit ? -1 : a->exit > b->exit;
}

static int compare_addresses(const void *left, const void *right)
{
	const struct litifut_site *a = *(const struct litifut_site *const *)left;
	const struct litifut_site *b = *(const struct litifut_site *const *)right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* The sites in the other two orders in which traces name them. */
static void order_sites(struct post_image *image)
{
	free(image->exits);
	free(image->patched);
	image->exits = post_allocate(image->site_count, sizeof(*image->exits));
	image->patched = post_allocate(image->site_count, sizeof(*image->patched));
	image->exit_count = image->patched_count = 0;
	for (size_t i = 0; i < image->site_count; i++) {
		if (image->sites[i].exit && image->sites[i].exit_reason != LITIFUT_EXIT_COUNTER)
			image->exits[image->exit_count++] = &image->sites[i];
		if (image->sites[i].reason == LITIFUT_SITE_PATCHED)
			image->patched[image->patched_count++] = &image->sites[i];
	}
	qsort(image->exits, image->exit_count, sizeof(*image->exits), compare_exits);
	qsort(image->patched, image->patched_count, sizeof(*image->patched), compare_addresses);
}

const struct litifut_site *post_image_exit(const struct post_image *image, uint32_t exit)
{
	size_t low = 0, high = image->exit_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (image->exits[middle]->exit < exit)
			low = middle + 1;
		else
			high = middle;
	}
	return low < image->exit_count && image->exits[low]->exit == exit ? image->exits[low]
									  : NULL;
}

static enum litifut_status read_sites(struct post_image *image, const struct post_image *from,
				      struct litifut_error *error)
{
	GElf_Shdr header;
	Elf_Data *data = elf_file_section(&from->file, LITIFUT_SECTION_SITES, &header);

	if (!data || !data->d_buf)
		return LITIFUT_OK;
	const struct elf_contents contents = {from->path, data->d_buf, data->d_size,
					      from->file.big_endian};
	struct elf_records records;
	enum litifut_status status = elf_read_sites(&contents, &records, error);

	if (status || !records.count) /* none: the list is in a separate file */
		return status;
	free(image->sites);
	image->sites = post_reallocate(NULL, records.count, sizeof(*image->sites));
	image->site_count = records.count;
	image->has_site_list = true;
	for (uint32_t i = 0; i < records.count; i++)
		image->sites[i] = elf_read_site(&records, i);
	qsort(image->sites, image->site_count, sizeof(*image->sites), compare_sites);
	order_sites(image);
	return LITIFUT_OK;
}

static int compare_blocks(const void *left, const void *right)
{
	const struct litifut_block *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Bytes; each address of a block is looked at. */
#define BLOCK_MOST (1u << 20)

/* Of the last instruction of a block, where a branch leads to it: a delay slot. */
#define SHARED_MOST 4

/* They are in order. Some begin at the same address. */
static enum litifut_status check_blocks(const struct post_image *image, const char *path,
					struct litifut_error *error)
{
	uint64_t next = UINT32_MAX;

	for (size_t i = image->block_count; i-- > 0;) {
		const struct litifut_block *block = &image->blocks[i];

		if (i + 1 < image->block_count && image->blocks[i + 1].start != block->start)
			next = image->blocks[i + 1].start;
		if (block->end < block->start || block->end > next + SHARED_MOST ||
		    block->end - block->start > BLOCK_MOST)
			return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path,
						 LITIFUT_SECTION_BLOCKS, block->start,
						 "damaged list of blocks: this one ends at 0x%x",
						 (unsigned)block->end);
	}
	return LITIFUT_OK;
}

static enum litifut_status read_blocks(struct post_image *image, const struct post_image *from,
				       struct litifut_error *error)
{
	GElf_Shdr header;
	Elf_Data *data = elf_file_section(&from->file, LITIFUT_SECTION_BLOCKS, &header);

	if (!data || !data->d_buf || image->blocks)
		return LITIFUT_OK;
	const struct elf_contents contents = {from->path, data->d_buf, data->d_size,
					      from->file.big_endian};
	struct elf_blocks blocks;
	enum litifut_status status = elf_read_blocks(&contents, &blocks, error);

	if (status || !blocks.blocks.count)
		return status;
	image->blocks = post_reallocate(NULL, blocks.blocks.count, sizeof(*image->blocks));
	image->block_count = blocks.blocks.count;
	for (uint32_t i = 0; i < blocks.blocks.count; i++)
		image->blocks[i] = elf_read_block(&blocks.blocks, i);
	qsort(image->blocks, image->block_count, sizeof(*image->blocks), compare_blocks);
	image->originals =
		post_reallocate(NULL, blocks.originals.count + 1u, sizeof(*image->originals));
	image->original_count = blocks.originals.count;
	for (uint32_t i = 0; i < blocks.originals.count; i++)
		image->originals[i] = elf_read_original(&blocks.originals, i);
	return check_blocks(image, from->path, error);
}

/* Without the list, which a stripped file has lost, the DB that the program
 * itself needs names the callees of direct calls, but not where a tail call is
 * and nothing of sites that were left alone. */
static enum litifut_status read_db(struct post_image *image, const struct post_image *from,
				   struct litifut_error *error)
{
	GElf_Shdr header;
	Elf_Data *data = elf_file_section(&from->file, LITIFUT_SECTION_DB, &header);

	if (!data || !data->d_buf || data->d_size < sizeof(struct litifut_db_header))
		return LITIFUT_OK;
	const struct elf_contents contents = {from->path, data->d_buf, data->d_size,
					      from->file.big_endian};
	struct elf_records records;
	enum litifut_status status = elf_read_db(&contents, &records, error);

	if (status)
		return status;
	image->sites = post_reallocate(NULL, records.count, sizeof(*image->sites));
	for (uint32_t i = 0; i < records.count; i++) {
		struct litifut_db_entry entry = elf_read_db_entry(&records, i);
		struct litifut_site site = image->cpu->site_of_entry(entry);
		if (site.kind)
			image->sites[image->site_count++] = site;
	}
	if (image->site_count)
		qsort(image->sites, image->site_count, sizeof(*image->sites), compare_sites);
	return LITIFUT_OK;
}

/* Asks the file itself, then the other files of this build. */
static enum litifut_status find_sites(struct post_image *image, struct litifut_error *error,
				      enum litifut_status (*read)(struct post_image *image,
								  const struct post_image *from,
								  struct litifut_error *error))
{
	enum litifut_status status = read(image, image, error);

	for (size_t i = 0; i < sizeof(image->further) / sizeof(*image->further); i++) {
		if (!image->sites && image->further[i] && status == LITIFUT_OK)
			status = read(image, image->further[i], error);
	}
	return status;
}

enum litifut_status post_image_load(struct post_image *image,
				    const struct post_debug_places *places,
				    struct litifut_error *error)
{
	enum litifut_status status;

	add_symbols(image, image);
	post_debug_files_find(image, places);
	for (size_t i = 0; i < sizeof(image->further) / sizeof(*image->further); i++) {
		if (image->further[i])
			add_symbols(image, image->further[i]);
	}
	read_plt(image);
	post_symbols_finish(&image->symbols);
	status = find_sites(image, error, read_sites);
	if (status == LITIFUT_OK)
		status = read_blocks(image, image, error);
	for (size_t i = 0; i < sizeof(image->further) / sizeof(*image->further); i++) {
		if (image->further[i] && status == LITIFUT_OK)
			status = read_blocks(image, image->further[i], error);
	}
	if (!image->sites && status == LITIFUT_OK)
		status = find_sites(image, error, read_db);
	return status;
}
