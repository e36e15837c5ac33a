/* Opening an ELF file: header, segments, build-id, and reading its contents by
 * link-time address. image_load.c reads symbols and sites. */
#include "postproc/sources/image.h"

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/functions.h"
#include "elf/sections.h"
#include "postproc/sources/image_private.h"
#include "postproc/table.h"

uint32_t post_image_number(const struct post_image *image, const uint8_t *bytes)
{
	return image->big_endian ? (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
					   (uint32_t)bytes[2] << 8 | bytes[3]
				 : (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 |
					   (uint32_t)bytes[1] << 8 | bytes[0];
}

Elf_Data *post_image_section(const struct post_image *image, const char *name, GElf_Shdr *header)
{
	size_t names;
	Elf_Scn *section = NULL;

	if (elf_getshdrstrndx(image->elf, &names))
		return NULL;
	while ((section = elf_nextscn(image->elf, section))) {
		if (!gelf_getshdr(section, header))
			continue;
		const char *own = elf_strptr(image->elf, names, header->sh_name);
		if (own && !strcmp(own, name) && header->sh_type != SHT_NOBITS)
			return elf_getdata(section, NULL);
	}
	return NULL;
}

static void read_segments(struct post_image *image)
{
	size_t count = 0;

	if (elf_getphdrnum(image->elf, &count) || count > 4096)
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;
		if (!gelf_getphdr(image->elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		if (header.p_offset > image->size)
			continue;
		if (header.p_filesz > image->size - header.p_offset)
			header.p_filesz = image->size - header.p_offset;
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
	const void *note;
	GElf_Shdr header;
	Elf_Data *data = post_image_section(image, LITIFUT_SECTION_MODULE, &header);

	if (data && data->d_buf) {
		const struct elf_contents contents = {image->path, data->d_buf, data->d_size,
						      image->big_endian};
		struct litifut_module module;

		if (!elf_read_module(&contents, &module, NULL) &&
		    module.flags & LITIFUT_MODULE_ACTIVE) {
			image->rewritten = true;
			image->engine = module.engine;
			image->build_id_bytes = module.build_id_bytes < POST_BUILD_ID_BYTES
							? module.build_id_bytes
							: POST_BUILD_ID_BYTES;
			memcpy(image->build_id, module.build_id, image->build_id_bytes);
		}
	}
	if (!image->build_id_bytes) {
		ssize_t length = dwelf_elf_gnu_build_id(image->elf, &note);
		if (length > POST_BUILD_ID_BYTES)
			length = POST_BUILD_ID_BYTES;
		if (length > 0) {
			image->build_id_bytes = (unsigned)length;
			memcpy(image->build_id, note, (size_t)length);
		}
	}

	data = post_image_section(image, ".dynamic", &header);
	GElf_Dyn entry;
	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *name;
		if (entry.d_tag != DT_SONAME)
			continue;
		name = elf_strptr(image->elf, header.sh_link, entry.d_un.d_val);
		if (name && strlen(name) < sizeof(image->soname))
			strcpy(image->soname, name);
	}
}

/* In a file of debug information alone the code sections have no contents. */
static bool has_code(const struct post_image *image)
{
	Elf_Scn *section = NULL;
	bool sections = false;

	while ((section = elf_nextscn(image->elf, section))) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			continue;
		sections = true;
		if (header.sh_flags & SHF_EXECINSTR && header.sh_type == SHT_PROGBITS)
			return true;
	}
	return !sections;
}

static enum litifut_status identify(struct post_image *image, struct litifut_error *error)
{
	GElf_Ehdr header;

	elf_version(EV_CURRENT);
	if (image->size < 52 || memcmp(image->data, ELFMAG, SELFMAG))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "not an ELF file");
	errno = 0;
	image->elf = elf_memory((char *)image->data, image->size);
	if (!image->elf && errno == ENOMEM)
		return litifut_error_memory(error, image->path);
	if (!image->elf || elf_kind(image->elf) != ELF_K_ELF || !gelf_getehdr(image->elf, &header))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "damaged ELF header");
	if (header.e_ident[EI_CLASS] != ELFCLASS32)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "not a 32-bit ELF file");
	image->elf_flags = header.e_flags;
	image->cpu = cpu_find(header.e_machine);
	if (!image->cpu)
		return litifut_error_set(
			error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL, LITIFUT_NO_ADDRESS,
			"made for machine %u, a CPU that cannot be traced", header.e_machine);
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL,
					 LITIFUT_NO_ADDRESS,
					 "neither an executable nor a shared library");
	image->big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
	image->big_endian_code =
		image->big_endian && !(image->cpu->linkage.byte_invariant_flag &&
				       header.e_flags & image->cpu->linkage.byte_invariant_flag);
	read_segments(image);
	read_identity(image);
	image->debug_only = !has_code(image);
	return LITIFUT_OK;
}

