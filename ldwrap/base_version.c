/* The linker makes the image under another name than the user's, which must not be seen in
 * it: it would be another one each time. Strings may share their ends, so the new one ends
 * where the old one does. */
#include "ldwrap/base_version.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

/* Of libiberty, which has no header for it: the 20 bytes of SHA-1, to `result`. */
extern void *sha1_buffer(const char *bytes, size_t size, void *result);

#define SHA1_BYTES 20

/* A section in the file. */
struct piece {
	off_t at;
	size_t size;
	char *bytes; /* of libelf */
};

static bool find_piece(Elf *elf, Elf_Scn *section, struct piece *piece)
{
	GElf_Shdr header;
	Elf_Data *data = section ? elf_rawdata(section, NULL) : NULL;

	if (!data || !data->d_buf || !gelf_getshdr(section, &header))
		return false;
	piece->at = (off_t)header.sh_offset;
	piece->size = data->d_size;
	piece->bytes = data->d_buf;
	return elf_kind(elf) == ELF_K_ELF;
}

static bool find_versions(Elf *elf, struct piece *versions, struct piece *strings)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_GNU_verdef)
			return find_piece(elf, section, versions) &&
			       find_piece(elf, elf_getscn(elf, header.sh_link), strings);
	return false;
}

static uint32_t get_word(const char *bytes, bool big_endian)
{
	const uint8_t *at = (const uint8_t *)bytes;

	return big_endian ? (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | at[2] << 8 | at[3]
			  : (uint32_t)at[3] << 24 | (uint32_t)at[2] << 16 | at[1] << 8 | at[0];
}

static bool write_word(int file, off_t at, uint32_t value, bool big_endian)
{
	uint8_t bytes[4];

	for (int i = 0; i < 4; i++)
		bytes[i] = (uint8_t)(value >> 8 * (big_endian ? 3 - i : i));
	return pwrite(file, bytes, 4, at) == 4;
}

/* `old` stands at `at` in the strings; `name` is shorter, and its last part is that of `old`. */
static bool write_name(int file, const struct piece *strings, uint32_t at, const char *old,
		       const char *name)
{
	const char *last = lbasename(name);
	size_t head = (size_t)(last - name);
	size_t unused = strlen(old) - strlen(name);
	char *bytes = xcalloc(1, unused + head + 1);
	bool good;

	memcpy(bytes + unused, name, head);
	good = pwrite(file, bytes, unused + head, strings->at + at) == (ssize_t)(unused + head);
	free(bytes);
	return good;
}

/* True: done, or there is nothing to do. `renamed`: the file is another one now. */
static bool rename_in(int file, Elf *elf, const char *image, const char *target, bool *renamed)
{
	const char *const images[] = {image, lbasename(image)};
	const char *const names[] = {target, lbasename(target)};
	struct piece versions;
	struct piece strings;
	bool big_endian = elf_getident(elf, NULL)[EI_DATA] == ELFDATA2MSB;
	uint32_t aux;
	uint32_t at;

	/* The base comes first. */
	if (!find_versions(elf, &versions, &strings) || versions.size < sizeof(Elf32_Verdef))
		return true;
	aux = get_word(versions.bytes + offsetof(Elf32_Verdef, vd_aux), big_endian);
	if (aux > versions.size - sizeof(Elf32_Verdaux) || versions.size < sizeof(Elf32_Verdaux))
		return true;
	at = get_word(versions.bytes + aux, big_endian);
	if (at >= strings.size || !memchr(strings.bytes + at, '\0', strings.size - at))
		return true;
	for (int i = 0; i < 2; i++) {
		const char *end = lbasename(names[i]);
		size_t length = strlen(images[i]);

		if (strcmp(strings.bytes + at, images[i]) || strlen(names[i]) > length ||
		    strcmp(images[i] + length - strlen(end), end))
			continue;
		*renamed = true;
		return write_name(file, &strings, at, images[i], names[i]) &&
		       write_word(file, versions.at + (off_t)aux,
				  at + (uint32_t)(length - strlen(names[i])), big_endian) &&
		       write_word(file, versions.at + (off_t)offsetof(Elf32_Verdef, vd_hash),
				  (uint32_t)elf_hash(names[i]), big_endian);
	}
	return true;
}

/* Not for a random build-id, and one of the user's own. */
static bool has_id_of_contents(const struct arguments *arguments)
{
	bool found = true;

	for (int i = 1; i < arguments->word_count; i++) {
		const char *word = arguments->words[i];

		word += word[0] == '-' && word[1] == '-';
		if (!strncmp(word, "-build-id", 9) && (word[9] == '=' || !word[9]))
			found = strncmp(word + 9, "=0x", 3) != 0 && strcmp(word + 9, "=uuid") != 0;
	}
	return found;
}

/* Where the build-id stands in the file; 0: there is none. */
static off_t find_id(Elf *elf, size_t *bytes)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Nhdr note;
	Elf_Data *data;
	size_t name;
	size_t text;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(section, NULL);
		for (size_t at = 0, next;
		     data && (next = gelf_getnote(data, at, &note, &name, &text)); at = next)
			if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			    !memcmp((char *)data->d_buf + name, "GNU", 4)) {
				*bytes = note.n_descsz;
				return (off_t)(header.sh_offset + text);
			}
	}
	return 0;
}

static bool renew_id(int file, Elf *elf)
{
	char hash[SHA1_BYTES];
	struct stat status;
	size_t bytes = 0;
	off_t at = find_id(elf, &bytes);
	char *all;
	bool good;

	if (!at || !bytes || fstat(file, &status))
		return true;
	all = xmalloc((size_t)status.st_size);
	good = pread(file, all, (size_t)status.st_size, 0) == status.st_size &&
	       at + (off_t)bytes <= status.st_size;
	if (good) {
		memset(all + at, 0, bytes);
		sha1_buffer(all, (size_t)status.st_size, hash);
		memcpy(all + at, hash, bytes < sizeof(hash) ? bytes : sizeof(hash));
		good = pwrite(file, all + at, bytes, at) == (ssize_t)bytes;
	}
	free(all);
	return good;
}

enum litifut_status base_version_rename(const char *image, const char *target,
					const struct arguments *arguments,
					struct litifut_error *error)
{
	int file = open(image, O_RDWR | O_CLOEXEC);
	bool renamed = false;
	Elf *elf;
	bool good;

	elf_version(EV_CURRENT);
	elf = file < 0 ? NULL : elf_begin(file, ELF_C_READ, NULL);
	/* what is not an ELF file is reported by the steps that follow */
	good = !elf || elf_kind(elf) != ELF_K_ELF || rename_in(file, elf, image, target, &renamed);
	if (good && renamed && has_id_of_contents(arguments))
		good = renew_id(file, elf);
	if (!good)
		litifut_error_set(error, LITIFUT_ERROR_IO, image, ".gnu.version_d",
				  LITIFUT_NO_ADDRESS, "can't be written: %s", strerror(errno));
	if (elf)
		elf_end(elf);
	if (file >= 0)
		close(file);
	return good ? LITIFUT_OK : LITIFUT_ERROR_IO;
}
