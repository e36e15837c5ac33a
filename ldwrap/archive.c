/* libelf reads no thin archives, which Meson makes by default. */
#include "ldwrap/archive.h"

#include <ar.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#define THIN_MAGIC "!<thin>\n"

bool file_view_open(const char *path, struct file_view *view)
{
	int file = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	void *bytes = MAP_FAILED;

	if (file < 0)
		return false;
	if (!fstat(file, &status) && S_ISREG(status.st_mode) && status.st_size)
		bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	close(file);
	if (bytes == MAP_FAILED)
		return false;
	*view = (struct file_view){bytes, (size_t)status.st_size};
	return true;
}

void file_view_close(struct file_view *view)
{
	if (view->bytes)
		munmap(view->bytes, view->size);
	*view = (struct file_view){0};
}

/* Fields of a header are decimal numbers padded with blanks. */
static bool read_number(const char *field, size_t length, size_t *number)
{
	*number = 0;
	for (size_t i = 0; i < length && field[i] != ' '; i++) {
		if (field[i] < '0' || field[i] > '9')
			return false;
		*number = *number * 10 + (size_t)(field[i] - '0');
	}
	return true;
}

static const struct ar_hdr *header_at(const struct archive *archive, size_t offset, size_t *size)
{
	const struct ar_hdr *header = (const void *)(archive->view.bytes + offset);

	if (offset > archive->view.size || archive->view.size - offset < sizeof(*header) ||
	    memcmp(header->ar_fmag, ARFMAG, 2) ||
	    !read_number(header->ar_size, sizeof(header->ar_size), size))
		return NULL;
	return header;
}

/* "/" is the index, "//" the table of names, "/SYM64/" an index that is too
 * large for us. */
static bool is_special(const struct ar_hdr *header)
{
	return header->ar_name[0] == '/' &&
	       (header->ar_name[1] == ' ' || header->ar_name[1] == '/' ||
		header->ar_name[1] == 'S');
}

static uint32_t big_word(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

/* A count, as many offsets, as many names, numbers big endian on every CPU. */
static void read_index(struct archive *archive, const uint8_t *bytes, size_t size)
{
	size_t count = size < 4 ? 0 : big_word(bytes);
	size_t name;

	if (count > (size - 4) / 4)
		return;
	name = 4 + 4 * count;
	archive->symbols = xcalloc(count + 1, sizeof(*archive->symbols));
	for (size_t i = 0; i < count; i++) {
		const char *text = (const char *)bytes + name;
		size_t length = strnlen(text, size - name);

		if (length == size - name)
			break;
		archive->symbols[archive->symbol_count++] =
			(struct archive_symbol){text, big_word(bytes + 4 + 4 * i)};
		name += length + 1;
	}
}

bool archive_open(const char *path, const struct file_view *view, struct archive *archive)
{
	size_t offset = SARMAG;
	size_t size;
	const struct ar_hdr *header;

	memset(archive, 0, sizeof(*archive));
	if (view->size < SARMAG)
		return false;
	archive->thin = !memcmp(view->bytes, THIN_MAGIC, SARMAG);
	if (!archive->thin && memcmp(view->bytes, ARMAG, SARMAG))
		return false;
	archive->view = *view;
	archive->folder = xstrndup(path, (size_t)(lbasename(path) - path));
	while ((header = header_at(archive, offset, &size)) && is_special(header)) {
		const uint8_t *bytes = view->bytes + offset + sizeof(*header);

		if (size > view->size - offset - sizeof(*header))
			break;
		if (header->ar_name[1] == ' ' && !archive->symbols) {
			read_index(archive, bytes, size);
		} else if (header->ar_name[1] == '/') {
			archive->names = (const char *)bytes;
			archive->names_size = size;
		}
		offset += sizeof(*header) + size + (size & 1);
	}
	archive->first = offset;
	return true;
}

void archive_close(struct archive *archive)
{
	free(archive->symbols);
	free(archive->folder);
	file_view_close(&archive->view);
}

/* The path of a member of a thin archive, "/NUMBER" in the table of names. */
static char *thin_path(const struct archive *archive, const struct ar_hdr *header)
{
	size_t at;
	const char *name;
	size_t length;

	if (header->ar_name[0] != '/' ||
	    !read_number(header->ar_name + 1, sizeof(header->ar_name) - 1, &at) ||
	    at >= archive->names_size)
		return NULL;
	name = archive->names + at;
	for (length = 0; length < archive->names_size - at && name[length] != '\n'; length++)
		;
	if (length && name[length - 1] == '/')
		length--;
	return name[0] == '/' ? xstrndup(name, length)
			      : xasprintf("%s%.*s", archive->folder, (int)length, name);
}

bool archive_member_at(const struct archive *archive, size_t offset, struct archive_member *member)
{
	size_t size;
	const struct ar_hdr *header = header_at(archive, offset, &size);

	memset(member, 0, sizeof(*member));
	if (!header || is_special(header))
		return false;
	offset += sizeof(*header);
	if (archive->thin) {
		member->path = thin_path(archive, header);
		member->next = offset;
		return member->path != NULL;
	}
	if (size > archive->view.size - offset)
		return false;
	member->bytes = archive->view.bytes + offset;
	member->size = size;
	member->next = offset + size + (size & 1);
	return true;
}
