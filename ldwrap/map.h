/* The map file of a linker: which input file brought which piece of the image. */
#ifndef LITIFUT_LDWRAP_MAP_H
#define LITIFUT_LDWRAP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "ldwrap/text_list.h"
#include "rewriter/rewriter.h"

struct map_piece {
	uint32_t address;    /* link-time */
	uint32_t size;       /* bytes, never 0 */
	const char *file;    /* "PATH" or "ARCHIVE(MEMBER)"; owned by the map */
	const char *section; /* name of the input section; owned by the map */
	const char *text;    /* the same if it is .text or .text.*, else NULL */
};

struct map {
	struct map_piece *pieces; /* in the order of the file; owned */
	size_t count;
	char **names; /* owned */
	size_t name_count;
};

/* Adds the pieces of a map file to `map`. Lines that are not understood are passed over. */
typedef void map_reader(FILE *file, struct map *map);

map_reader map_read_gnu; /* of ld.bfd and gold */
map_reader map_read_lld;
map_reader map_read_mold;

/* Fills `map` from the file at `path`; on an error it is empty. */
enum litifut_status map_read(const char *path, map_reader *read, struct map *map,
			     struct litifut_error *error);

void map_release(struct map *map);

/* True if `file`, named as in struct map_piece, is meant by one of the globs.
 * `objects` are compared with the path, its last component, an archive's
 * MEMBER and LIBRARY.a(MEMBER); `libraries` with an archive's path, its last
 * component and NAME of libNAME.a. A path is also meant by another one that leads to the
 * same file, and by the end of it: DIR/FILE. */
bool map_file_matches(const char *file, const struct text_list *objects,
		      const struct text_list *libraries);

/* The same for an archive as a whole. */
bool map_library_matches(const char *path, const struct text_list *libraries);

/* Is there a file that one of the globs names? */
bool map_has_file(const struct map *map, const struct text_list *objects,
		  const struct text_list *libraries);

/* Which files are left alone: those that the first two lists name, and if the others name any,
 * all but those. */
struct map_choice {
	const struct text_list *exclude_objects;
	const struct text_list *exclude_libraries;
	const struct text_list *include_objects;
	const struct text_list *include_libraries;
};

/* The ranges of all pieces of files that are left alone, neighbours joined. Returns their
 * number; `*ranges` is to be freed. */
size_t map_excluded_ranges(const struct map *map, const struct map_choice *choice,
			   struct litifut_range **ranges);

#endif
