/* No room for the list is asked of the linker: it is unknown before the link
 * how many call sites there will be. */
#include "rewriter/sites_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <litifut/module_format.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/sections.h"

#define NOTE_HEADER_BYTES 16 /* three words, "GNU" */
#define BUILD_ID_MAX 20
#define SITES_AT_ONCE 4096

static enum litifut_status write_at(const char *path, int descriptor, const uint8_t *bytes,
				    size_t size, off_t offset, struct litifut_error *error)
{
	while (size) {
		ssize_t written = pwrite(descriptor, bytes, size, offset);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return litifut_error_set(error, LITIFUT_ERROR_IO, path,
						 LITIFUT_SECTION_SITES, LITIFUT_NO_ADDRESS,
						 "cannot write: %s", strerror(errno));
		bytes += written;
		size -= (size_t)written;
		offset += written;
	}
	return LITIFUT_OK;
}

static uint64_t table_bytes(const struct litifut_site_list *list)
{
	return sizeof(struct litifut_sites_header) +
	       (uint64_t)list->count * sizeof(struct litifut_site);
}

/* Header and records, from `offset` in the file on. */
static enum litifut_status write_table(const char *path, int descriptor,
				       const struct litifut_site_list *list, bool big_endian,
				       off_t offset, struct litifut_error *error)
{
	uint8_t bytes[SITES_AT_ONCE * sizeof(struct litifut_site)];
	size_t used = sizeof(struct litifut_sites_header);
	enum litifut_status status = LITIFUT_OK;

	elf_write_sites_header(big_endian, bytes, (uint32_t)list->count);
	for (size_t i = 0; i < list->count && !status; i++) {
		if (sizeof(bytes) - used < sizeof(struct litifut_site)) {
			status = write_at(path, descriptor, bytes, used, offset, error);
			offset += (off_t)used;
			used = 0;
		}
		elf_write_site(big_endian, bytes + used, &list->items[i].site);
		used += sizeof(struct litifut_site);
	}
	return status ? status : write_at(path, descriptor, bytes, used, offset, error);
}

/* Makes the header of the section `name` say that it is `bytes` long and stands at `place`. */
static enum litifut_status place_section(const struct litifut_image *image, int descriptor,
					 const char *name, uint32_t place, uint64_t bytes,
					 struct litifut_error *error)
{
	const struct litifut_section *section = litifut_image_section(image, name);
	const Elf32_Ehdr *header = (const void *)image->file.bytes;
	uint32_t headers = litifut_get32(image->file.big_endian, (const uint8_t *)&header->e_shoff);
	uint8_t word[4];
	off_t at;
	enum litifut_status status;

	if (!section || place + bytes > UINT32_MAX - 4)
		return litifut_error_set(error, LITIFUT_ERROR_SPACE, image->path, name,
					 LITIFUT_NO_ADDRESS, "the file would be larger than 4 GB");
	at = (off_t)headers + (off_t)(sizeof(Elf32_Shdr) * (size_t)(section - image->sections));
	litifut_put32(image->file.big_endian, word, place);
	status = write_at(image->path, descriptor, word, sizeof(word),
			  at + (off_t)offsetof(Elf32_Shdr, sh_offset), error);
	litifut_put32(image->file.big_endian, word, (uint32_t)bytes);
	if (!status)
		status = write_at(image->path, descriptor, word, sizeof(word),
				  at + (off_t)offsetof(Elf32_Shdr, sh_size), error);
	return status;
}

static uint32_t end_of(const struct litifut_image *image)
{
	return ((uint32_t)image->file.size + 3) & ~3u;
}

enum litifut_status litifut_sites_append(const struct litifut_image *image, int descriptor,
					 const struct litifut_site_table *table, uint32_t behind,
					 struct litifut_error *error)
{
	const uint32_t place = end_of(image) + behind;
	enum litifut_status status = place_section(image, descriptor, LITIFUT_SECTION_SITES, place,
						   table_bytes(table->list), error);

	return status ? status
		      : write_table(image->path, descriptor, table->list, image->file.big_endian,
				    place, error);
}

enum litifut_status litifut_blocks_append(const struct litifut_image *image, int descriptor,
					  const uint8_t *blocks, size_t bytes,
					  struct litifut_error *error)
{
	enum litifut_status status = place_section(image, descriptor, LITIFUT_SECTION_BLOCKS,
						   end_of(image), bytes, error);

	return status ? status
		      : write_at(image->path, descriptor, blocks, bytes, end_of(image), error);
}

