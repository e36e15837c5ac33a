/* What the image of a firmware says about itself, and writing it. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <litifut/frames_format.h>
#include <litifut/trace_format.h>
#include <string.h>
#include <unistd.h>

#include "elf/sections.h"
#include "rewriter/firmware.h"
#include "rewriter/firmware_pass.h"
#include "rewriter/module.h"
#include "rewriter/sites_file.h"

/* FNV-1a, 64 bits. */
static uint64_t hash_of(const struct litifut_image *image)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 1; i < image->section_count; i++) {
		const struct litifut_section *section = &image->sections[i];

		if (!(section->flags & SHF_ALLOC) || !section->bytes)
			continue;
		for (uint32_t at = 0; at < section->size; at++)
			hash = (hash ^ section->bytes[at]) * 0x100000001b3ull;
	}
	return hash;
}

static unsigned flags_of(const struct litifut_firmware_options *options)
{
	return (options->small ? LITIFUT_FRAMES_SMALL : 0) |
	       (options->kept ? LITIFUT_FRAMES_KEPT : 0) |
	       (options->stream ? LITIFUT_FRAMES_STREAM : 0) |
	       (options->spans      ? LITIFUT_FRAMES_SPANS
		: options->paths    ? LITIFUT_FRAMES_PATHS
		: options->coverage ? LITIFUT_FRAMES_COVERAGE
		: options->times    ? LITIFUT_FRAMES_TIMES
				    : 0);
}

/* A number as LEB128 with so many bytes, also where fewer would do. */
static uint8_t *put_number(uint8_t *to, uint32_t number, unsigned bytes)
{
	while (--bytes) {
		*to++ = (uint8_t)(number | 0x80);
		number >>= 7;
	}
	*to++ = (uint8_t)number;
	return to;
}

/* As LEB128, at least. */
static unsigned number_bytes(uint32_t number)
{
	unsigned bytes = 1;

	while (number >>= 7)
		bytes++;
	return bytes;
}

/* Only where frames are sent. */
static enum litifut_status set_header(struct litifut_firmware_pass *pass, const uint8_t *hash,
				      struct litifut_error *error)
{
	static const char *const parts[] = {LITIFUT_FIRMWARE_TABLE, LITIFUT_FIRMWARE_OVERFLOW,
					    LITIFUT_FIRMWARE_PROFILE};
	static const uint8_t element_bytes[] = {4, 4, 2};
	const unsigned last = sizeof(parts) / sizeof(*parts) - 1;
	const struct litifut_symbol *symbol =
		litifut_image_symbol(&pass->image, LITIFUT_FIRMWARE_HEADER);
	uint8_t bytes[LITIFUT_HEADER_BYTES];
	uint8_t *at = bytes;

	if (!symbol)
		return LITIFUT_OK;
	*at++ = LITIFUT_FRAMES_VERSION;
	*at++ = (uint8_t)flags_of(pass->options);
	memcpy(at, hash, 8);
	at += 8;
	unsigned left = LITIFUT_HEADER_SIZES_BYTES;

	for (unsigned i = 0; i <= last; i++) {
		const struct litifut_symbol *part = litifut_image_symbol(&pass->image, parts[i]);
		bool ring = !i && (pass->options->spans || pass->options->paths);

		uint32_t numbers = part && !ring ? part->size / element_bytes[i] : 0;

		if (!i)
			numbers += pass->byte_counters - pass->byte_counters / 4;
		const unsigned width = i == last ? left : number_bytes(numbers);

		if (width > left || width < number_bytes(numbers))
			return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, pass->image.path,
						 NULL, LITIFUT_NO_ADDRESS,
						 "the tables are too large to be sent");
		at = put_number(at, numbers, width);
		left -= width;
	}
	return litifut_firmware_change(pass, symbol->address, bytes, sizeof(bytes))
		       ? LITIFUT_OK
		       : litifut_firmware_missing(pass, LITIFUT_FIRMWARE_HEADER, error);
}

static enum litifut_status set_identity(struct litifut_firmware_pass *pass,
					struct litifut_error *error)
{
	const struct litifut_symbol *symbol =
		litifut_image_symbol(&pass->image, LITIFUT_FIRMWARE_IDENTITY);
	bool big = pass->image.file.big_endian;
	uint8_t bytes[sizeof(struct litifut_identity)] = {0};
	uint64_t hash = hash_of(&pass->image);

