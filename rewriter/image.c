/* The rewriter's view of an ELF file: everything that it will rely on is checked here, once, so
 * that later code may trust it. */
#include "rewriter/image.h"

#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/memory.h"

static enum litifut_status read_segments(struct litifut_image *image, struct litifut_error *error)
{
	size_t count = 0;

	if (elf_getphdrnum(image->file.elf, &count))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "damaged program headers: %s",
					 elf_errmsg(-1));
	image->text_start = UINT32_MAX;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(image->file.elf, (int)i, &segment))
			return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path, NULL,
						 LITIFUT_NO_ADDRESS, "damaged program header %zu",
						 i);
		image->has_interpreter |= segment.p_type == PT_INTERP;
		image->has_dynamic |= segment.p_type == PT_DYNAMIC;
		if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
			continue;
		if (segment.p_vaddr + segment.p_memsz > UINT32_MAX)
			return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path, NULL,
						 segment.p_vaddr, "segment wraps around");
		if (segment.p_vaddr < image->text_start)
			image->text_start = (uint32_t)segment.p_vaddr;
		if (segment.p_vaddr + segment.p_memsz > image->text_end)
			image->text_end = (uint32_t)(segment.p_vaddr + segment.p_memsz);
	}
	return LITIFUT_OK;
}

/* Is one of the ELF file's own headers among these bytes of it? What is written there would destroy
 * it. */
static bool is_over_headers(const struct litifut_image *image, const GElf_Shdr *section)
{
	GElf_Ehdr header;

	if (!section->sh_size || !gelf_getehdr(image->file.elf, &header))
		return false;
	return section->sh_offset < sizeof(Elf32_Ehdr) ||
	       (section->sh_offset < header.e_shoff + image->section_count * sizeof(Elf32_Shdr) &&
		header.e_shoff < section->sh_offset + section->sh_size);
}

static int by_place(const void *left, const void *right)
{
	const struct litifut_section *a = *(const struct litifut_section *const *)left;
	const struct litifut_section *b = *(const struct litifut_section *const *)right;

	return a->bytes < b->bytes ? -1 : a->bytes > b->bytes;
}

/* What is written to one section must not change another one: no linker makes such images. */
static enum litifut_status check_places(const struct litifut_image *image,
					struct litifut_error *error)
{
	const struct litifut_section **sorted = calloc(image->section_count, sizeof(*sorted));
	enum litifut_status status = LITIFUT_OK;
	size_t count = 0;

	if (!sorted)
		return litifut_error_memory(error, image->path);
	for (size_t i = 0; i < image->section_count; i++)
		if (image->sections[i].bytes && image->sections[i].size)
			sorted[count++] = &image->sections[i];
	qsort(sorted, count, sizeof(*sorted), by_place);
	for (size_t i = 1; i < count && !status; i++)
		if (sorted[i - 1]->bytes + sorted[i - 1]->size > sorted[i]->bytes)
			status = litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path,
						   sorted[i]->name, sorted[i]->address,
						   "section shares bytes of the file with %s",
						   sorted[i - 1]->name);
	free(sorted);
	return status;
}

static enum litifut_status read_sections(struct litifut_image *image, struct litifut_error *error)
{
	GElf_Ehdr file;
	size_t names;

