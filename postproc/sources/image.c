/* Opening an ELF file: segments, build-id, and reading its contents by link-time
 * address. image_load.c reads symbols and sites. */
#include "postproc/sources/image.h"

#include <elfutils/libdw.h>
#include <gelf.h>
#include <litifut/trace_format.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "dwarf/functions.h"
#include "elf/sections.h"
#include "postproc/table.h"

static void read_segments(struct post_image *image)
{
	size_t count = 0;

	if (elf_getphdrnum(image->file.elf, &count) || count > 4096)
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(image->file.elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		if (header.p_offset > image->file.size)
			continue;
		if (header.p_filesz > image->file.size - header.p_offset)
			header.p_filesz = image->file.size - header.p_offset;
		image->segments = post_reallocate(image->segments, image->segment_count + 1,
						  sizeof(*image->segments));
		image->segments[image->segment_count++] = (struct post_segment){
			.address = (uint32_t)header.p_vaddr,
			.offset = (uint32_t)header.p_offset,
			.file_bytes = (uint32_t)header.p_filesz,
			.memory_bytes = (uint32_t)header.p_memsz,
			.executable = header.p_flags & PF_X,
		};
	}
}

/* The tracer's own idea of the build-id comes first: it is what the trace
 * carries, also for a module that was linked without a build-id note. */
static void read_identity(struct post_image *image)
{
	GElf_Shdr header;
	Elf_Data *data = elf_file_section(&image->file, LITIFUT_SECTION_MODULE, &header);

	if (data && data->d_buf) {
		const struct elf_contents contents = {image->path, data->d_buf, data->d_size,
						      image->file.big_endian};
		struct litifut_module module;

		if (!elf_read_module(&contents, &module, NULL) &&
		    module.flags & LITIFUT_MODULE_ACTIVE) {
			image->rewritten = true;
			image->engine = module.engine;
			image->mode = LITIFUT_MODULE_HAS(&module, mode) ? module.mode
									: LITIFUT_MODE_CALLS;
			image->build_id_bytes = module.build_id_bytes < POST_BUILD_ID_BYTES
							? module.build_id_bytes
							: POST_BUILD_ID_BYTES;
			memcpy(image->build_id, module.build_id, image->build_id_bytes);
		}
	}
	if (!image->build_id_bytes) {
		size_t bytes;
		const uint8_t *id = elf_file_build_id(&image->file, &bytes);

		if (id) {
			image->build_id_bytes =
				bytes < POST_BUILD_ID_BYTES ? (unsigned)bytes : POST_BUILD_ID_BYTES;
			memcpy(image->build_id, id, image->build_id_bytes);
		}
	}
	image->soname = elf_file_soname(&image->file);
}

/* In a file of debug information alone the code sections have no contents. */
static bool has_code(const struct post_image *image)
{
	Elf_Scn *section = NULL;
	bool sections = false;

	while ((section = elf_nextscn(image->file.elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			continue;
		sections = true;
		if (header.sh_flags & SHF_EXECINSTR && header.sh_type == SHT_PROGBITS)
			return true;
	}
	return !sections;
}

/* `image->file` is open. */
static enum litifut_status identify(struct post_image *image, struct litifut_error *error)
{
	image->cpu = cpu_find(image->file.machine);
	if (!image->cpu)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL, LITIFUT_NO_ADDRESS,
			"made for machine %u, a CPU that cannot be traced", image->file.machine);
	image->big_endian_code = image->file.big_endian &&
				 !(image->cpu->linkage.byte_invariant_flag &&
				   image->file.flags & image->cpu->linkage.byte_invariant_flag);
	read_segments(image);
	read_identity(image);
	image->debug_only = !has_code(image);
	return LITIFUT_OK;
}

static enum litifut_status finish(struct post_image *opened, enum litifut_status status,
				  struct post_image **image, struct litifut_error *error)
{
	if (!status)
		status = identify(opened, error);
	if (status)
		post_image_close(opened);
	else
		*image = opened;
	return status;
}

enum litifut_status post_image_open_memory(const uint8_t *data, size_t size, const char *name,
					   struct post_image **image, struct litifut_error *error)
{
	struct post_image *opened = post_allocate(1, sizeof(*opened));

	opened->path = post_copy_text(name);
	opened->copy = post_reallocate(NULL, size, 1);
	memcpy(opened->copy, data, size);
	return finish(opened, elf_file_open_memory(&opened->file, opened->copy, size, name, error),
		      image, error);
}

enum litifut_status post_image_open(const char *path, struct post_image **image,
				    struct litifut_error *error)
{
	struct post_image *opened = post_allocate(1, sizeof(*opened));

	opened->path = post_copy_text(path);
	return finish(opened, elf_file_open(&opened->file, path, error), image, error);
}

bool post_image_bytes(const struct post_image *image, uint32_t address, void *bytes, size_t size)
{
	for (size_t i = 0; i < image->segment_count && !image->debug_only; i++) {
		const struct post_segment *segment = &image->segments[i];
		uint32_t inside = address - segment->address;
		if (address < segment->address || inside >= segment->file_bytes ||
		    size > segment->file_bytes - inside)
			continue;
		memcpy(bytes, image->file.bytes + segment->offset + inside, size);
		return true;
	}
	return false;
}

const char *post_image_dynamic_name(const struct post_image *image, uint32_t number)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(image->file.elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNSYM &&
		    number <= INT32_MAX &&
		    gelf_getsym(elf_getdata(section, NULL), (int)number, &symbol))
			return elf_strptr(image->file.elf, header.sh_link, symbol.st_name);
	return NULL;
}