	litifut_put32(big, bytes, LITIFUT_IDENTITY_MAGIC);
	for (unsigned i = 0; i < 8; i++)
		bytes[offsetof(struct litifut_identity, hash) + i] = (uint8_t)(hash >> 8 * i);
	litifut_put16(big, bytes + offsetof(struct litifut_identity, version),
		      LITIFUT_FRAMES_VERSION);
	litifut_put16(big, bytes + offsetof(struct litifut_identity, flags),
		      (uint16_t)flags_of(pass->options));
	return symbol && litifut_firmware_change(pass, symbol->address, bytes, sizeof(bytes))
		       ? set_header(pass, bytes + offsetof(struct litifut_identity, hash), error)
		       : litifut_firmware_missing(pass, LITIFUT_FIRMWARE_IDENTITY, error);
}

static const struct litifut_section *own_section(struct litifut_firmware_pass *pass,
						 const char *name)
{
	const struct litifut_section *section = litifut_image_section(&pass->image, name);

	if (section && section->bytes)
		pass->changed[section - pass->image.sections] = true;
	return section && section->bytes ? section : NULL;
}

static enum litifut_status fill_module(struct litifut_firmware_pass *pass, size_t patched,
				       struct litifut_error *error)
{
	static const struct litifut_spawners no_spawners;
	const struct litifut_section *module = own_section(pass, LITIFUT_SECTION_MODULE);
	const struct litifut_section *sites = own_section(pass, LITIFUT_SECTION_SITES);
	const struct litifut_module_facts facts = {
		.engine = pass->options->small   ? LITIFUT_ENGINE_SITE_SMALL
			  : pass->options->bytes ? LITIFUT_ENGINE_SITE_BYTE
						 : LITIFUT_ENGINE_SITE_FAST,
		.mode = pass->options->stream     ? LITIFUT_MODE_STREAM
			: pass->options->spans    ? LITIFUT_MODE_SPANS
			: pass->options->units    ? LITIFUT_MODE_UNITS
			: pass->options->numbers  ? LITIFUT_MODE_BALLLARUS
			: pass->options->paths    ? LITIFUT_MODE_PATHS
			: pass->options->coverage ? LITIFUT_MODE_COVERAGE
			: pass->options->times    ? LITIFUT_MODE_TABLE
						  : LITIFUT_MODE_COUNTS,
		.sites = (uint32_t)pass->sites.count,
		.patched = (uint32_t)patched,
		.spawners = &no_spawners,
	};
	enum litifut_status status;

	if (!module || module->size < sizeof(struct litifut_module))
		return litifut_firmware_missing(pass, "litifut_module", error);
	if (!sites || sites->size < sizeof(struct litifut_sites_header))
		return litifut_firmware_missing(pass, "litifut_sites", error);
	elf_write_sites_header(pass->image.file.big_endian, sites->bytes, 0);
	pass->module = (struct litifut_module){
		.magic = LITIFUT_MODULE_MAGIC,
		.version = LITIFUT_MODULE_VERSION_WORD,
		.family = LITIFUT_FAMILY_NONE,
	};
	status = litifut_module_fill(&pass->image, &pass->options->common, &facts, &pass->module,
				     error);
	elf_write_module(pass->image.file.big_endian, module->bytes, &pass->module);
	return status;
}

static enum litifut_status write_image(const struct litifut_firmware_pass *pass,
				       struct litifut_error *error)
{
	const struct litifut_site_table table = {
		.list = &pass->sites,
		.build_id = pass->module.build_id,
		.build_id_bytes = pass->module.build_id_bytes,
	};
	const char *sites_file = pass->options->common.sites_file;
	int descriptor = open(pass->image.path, O_WRONLY | O_CLOEXEC);
	enum litifut_status status = LITIFUT_OK;

	if (descriptor < 0)
		return litifut_error_set(error, LITIFUT_ERROR_IO, pass->image.path, NULL,
					 LITIFUT_NO_ADDRESS, "cannot open for writing: %s",
					 strerror(errno));
	for (size_t i = 1; i < pass->image.section_count && !status; i++)
		if (pass->changed[i])
			status = litifut_image_save_section(&pass->image, &pass->image.sections[i],
							    descriptor, error);
	if (!status && pass->blocks)
		status = litifut_blocks_append(&pass->image, descriptor, pass->blocks,
					       pass->blocks_bytes, error);
	if (!status)
		status = sites_file
				 ? litifut_sites_write_file(&pass->image, sites_file, &table, error)
				 : litifut_sites_append(&pass->image, descriptor, &table,
							(uint32_t)pass->blocks_bytes, error);
	if (close(descriptor) && !status)
		status = litifut_error_set(error, LITIFUT_ERROR_IO, pass->image.path, NULL,
					   LITIFUT_NO_ADDRESS, "cannot write: %s", strerror(errno));
	return status;
}

enum litifut_status litifut_firmware_save(struct litifut_firmware_pass *pass, size_t patched,
					  struct litifut_error *error)
{
	enum litifut_status status = fill_module(pass, patched, error);

	if (!status)
		status = set_identity(pass, error);
	return status ? status : write_image(pass, error);
}
