/* The linker makes the image under another name than the user's, which must not be seen in
 * it: it would be another one each time. Strings may share their ends, so the new one ends
 * where the old one does. */
#include "ldwrap/base_version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "common/bytes.h"
#include "elf/file.h"

/* Of libiberty, which has no header for it: the 20 bytes of SHA-1, to `result`. */
extern void *sha1_buffer(const char *bytes, size_t size, void *result);

#define SHA1_BYTES 20

/* A section of the image, in memory. */
struct piece {
	uint8_t *bytes;
	size_t size;
};

static bool find_piece(const struct elf_file *file, Elf_Scn *section, struct piece *piece)
{
	GElf_Shdr header;

	if (!section || !gelf_getshdr(section, &header) || header.sh_type == SHT_NOBITS ||
	    header.sh_offset > file->size || header.sh_size > file->size - header.sh_offset)
		return false;
	*piece = (struct piece){file->bytes + header.sh_offset, header.sh_size};
	return true;
}

static bool find_versions(const struct elf_file *file, struct piece *versions,
			  struct piece *strings)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_GNU_verdef)
			return find_piece(file, section, versions) &&
			       find_piece(file, elf_getscn(file->elf, header.sh_link), strings);
	return false;
}

/* Writes `size` bytes of the image in memory to their place in the file. */
static bool store(int descriptor, const struct elf_file *file, const uint8_t *at, size_t size)
{
	return pwrite(descriptor, at, size, at - file->bytes) == (ssize_t)size;
}

static bool store_word(int descriptor, const struct elf_file *file, uint8_t *at, uint32_t value)
{
	litifut_put32(file->big_endian, at, value);
	return store(descriptor, file, at, sizeof(value));
}

/* `old` stands at `at`; `name` is shorter, and its last part is that of `old`. */
static bool store_name(int descriptor, const struct elf_file *file, uint8_t *at, const char *old,
		       const char *name)
{
	size_t head = (size_t)(lbasename(name) - name);
	size_t unused = strlen(old) - strlen(name);

	memset(at, 0, unused);
	memcpy(at + unused, name, head);
	return store(descriptor, file, at, unused + head);
}

/* True: done, or there is nothing to do. `renamed`: the file is another one now. */
static bool rename_in(int descriptor, const struct elf_file *file, const char *image,
		      const char *target, bool *renamed)
{
	const char *const images[] = {image, lbasename(image)};
	const char *const names[] = {target, lbasename(target)};
	struct piece versions;
	struct piece strings;
	uint32_t aux;
	uint32_t at;

	/* The base comes first. */
	if (!find_versions(file, &versions, &strings) || versions.size < sizeof(Elf32_Verdef))
		return true;
	aux = litifut_get32(file->big_endian, versions.bytes + offsetof(Elf32_Verdef, vd_aux));
	if (aux > versions.size - sizeof(Elf32_Verdaux) || versions.size < sizeof(Elf32_Verdaux))
		return true;
	at = litifut_get32(file->big_endian, versions.bytes + aux);
	if (at >= strings.size || !memchr(strings.bytes + at, '\0', strings.size - at))
		return true;
	for (int i = 0; i < 2; i++) {
		const char *end = lbasename(names[i]);
		size_t length = strlen(images[i]);

		if (strcmp((char *)strings.bytes + at, images[i]) || strlen(names[i]) > length ||
		    strcmp(images[i] + length - strlen(end), end))
			continue;
		*renamed = true;
		return store_name(descriptor, file, strings.bytes + at, images[i], names[i]) &&
		       store_word(descriptor, file, versions.bytes + aux,
				  at + (uint32_t)(length - strlen(names[i]))) &&
		       store_word(descriptor, file,
				  versions.bytes + offsetof(Elf32_Verdef, vd_hash),
				  (uint32_t)elf_hash(names[i]));
	}
	return true;
}

/* `file` is the renamed image. */
static bool renew_id(int descriptor, const struct elf_file *file)
{
	char hash[SHA1_BYTES];
	size_t bytes;
	const uint8_t *id = elf_file_build_id(file, &bytes);
	uint8_t *at = id ? file->bytes + (id - file->bytes) : NULL;

	if (!at)
		return true;
	memset(at, 0, bytes);
	sha1_buffer((char *)file->bytes, file->size, hash);
	memcpy(at, hash, bytes < sizeof(hash) ? bytes : sizeof(hash));
	return store(descriptor, file, at, bytes);
}

enum litifut_status base_version_rename(const char *image, const char *target,
					const struct arguments *arguments,
					struct litifut_error *error)
{
	int descriptor = open(image, O_RDWR | O_CLOEXEC);
	bool renamed = false;
	struct elf_file file;
	bool good = true;

	/* what is not an ELF file is reported by the steps that follow */
	if (descriptor >= 0 && !elf_file_open(&file, image, NULL)) {
		good = rename_in(descriptor, &file, image, target, &renamed);
		if (good && renamed && arguments_id_is_of_contents(arguments))
			good = renew_id(descriptor, &file);
		if (!good)
			litifut_error_set(error, LITIFUT_ERROR_IO, image, ".gnu.version_d",
					  LITIFUT_NO_ADDRESS, "can't be written: %s",
					  strerror(errno));
		elf_file_close(&file);
	}
	if (descriptor >= 0)
		close(descriptor);
	return good ? LITIFUT_OK : LITIFUT_ERROR_IO;
}
