/* Reading back what a rewritten file says of itself. */
#include "rewriter/exits.h"
#include "rewriter/rewriter.h"

#include <elf.h>
#include <litifut/frames_format.h>
#include <litifut/module_format.h>
#include <litifut/trace_format.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/hex.h"
#include "elf/sections.h"
#include "rewriter/arch.h"
#include "rewriter/image.h"

struct reader {
	struct litifut_image *image;
	struct litifut_module_info *info;
	struct litifut_module module;
	struct litifut_error *error;
};

static struct elf_contents contents_of(const struct litifut_image *image,
				       const struct litifut_section *section)
{
	return (struct elf_contents){image->path, section->bytes, section->size,
				     image->file.big_endian};
}

static void read_module(struct reader *reader)
{
	const struct litifut_module *module = &reader->module;
	struct litifut_module_info *info = reader->info;

	info->version = LITIFUT_MODULE_VERSION_OF(module->version);
	info->flags = module->flags;
	info->engine = module->engine;
	info->mode = module->mode;
	info->clock = module->clock;
	memcpy(info->name, module->name, sizeof(info->name) - 1);
	litifut_hex(module->build_id,
		    module->build_id_bytes < sizeof(module->build_id) ? module->build_id_bytes
								      : sizeof(module->build_id),
		    info->build_id);
	info->rewritten = info->flags & LITIFUT_MODULE_ACTIVE;
}

/* What the results of a firmware carry along. */
static void read_identity(struct reader *reader)
{
	const struct litifut_symbol *symbol =
		litifut_image_symbol(reader->image, "litifut_identity");
	const struct litifut_section *section =
		symbol ? litifut_image_section_at(reader->image, symbol->address,
						  sizeof(struct litifut_identity))
		       : NULL;

	if (section)
		litifut_hex(section->bytes + (symbol->address - section->address) +
				    offsetof(struct litifut_identity, hash),
			    8, reader->info->identity);
}

/* The value of an absolute symbol, which is not among those of the image; 0: there is none. */
static uint32_t number_of(const struct reader *reader, const char *name)
{
	const struct litifut_image *image = reader->image;
	const bool big = image->file.big_endian;
	const struct litifut_section *table = NULL;

	for (size_t i = 1; i < image->section_count && !table; i++)
		if (image->sections[i].type == SHT_SYMTAB)
			table = &image->sections[i];
	/* litifut_image_read_symbols() has checked the names */
	const struct litifut_section *names = table ? &image->sections[table->link] : NULL;

	for (uint32_t at = 0; table && at + sizeof(Elf32_Sym) <= table->size;
	     at += sizeof(Elf32_Sym)) {
		const uint8_t *entry = table->bytes + at;
		const uint32_t offset = litifut_get32(big, entry);

		if (litifut_get16(big, entry + offsetof(Elf32_Sym, st_shndx)) == SHN_ABS &&
		    offset < names->size && !strcmp((const char *)names->bytes + offset, name))
			return litifut_get32(big, entry + offsetof(Elf32_Sym, st_value));
	}
	return 0;
}

/* How much a firmware has room for. */
static void read_room(struct reader *reader)
{
	struct litifut_module_info *info = reader->info;
	const uint32_t kept = number_of(reader, "litifut_kept_events");

	info->ring_events = kept ? kept : number_of(reader, "litifut_ring_events");
	info->ring_unfit = number_of(reader, LITIFUT_FIRMWARE_RING_UNFIT);
	info->depth = number_of(reader, LITIFUT_FIRMWARE_DEPTH);
	info->depth_unfit = number_of(reader, LITIFUT_FIRMWARE_DEPTH_UNFIT);
}

/* The list in `image`, which is the module itself or a file beside it. */
static enum litifut_status read_sites(struct reader *reader, const struct litifut_image *image)
{
	const struct litifut_section *section = litifut_image_section(image, LITIFUT_SECTION_SITES);
	struct litifut_module_info *info = reader->info;
	struct elf_records records;
	enum litifut_status status;

	if (!section || !section->bytes)
		return LITIFUT_OK; /* removed by objcopy: the summary in the module stays */
	const struct elf_contents contents = contents_of(image, section);

	status = elf_read_sites(&contents, &records, reader->error);
	if (status || !records.count)
		return status;
	const uint32_t count = records.count;

	info->sites = calloc(count, sizeof(*info->sites));
	if (!info->sites)
		return litifut_error_memory(reader->error, reader->image->path);
	info->site_count = count;
	info->summary.sites = count;
	info->summary.patched = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct litifut_site *site = &info->sites[i];

		info->sites[i] = elf_read_site(&records, i);
		if (site->reason == LITIFUT_SITE_PATCHED)
			info->summary.patched++;
		else
			info->summary.left[site->reason & 31]++;
		litifut_exits_count(&info->summary, site);
	}
	return LITIFUT_OK;
}