static bool code_literal(const void *context, uint32_t address, uint32_t *value)
{
	const struct post_image *image = context;
	uint8_t bytes[4];

	if (!post_image_bytes(image, address, bytes, sizeof(bytes)))
		return false;
	*value = litifut_get32(image->file.big_endian, bytes);
	return true;
}

static bool code_word(const void *context, uint32_t address, uint32_t *value)
{
	const struct post_image *image = context;
	uint8_t b[4];

	if (!post_image_bytes(image, address, b, sizeof(b)))
		return false;
	*value = litifut_get32(image->big_endian_code, b);
	return true;
}

static bool code_halfword(const void *context, uint32_t address, uint16_t *value)
{
	const struct post_image *image = context;
	uint8_t b[2];

	if (!post_image_bytes(image, address, b, sizeof(b)))
		return false;
	*value = litifut_get16(image->big_endian_code, b);
	return true;
}

struct litifut_code_reader post_image_code(const struct post_image *image)
{
	return (struct litifut_code_reader){code_literal, code_word, code_halfword, image};
}

const struct litifut_site *post_image_site(const struct post_image *image, uint32_t return_address,
					   bool tail)
{
	size_t low = 0, high = image->site_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (image->sites[middle].return_address < return_address)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < image->site_count && image->sites[low].return_address == return_address;
	     low++) {
		if (litifut_site_is_tail(&image->sites[low]) == tail)
			return &image->sites[low];
	}
	return NULL;
}

uint32_t post_image_block(const struct post_image *image, uint32_t address)
{
	size_t low = 0, high = image->block_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (image->blocks[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low && address < image->blocks[low - 1].end ? (uint32_t)low - 1 : POST_NONE;
}

uint32_t post_image_block_start(const struct post_image *image, uint32_t address)
{
	const uint32_t number = post_image_block(image, address);

	return number != POST_NONE && image->blocks[number].start == address ? number : POST_NONE;
}

void post_image_close(struct post_image *image)
{
	if (!image)
		return;
	for (size_t i = 0; i < image->text_count; i++)
		free(image->texts[i]);
	free(image->texts);
	post_table_release(&image->source_names);
	post_symbols_release(&image->symbols);
	free(image->sites);
	free(image->blocks);
	free(image->originals);
	free(image->exits);
	free(image->patched);
	free(image->segments);
	dwarf_functions_release(image->functions);
	if (image->dwarf)
		dwarf_end(image->dwarf);
	elf_file_close(&image->file);
	free(image->copy);
	for (size_t i = 0; i < sizeof(image->further) / sizeof(*image->further); i++)
		post_image_close(image->further[i]);
	free(image->path);
	free(image);
}

bool post_build_id_is(const uint8_t *a, unsigned a_bytes, const uint8_t *b, unsigned b_bytes)
{
	return a_bytes && a_bytes == b_bytes && !memcmp(a, b, a_bytes);
}
