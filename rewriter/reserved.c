/* What the link has reserved in the image for the rewriter, and where new code can go. */
#include <elf.h>
#include <litifut/trace_format.h>
#include <stdlib.h>

#include "elf/sections.h"
#include "rewriter/apply.h"
#include "rewriter/counts.h"
#include "rewriter/libc.h"

uint8_t *litifut_apply_bytes_at(const struct litifut_apply *apply, uint32_t address, uint32_t size)
{
	const struct litifut_section *section =
		litifut_image_section_at(&apply->session.image, address, size);

	return section ? section->bytes + (address - section->address) : NULL;
}

/* The same, but of no code, as that can't be written to. */
static uint8_t *data_at(const struct litifut_apply *apply, uint32_t address, uint32_t size)
{
	const struct litifut_section *section =
		litifut_image_section_at(&apply->session.image, address, size);

	return section && !(section->flags & SHF_EXECINSTR)
		       ? litifut_apply_bytes_at(apply, address, size)
		       : NULL;
}

static enum litifut_status find_table(const struct litifut_apply *apply, const char *name,
				      uint32_t header_bytes, uint32_t record_bytes,
				      struct litifut_reserved_table *table,
				      struct litifut_error *error)
{
	table->section = litifut_image_section(&apply->session.image, name);
	if (!table->section || !table->section->bytes || table->section->size < header_bytes ||
	    table->section->flags & SHF_EXECINSTR)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, apply->session.image.path,
					 name, LITIFUT_NO_ADDRESS,
					 "no room was reserved at link time");
	table->capacity = (table->section->size - header_bytes) / record_bytes;
	return LITIFUT_OK;
}

enum litifut_status litifut_pass_find_module(struct litifut_apply *apply,
					     struct litifut_error *error)
{
	const struct litifut_image *image = &apply->session.image;
	const struct litifut_symbol *symbol = litifut_image_symbol(image, "litifut_module");
	/* by which all that reads the module finds it */
	const struct litifut_section *section =
		litifut_image_section(image, LITIFUT_SECTION_MODULE);

	if (symbol && section && symbol->address - section->address < section->size) {
		apply->module_address = symbol->address;
		apply->module = data_at(apply, symbol->address, sizeof(struct litifut_module));
	}
	if (!apply->module)
		return litifut_error_set(
			error, LITIFUT_ERROR_MISSING, image->path, LITIFUT_SECTION_MODULE,
			LITIFUT_NO_ADDRESS,
			"the tracer is not linked in (no litifut_module in this section)");
	const struct elf_contents contents = {
		image->path, apply->module, sizeof(struct litifut_module), image->file.big_endian};

	if (elf_read_module(&contents, &apply->record, NULL) ||
	    apply->record.version != LITIFUT_MODULE_VERSION_WORD)
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path,
					 LITIFUT_SECTION_MODULE, symbol->address,
					 "the tracer is of another version than this rewriter");
	if (apply->record.flags & LITIFUT_MODULE_ACTIVE)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path,
					 LITIFUT_SECTION_MODULE, symbol->address,
					 "is rewritten already");
	return LITIFUT_OK;
}

/* Addresses in a trace are distinguished from its other words by their size. */
enum litifut_status litifut_pass_refuse_low_code(struct litifut_apply *apply,
						 struct litifut_error *error)
{
	const struct litifut_image *image = &apply->session.image;

	for (size_t i = 1; i < image->section_count && image->file.type == ET_EXEC; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (section->flags & SHF_EXECINSTR && section->flags & SHF_ALLOC && section->size &&
		    section->address < LITIFUT_WORD_FIRST_ADDRESS)
			return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, NULL,
						 section->name, section->address,
						 "code below 0x%x can't be traced",
						 LITIFUT_WORD_FIRST_ADDRESS);
	}
	return LITIFUT_OK;
}

/* A static program with thunks begins in the tracer's code. */
enum litifut_status litifut_pass_find_entry(struct litifut_apply *apply,
					    struct litifut_error *error)
{
	const struct litifut_image *image = &apply->session.image;
	const struct litifut_symbol *symbol = litifut_image_symbol(image, "litifut_entry");

	if ((!apply->session.context.thunks && !apply->session.context.bits &&
	     !apply->session.context.counts) ||
	    !litifut_libc_is_static_glibc(image))
		return LITIFUT_OK;
	if (!symbol)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, image->path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "the tracer is not linked in (no litifut_entry)");
	apply->entry = symbol->address | symbol->thumb;
	return LITIFUT_OK;
}