struct writer {
	uint8_t *bytes;
	bool big_endian;
};

static void put(const struct writer *writer, size_t at, uint32_t value)
{
	litifut_put32(writer->big_endian, writer->bytes + at, value);
}

static void put_half(const struct writer *writer, size_t at, uint16_t value)
{
	litifut_put16(writer->big_endian, writer->bytes + at, value);
}

/* The section headers stand behind the ELF header, then come the contents. */
static void put_section(const struct writer *writer, unsigned number, uint32_t name, uint32_t type,
			uint32_t offset, uint32_t size)
{
	size_t at = sizeof(Elf32_Ehdr) + number * sizeof(Elf32_Shdr);

	put(writer, at + offsetof(Elf32_Shdr, sh_name), name);
	put(writer, at + offsetof(Elf32_Shdr, sh_type), type);
	put(writer, at + offsetof(Elf32_Shdr, sh_offset), offset);
	put(writer, at + offsetof(Elf32_Shdr, sh_size), size);
	put(writer, at + offsetof(Elf32_Shdr, sh_addralign), 4);
}

static void put_header(const struct writer *writer, const struct litifut_image *image)
{
	memcpy(writer->bytes, image->file.bytes, EI_NIDENT);
	put_half(writer, offsetof(Elf32_Ehdr, e_type), (uint16_t)image->file.type);
	put_half(writer, offsetof(Elf32_Ehdr, e_machine), (uint16_t)image->file.machine);
	put(writer, offsetof(Elf32_Ehdr, e_version), EV_CURRENT);
	put(writer, offsetof(Elf32_Ehdr, e_shoff), sizeof(Elf32_Ehdr));
	put(writer, offsetof(Elf32_Ehdr, e_flags), image->file.flags);
	put_half(writer, offsetof(Elf32_Ehdr, e_ehsize), sizeof(Elf32_Ehdr));
	put_half(writer, offsetof(Elf32_Ehdr, e_shentsize), sizeof(Elf32_Shdr));
	put_half(writer, offsetof(Elf32_Ehdr, e_shnum), 4);
	put_half(writer, offsetof(Elf32_Ehdr, e_shstrndx), 3);
}

enum litifut_status litifut_sites_write_file(const struct litifut_image *image, const char *path,
					     const struct litifut_site_table *table,
					     struct litifut_error *error)
{
	static const char names[] = "\0.note.gnu.build-id\0" LITIFUT_SECTION_SITES "\0.shstrtab";
	const uint32_t id_bytes =
		table->build_id_bytes < BUILD_ID_MAX ? table->build_id_bytes : BUILD_ID_MAX;
	const uint32_t note = sizeof(Elf32_Ehdr) + 4 * sizeof(Elf32_Shdr);
	const uint32_t strings = note + NOTE_HEADER_BYTES + BUILD_ID_MAX;
	const uint32_t sites = (strings + (uint32_t)sizeof(names) + 3) & ~3u;
	struct writer writer = {calloc(1, sites), image->file.big_endian};
	int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	enum litifut_status status;

	if (descriptor < 0 || !writer.bytes) {
		litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
				  "cannot create: %s", strerror(errno));
		if (descriptor >= 0)
			close(descriptor);
		free(writer.bytes);
		return LITIFUT_ERROR_IO;
	}
	put_header(&writer, image);
	put_section(&writer, 1, 1, SHT_NOTE, note, NOTE_HEADER_BYTES + ((id_bytes + 3) & ~3u));
	put_section(&writer, 2, 1 + (uint32_t)sizeof(".note.gnu.build-id"), SHT_PROGBITS, sites,
		    (uint32_t)table_bytes(table->list));
	put_section(&writer, 3, (uint32_t)(sizeof(names) - sizeof(".shstrtab")), SHT_STRTAB,
		    strings, sizeof(names));
	put(&writer, note, 4);
	put(&writer, note + 4, id_bytes);
	put(&writer, note + 8, NT_GNU_BUILD_ID);
	memcpy(writer.bytes + note + 12, "GNU", 4);
	memcpy(writer.bytes + note + NOTE_HEADER_BYTES, table->build_id, id_bytes);
	memcpy(writer.bytes + strings, names, sizeof(names));
	status = write_at(path, descriptor, writer.bytes, sites, 0, error);
	if (!status)
		status = write_table(path, descriptor, table->list, image->file.big_endian, sites,
				     error);
	free(writer.bytes);
	if (close(descriptor) && !status)
		status = litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					   "cannot write: %s", strerror(errno));
	return status;
}