	if (!gelf_getehdr(image->file.elf, &file) ||
	    (file.e_shnum && file.e_shentsize != sizeof(Elf32_Shdr)))
		return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "section headers of another size");
	if (elf_getshdrnum(image->file.elf, &image->section_count) ||
	    elf_getshdrstrndx(image->file.elf, &names) || !image->section_count)
		return litifut_error_set(error, LITIFUT_ERROR_MISSING, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "no section headers");
	if (image->section_count > UINT16_MAX)
		return litifut_error_set(error, LITIFUT_ERROR_UNSUPPORTED, image->path, NULL,
					 LITIFUT_NO_ADDRESS, "more than %u sections", UINT16_MAX);
	image->sections = calloc(image->section_count, sizeof(*image->sections));
	if (!image->sections)
		return litifut_error_memory(error, image->path);
	for (size_t i = 0; i < image->section_count; i++) {
		struct litifut_section *section = &image->sections[i];
		Elf_Scn *handle = elf_getscn(image->file.elf, i);
		GElf_Shdr header;

		if (!handle || !gelf_getshdr(handle, &header))
			return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path, NULL,
						 LITIFUT_NO_ADDRESS, "damaged section header %zu",
						 i);
		section->name = elf_strptr(image->file.elf, names, header.sh_name);
		if (!section->name)
			section->name = "";
		section->address = (uint32_t)header.sh_addr;
		section->size = (uint32_t)header.sh_size;
		section->type = header.sh_type;
		section->flags = (uint32_t)header.sh_flags;
		section->link = header.sh_link;
		section->info = header.sh_info;
		if (header.sh_type == SHT_NOBITS || header.sh_type == SHT_NULL)
			continue;
		if (header.sh_offset > image->file.size ||
		    header.sh_size > image->file.size - header.sh_offset)
			return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path,
						 section->name, LITIFUT_NO_ADDRESS,
						 "section reaches beyond the end of the file");
		if (is_over_headers(image, &header))
			return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path,
						 section->name, LITIFUT_NO_ADDRESS,
						 "section has the headers of the file in it");
		if (header.sh_addr + header.sh_size > UINT32_MAX)
			return litifut_error_set(error, LITIFUT_ERROR_FORMAT, image->path,
						 section->name, header.sh_addr,
						 "section wraps around");
		section->bytes = image->file.bytes + header.sh_offset;
	}
	return check_places(image, error);
}

static bool holds_bytes(const struct litifut_section *section)
{
	return section->bytes && section->flags & SHF_ALLOC &&
	       !(section->flags & SHF_TLS && section->type == SHT_NOBITS);
}

static int by_address(const void *left, const void *right, void *sections)
{
	const struct litifut_section *a =
		(struct litifut_section *)sections + *(const uint16_t *)left;
	const struct litifut_section *b =
		(struct litifut_section *)sections + *(const uint16_t *)right;

	return a->address < b->address ? -1 : a->address > b->address;
}

/* Without the list all sections are looked at each time. */
static void list_spans(struct litifut_image *image)
{
	uint64_t end = 0;

	image->spans = calloc(image->section_count, sizeof(*image->spans));
	for (size_t i = 1; image->spans && i < image->section_count; i++)
		if (holds_bytes(&image->sections[i]) && image->sections[i].size)
			image->spans[image->span_count++] = (uint16_t)i;
	if (image->spans)
		qsort_r(image->spans, image->span_count, sizeof(*image->spans), by_address,
			image->sections);
	for (size_t i = 0; i < image->span_count; i++) {
		const struct litifut_section *section = &image->sections[image->spans[i]];

		if (section->address < end)
			image->span_count = 0;
		end = (uint64_t)section->address + section->size;
		if (!image->largest || section->size > image->largest->size)
			image->largest = section;
	}
	if (!image->span_count)
		image->largest = NULL;
}

enum litifut_status litifut_image_open(const char *path, struct litifut_image *image,
				       struct litifut_error *error)
{
	enum litifut_status status;

	memset(image, 0, sizeof(*image));
	if (strlen(path) >= sizeof(image->path))
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "path too long");
	strcpy(image->path, path);
	status = elf_file_open(&image->file, path, error);
	if (!status)
		status = read_segments(image, error);
	if (!status)
		status = read_sections(image, error);
	if (!status)
		status = litifut_image_read_symbols(image, error);
	if (status) {
		litifut_image_close(image);
		return status;
	}
	list_spans(image);
	return LITIFUT_OK;
}

/* The bytes from `from` to `to` of a mapping: `inside`, the whole pages in them, else all
 * pages that they touch. */
static int set_protection(uint8_t *from, uint8_t *to, bool inside, int protection)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t start = ((uintptr_t)from + (inside ? page - 1 : 0)) & ~(page - 1);
	const uintptr_t end = ((uintptr_t)to + (inside ? 0 : page - 1)) & ~(page - 1);

	return end > start ? mprotect((void *)start, end - start, protection) : 0;
}

static bool is_code(const struct litifut_section *section)
{
	return section->flags & SHF_ALLOC && section->flags & SHF_EXECINSTR;
}

void litifut_image_lock_code(struct litifut_image *image)
{
	/* Code first: in a damaged file something else may be at the same place. */
	for (unsigned locked = 2; locked-- > 0;)
		for (size_t i = 1; i < image->section_count && image->file.mapped; i++) {
			const struct litifut_section *section = &image->sections[i];

			if (section->bytes && is_code(section) == locked)
				set_protection(section->bytes, section->bytes + section->size,
					       locked, locked ? PROT_READ : PROT_READ | PROT_WRITE);
		}
	if (image->file.mapped)
		set_protection(image->file.bytes, image->file.bytes + sizeof(Elf32_Ehdr), false,
			       PROT_READ | PROT_WRITE);
}