enum litifut_status litifut_apply_no_room(const struct litifut_apply *apply,
					  struct litifut_error *error)
{
	return litifut_error_set(error, LITIFUT_ERROR_SPACE, apply->session.image.path, ".text",
				 LITIFUT_NO_ADDRESS, "room for trampolines is not enough");
}

/* Each site has one entry in the DB at the most. */
static enum litifut_status measure_tables(struct litifut_apply *apply, struct litifut_error *error)
{
	const size_t count = apply->session.sites.count + 1;

	apply->measured_db.bytes = calloc(1, sizeof(struct litifut_db_header) +
						     count * sizeof(struct litifut_db_entry));
	if (!apply->measured_db.bytes)
		return litifut_error_memory(error, apply->session.image.path);
	apply->db = (struct litifut_reserved_table){&apply->measured_db, count};
	return LITIFUT_OK;
}

enum litifut_status litifut_pass_find_tables(struct litifut_apply *apply,
					     struct litifut_error *error)
{
	if (apply->measures)
		return measure_tables(apply, error);

	enum litifut_status status =
		find_table(apply, LITIFUT_SECTION_DB, sizeof(struct litifut_db_header),
			   sizeof(struct litifut_db_entry), &apply->db, error);

	if (!status && apply->session.context.counts)
		status = litifut_counts_check(&apply->session, error);
	if (!status && apply->session.edges &&
	    !litifut_image_section(&apply->session.image, LITIFUT_SECTION_BLOCKS))
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, apply->session.image.path,
					 LITIFUT_SECTION_BLOCKS, LITIFUT_NO_ADDRESS,
					 "no room for the list of blocks was reserved");
	return status ? status
		      : find_table(apply, LITIFUT_SECTION_SITES,
				   sizeof(struct litifut_sites_header), sizeof(struct litifut_site),
				   &apply->sites, error);
}

/* Lets changes write to the rooms for trampolines and to the islands. */
static enum litifut_status open_places(struct litifut_apply *apply, struct litifut_error *error)
{
	struct litifut_image *image = &apply->session.image;
	const struct litifut_landings *landings = &apply->session.landings;
	const struct litifut_symbol *own = apply->session.room;
	enum litifut_status status = LITIFUT_OK;

	if (own && own->size && litifut_image_section_at(image, own->address, own->size))
		status = litifut_changes_add_place(&apply->changes, image, own->address, own->size,
						   error);
	for (size_t i = 0; i < landings->count && !status; i++) {
		const struct litifut_symbol *island = landings->items[i].island;

		if (island)
			status = litifut_changes_add_place(&apply->changes, image, island->address,
							   island->size, error);
	}
	return status;
}

static void describe_gates(struct litifut_apply *apply)
{
	const struct litifut_arch_detour *detour = apply->session.arch->detour;

	for (size_t i = 0; detour && i < apply->rooms.count; i++)
		litifut_frames_add_rules(&apply->frames, apply->rooms.items[i].address,
					 (uint32_t)detour->gate_bytes, detour->gate_rules,
					 /* one for numbered edges is another */
					 apply->session.context.grain ? 0
								      : sizeof(detour->gate_rules));
}

static void find_frames(struct litifut_apply *apply)
{
	const struct litifut_arch *arch = apply->session.arch;

	litifut_frames_find(&apply->frames, &apply->session.image,
			    arch->frames ? &arch->frames->frame_registers : NULL);
	/* The code of branches is left out. */
	apply->frames.keeps =
		LITIFUT_ARCH_GET(arch, frames, frame_relocation) && !apply->session.edges;
	litifut_frames_add_named(&apply->frames, &apply->session.image,
				 LITIFUT_ARCH_GET(arch, frames, named_frames));
	apply->rooms.frames = &apply->frames;
}

enum litifut_status litifut_pass_open_rooms(struct litifut_apply *apply,
					    struct litifut_error *error)
{
	const struct litifut_site_list *sites = &apply->session.sites;
	size_t changes = apply->session.landings.count + 1; /* islands, and the tracer's room */
	enum litifut_status status;

	for (size_t i = 0; i < sites->count; i++)
		changes += sites->items[i].stone_bytes ? 3 : 1;
	if (!litifut_changes_reserve(&apply->changes, changes))
		return litifut_error_memory(error, apply->session.image.path);
	status = apply->measures ? LITIFUT_OK : open_places(apply, error);
	if (!status)
		status = litifut_rooms_find(&apply->session, apply->measures, &apply->rooms, error);
	if (apply->measures)
		return status;
	find_frames(apply);
	if (!status)
		describe_gates(apply);
	return status;
}