enum litifut_status post_image_open_memory(const uint8_t *data, size_t size, const char *name,
					   struct post_image **image, struct litifut_error *error)
{
	struct post_image *opened = post_allocate(1, sizeof(*opened));

	opened->path = post_copy_text(name);
	opened->data = post_reallocate(NULL, size, 1);
	memcpy(opened->data, data, size);
	opened->size = size;
	enum litifut_status status = identify(opened, error);
	if (status != LITIFUT_OK) {
		post_image_close(opened);
		return status;
	}
	*image = opened;
	return LITIFUT_OK;
}

enum litifut_status post_image_open(const char *path, struct post_image **image,
				    struct litifut_error *error)
{
	struct stat about;
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (file < 0 || fstat(file, &about)) {
		int cause = errno;
		if (file >= 0)
			close(file);
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "%s", strerror(cause));
	}
	if (!S_ISREG(about.st_mode) || about.st_size < 52) {
		close(file);
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, path, NULL,
					 LITIFUT_NO_ADDRESS, "not an ELF file");
	}
	/* Private and writable: libelf is free to convert in place. */
	void *data =
		mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	int cause = errno;
	close(file);
	if (data == MAP_FAILED)
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "%s", strerror(cause));

	struct post_image *opened = post_allocate(1, sizeof(*opened));
	opened->path = post_copy_text(path);
	opened->data = data;
	opened->size = (size_t)about.st_size;
	opened->mapped = true;
	enum litifut_status status = identify(opened, error);
	if (status != LITIFUT_OK) {
		post_image_close(opened);
		return status;
	}
	*image = opened;
	return LITIFUT_OK;
}

bool post_image_bytes(const struct post_image *image, uint32_t address, void *bytes, size_t size)
{
	for (size_t i = 0; i < image->segment_count && !image->debug_only; i++) {
		const struct post_segment *segment = &image->segments[i];
		uint32_t inside = address - segment->address;
		if (address < segment->address || inside >= segment->file_bytes ||
		    size > segment->file_bytes - inside)
			continue;
		memcpy(bytes, image->data + segment->offset + inside, size);
		return true;
	}
	return false;
}

static bool code_literal(const void *context, uint32_t address, uint32_t *value)
{
	const struct post_image *image = context;
	uint8_t bytes[4];

	if (!post_image_bytes(image, address, bytes, sizeof(bytes)))
		return false;
	*value = post_image_number(image, bytes);
	return true;
}

static bool code_word(const void *context, uint32_t address, uint32_t *value)
{
	const struct post_image *image = context;
	uint8_t b[4];

	if (!post_image_bytes(image, address, b, sizeof(b)))
		return false;
	*value = image->big_endian_code
			 ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3]
			 : (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
	return true;
}

static bool code_halfword(const void *context, uint32_t address, uint16_t *value)
{
	const struct post_image *image = context;
	uint8_t b[2];

	if (!post_image_bytes(image, address, b, sizeof(b)))
		return false;
	*value = (uint16_t)(image->big_endian_code ? b[0] << 8 | b[1] : b[1] << 8 | b[0]);
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
		bool is_tail = image->sites[low].kind == LITIFUT_SITE_TAIL_DIRECT ||
			       image->sites[low].kind == LITIFUT_SITE_TAIL_INDIRECT;
		if (is_tail == tail)
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
	if (image->elf)
		elf_end(image->elf);
	for (size_t i = 0; i < sizeof(image->further) / sizeof(*image->further); i++)
		post_image_close(image->further[i]);
	if (image->mapped)
		munmap(image->data, image->size);
	else
		free(image->data);
	free(image->path);
	free(image);
}