static enum litifut_status find_functions(struct reader *reader)
{
	struct litifut_module_info *info = reader->info;
	const struct litifut_symbol *function = NULL;

	info->functions = calloc(info->site_count + 1, sizeof(*info->functions));
	if (!info->functions)
		return litifut_error_memory(reader->error, reader->image->path);
	for (size_t i = 0; i < info->site_count; i++) {
		uint32_t address = info->sites[i].address;

		if (!function || address - function->address >= function->size)
			function = litifut_image_function_at(reader->image, address);
		info->functions[i] = function && *function->name ? function->name : NULL;
	}
	return LITIFUT_OK;
}

/* LITIFUT_DB=file. A file of another build is refused. */
static enum litifut_status read_sites_beside(struct reader *reader)
{
	struct litifut_image beside;
	struct litifut_error ignored;
	const struct litifut_module *module = &reader->module;
	char path[sizeof(beside.path)];
	enum litifut_status status = LITIFUT_OK;
	const uint8_t *id;
	size_t bytes;

	if (snprintf(path, sizeof(path), "%s" LITIFUT_SITES_SUFFIX, reader->image->path) >=
		    (int)sizeof(path) ||
	    litifut_image_open(path, &beside, &ignored))
		return LITIFUT_OK;
	id = elf_file_build_id(&beside.file, &bytes);
	if (beside.file.machine == reader->image->file.machine &&
	    beside.file.data == reader->image->file.data && id && bytes == module->build_id_bytes &&
	    bytes <= sizeof(module->build_id) && !memcmp(id, module->build_id, bytes))
		status = read_sites(reader, &beside);
	litifut_image_close(&beside);
	return status;
}

/* NULL as well where the file does not tell (any more). */
static const char *read_refusal(const struct reader *reader)
{
	const struct litifut_arch *arch = litifut_arch_find(reader->info->machine);

	if (!arch || !arch->thunks || reader->info->engine != LITIFUT_ENGINE_DB ||
	    (!reader->image->symbol_count && !reader->image->has_interpreter))
		return NULL;
	if (reader->module.mode != LITIFUT_MODE_CALLS && arch->thunks->refuses_counters) {
		const char *why = arch->thunks->refuses_counters(reader->image);

		if (why)
			return why;
	}
	return arch->thunks->refuses_thunks(reader->image);
}

static enum litifut_status read_all(struct reader *reader)
{
	enum litifut_status status;
	const struct litifut_section *section =
		litifut_image_section(reader->image, LITIFUT_SECTION_MODULE);
	const struct litifut_section *db = litifut_image_section(reader->image, LITIFUT_SECTION_DB);

	if (!section || !section->bytes)
		return LITIFUT_OK;
	const struct elf_contents contents = contents_of(reader->image, section);

	status = elf_read_module(&contents, &reader->module, reader->error);
	if (status)
		return status;
	read_module(reader);
	read_identity(reader);
	read_room(reader);
	/* The list of sites says the same again, where there is one. */
	reader->info->summary.sites = reader->module.sites_patched + reader->module.sites_left;
	reader->info->summary.patched = reader->module.sites_patched;
	reader->info->summary.db_bytes = db ? db->size : 0;
	for (size_t i = 0; i < reader->image->symbol_count; i++) {
		const struct litifut_symbol *symbol = &reader->image->symbols[i];

		if (strncmp(symbol->name, "litifut_", 8) == 0 &&
		    symbol->section < reader->image->section_count &&
		    reader->image->sections[symbol->section].flags & SHF_ALLOC &&
		    strcmp(symbol->name, "litifut_db") != 0 &&
		    strcmp(symbol->name, "litifut_module") != 0)
			reader->info->summary.tracer_bytes += symbol->size;
	}
	/* A stripped file does not tell: 0. */
	if (reader->info->summary.tracer_bytes)
		reader->info->summary.tracer_bytes += section->size;
	reader->info->summary.thunks_refused = read_refusal(reader);
	status = read_sites(reader, reader->image);
	if (!status && !reader->info->sites)
		status = read_sites_beside(reader);
	return status ? status : find_functions(reader);
}

enum litifut_status litifut_module_info_read(const char *path, struct litifut_module_info *info,
					     struct litifut_error *error)
{
	struct reader reader = {.info = info, .error = error};
	enum litifut_status status;

	memset(info, 0, sizeof(*info));
	reader.image = calloc(1, sizeof(*reader.image));
	if (!reader.image)
		return litifut_error_memory(error, path);
	info->image = reader.image;
	status = litifut_image_open(path, reader.image, error);
	if (!status) {
		info->machine = reader.image->file.machine;
		info->elf_data = reader.image->file.data;
		status = read_all(&reader);
	}
	if (status)
		litifut_module_info_release(info);
	return status;
}

void litifut_module_info_release(struct litifut_module_info *info)
{
	if (info->image)
		litifut_image_close(info->image);
	free(info->image);
	free(info->sites);
	free(info->functions);
	memset(info, 0, sizeof(*info));
}