enum litifut_status litifut_image_unlock(struct litifut_image *image, uint32_t address,
					 uint32_t size, struct litifut_error *error)
{
	const struct litifut_section *section = litifut_image_section_at(image, address, size);
	uint8_t *bytes = section ? section->bytes + (address - section->address) : NULL;

	if (!bytes)
		return litifut_error_set(error, LITIFUT_ERROR_INTERNAL, image->path, NULL, address,
					 "no section has room for new code there");
	if (image->file.mapped &&
	    set_protection(bytes, bytes + size, false, PROT_READ | PROT_WRITE))
		return litifut_error_set(error, LITIFUT_ERROR_IO, image->path, section->name,
					 address, "cannot be changed: %s", strerror(errno));
	return LITIFUT_OK;
}

void litifut_image_close(struct litifut_image *image)
{
	free(image->spans);
	free(image->downward);
	litifut_image_forget_symbols(image);
	free(image->sections);
	elf_file_close(&image->file);
	memset(image, 0, sizeof(*image));
}

const struct litifut_section *litifut_image_section(const struct litifut_image *image,
						    const char *name)
{
	for (size_t i = 1; i < image->section_count; i++)
		if (strcmp(image->sections[i].name, name) == 0)
			return &image->sections[i];
	return NULL;
}

static bool contains(const struct litifut_section *section, uint32_t address, uint32_t size)
{
	return address >= section->address && size <= section->size &&
	       address - section->address <= section->size - size;
}

const struct litifut_section *litifut_image_section_at(const struct litifut_image *image,
						       uint32_t address, uint32_t size)
{
	size_t low = 0;
	size_t high = image->span_count;

	if (image->largest && contains(image->largest, address, size))
		return image->largest;
	for (size_t i = 1; i < image->section_count && !high; i++)
		if (holds_bytes(&image->sections[i]) &&
		    contains(&image->sections[i], address, size))
			return &image->sections[i];
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (image->sections[image->spans[middle]].address <= address)
			low = middle;
		else
			high = middle;
	}
	return high && contains(&image->sections[image->spans[low]], address, size)
		       ? &image->sections[image->spans[low]]
		       : NULL;
}

/* To the place in the file that is that of `at` in memory. */
static enum litifut_status save_bytes(const struct litifut_image *image, const uint8_t *at,
				      const uint8_t *bytes, size_t size, const char *name,
				      int descriptor, struct litifut_error *error)
{
	size_t done = 0;
	off_t offset = at - image->file.bytes;

	while (done < size) {
		ssize_t written =
			pwrite(descriptor, bytes + done, size - done, offset + (off_t)done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return litifut_error_set(error, LITIFUT_ERROR_IO, image->path, name,
						 LITIFUT_NO_ADDRESS, "cannot write: %s",
						 strerror(errno));
		done += (size_t)written;
	}
	return LITIFUT_OK;
}

enum litifut_status litifut_image_save_section(const struct litifut_image *image,
					       const struct litifut_section *section,
					       int descriptor, struct litifut_error *error)
{
	return save_bytes(image, section->bytes, section->bytes, section->size, section->name,
			  descriptor, error);
}

enum litifut_status litifut_image_save_entry(const struct litifut_image *image, uint32_t entry,
					     int descriptor, struct litifut_error *error)
{
	uint8_t *bytes = image->file.bytes + offsetof(Elf32_Ehdr, e_entry);

	litifut_put32(image->file.big_endian, bytes, entry);
	return save_bytes(image, bytes, bytes, 4, NULL, descriptor, error);
}

enum litifut_status litifut_image_save_build_id(const struct litifut_image *image,
						const uint8_t *id, size_t size, int descriptor,
						struct litifut_error *error)
{
	size_t room;
	const uint8_t *at = elf_file_build_id(&image->file, &room);

	/* A linker script may have put the note among code, which is locked in memory. */
	return at && room == size
		       ? save_bytes(image, at, id, size, NULL, descriptor, error)
		       : litifut_error_set(error, LITIFUT_ERROR_INTERNAL, image->path, NULL,
					   LITIFUT_NO_ADDRESS, "its build-id has another length");
}
