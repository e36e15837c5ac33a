/* Static libraries: plain ones, and thin ones, which only name their members. */
#ifndef LITIFUT_LDWRAP_ARCHIVE_H
#define LITIFUT_LDWRAP_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A file in memory, read only. */
struct file_view {
	uint8_t *bytes;
	size_t size;
};

/* False: it can't be read, or is empty. */
bool file_view_open(const char *path, struct file_view *view);
void file_view_close(struct file_view *view);

struct archive_symbol {
	const char *name;
	size_t member; /* offset of its header in the archive */
};

struct archive {
	struct file_view view;
	char *folder; /* that names of members of a thin one are relative to, with its slash */
	bool thin;
	const char *names; /* the table of long names */
	size_t names_size;
	size_t first;                   /* offset of the first member that is an object */
	struct archive_symbol *symbols; /* the index, in its order; owned */
	size_t symbol_count;
};

struct archive_member {
	const uint8_t *bytes; /* NULL: thin */
	size_t size;
	char *path;  /* thin: where the member is; freed by the caller; else NULL */
	size_t next; /* offset of the member after it */
};

/* True if `view` is an archive; takes the view over and closes it in
 * archive_close(). False: the view stays the caller's. */
bool archive_open(const char *path, const struct file_view *view, struct archive *archive);
void archive_close(struct archive *archive);

/* The member whose header is at `offset`; false at the end, or when damaged. */
bool archive_member_at(const struct archive *archive, size_t offset, struct archive_member *member);

#endif
