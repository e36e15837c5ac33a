/* ld.bfd and gold print an input section as
 *
 *    NAME          0xADDRESS     0xSIZE FILE
 *
 * with one blank before the name, and put a long name on a line of its own.
 * lld prints `VMA LMA Size Align`, all but the last in bare hexadecimal, and
 * then, eight columns further in, `FILE:(SECTION)`; mold prints `VMA Size Align`, the
 * first in hexadecimal, and the same behind it. An output section that is
 * not loaded is at address 0, and the pieces in it at their offsets. gold has the
 * address -1 for a piece that it puts stubs behind: it reaches from the one before
 * it to the one after it. */
#include "ldwrap/map.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

static const char *keep_name(struct map *map, const char *name)
{
	/* The pieces of one file mostly stand together. */
	for (size_t back = 1; back <= 4 && back <= map->name_count; back++)
		if (!strcmp(map->names[map->name_count - back], name))
			return map->names[map->name_count - back];
	if (!(map->name_count & (map->name_count - 1)))
		map->names = xrealloc(map->names, (2 * map->name_count + 1) * sizeof(char *));
	map->names[map->name_count] = xstrdup(name);
	return map->names[map->name_count++];
}

static bool is_text(const char *section)
{
	return !strncmp(section, ".text", 5) && (!section[5] || section[5] == '.');
}

static void add_piece(struct map *map, uint64_t address, uint64_t size, const char *file,
		      const char *section)
{
	struct map_piece *piece;

	if (!size || address > UINT32_MAX || size > UINT32_MAX - address)
		return;
	if (!(map->count & (map->count - 1)))
		map->pieces = xrealloc(map->pieces, (2 * map->count + 1) * sizeof(*map->pieces));
	piece = &map->pieces[map->count++];
	piece->address = (uint32_t)address;
	piece->size = (uint32_t)size;
	piece->file = keep_name(map, file);
	piece->section = keep_name(map, section);
	piece->text = is_text(section) ? piece->section : NULL;
}

/* The output section that lines of ld.bfd and gold are about. */
struct output {
	bool loaded;
	bool seen;     /* a section that is loaded */
	bool at_zero;  /* it is loaded, and begins there */
	uint64_t next; /* where its next piece can begin */
	uint64_t end;
	bool open; /* the last piece ends where the next one begins */
};

static void end_open_piece(struct map *map, struct output *output, uint64_t address)
{
	struct map_piece *last = map->count ? &map->pieces[map->count - 1] : NULL;

	if (!output->open || !last || address <= last->address)
		return;
	if (address - last->address <= INT32_MAX)
		last->size = (uint32_t)(address - last->address);
	output->open = false;
}

/* The numbers after an output section's name. Lines like "LOAD FILE" have none. */
static void begin_output(struct map *map, struct output *output, const char *numbers)
{
	char *end;

	end_open_piece(map, output, output->end);
	output->open = false;
	numbers += strspn(numbers, " \t");
	output->next = strtoull(strncmp(numbers, "0x", 2) ? "" : numbers, &end, 16);
	output->end = output->next + strtoull(end, NULL, 16);
	/* debug sections begin at 0, but so does the code of many firmwares, which comes first */
	output->at_zero = !output->next && output->end && !output->seen;
	output->loaded = output->next || output->at_zero;
	output->seen |= output->loaded;
}

static void add_bfd_piece(struct map *map, struct output *output, uint64_t address, uint64_t size,
			  const char *file, const char *section)
{
	bool unknown = address >= UINT32_MAX;
	size_t before = map->count;

	if (unknown)
		address = output->next;
	end_open_piece(map, output, address);
	if (address || output->at_zero)
		add_piece(map, address, size, file, section);
	output->open = unknown && map->count > before;
	output->next = address + size;
}

/* Reads "0xADDRESS 0xSIZE FILE" from `rest`. */
static bool read_bfd_numbers(struct map *map, struct output *output, const char *rest,
			     const char *section)
{
	char *end;
	uint64_t address;
	uint64_t size;

	rest += strspn(rest, " \t");
	if (strncmp(rest, "0x", 2))
		return false;
	address = strtoull(rest, &end, 16);
	rest = end + strspn(end, " \t");
	if (strncmp(rest, "0x", 2))
		return false;
	size = strtoull(rest, &end, 16);
	if (*end != ' ' || !end[1])
		return false;
	add_bfd_piece(map, output, address, size, end + strspn(end, " "), section);
	return true;
}

/* What stands behind the numbers of a line of lld or mold: one blank, then nothing for an
 * output section, 8 more for an input section, 16 for a symbol. `loaded` says whether the
 * output section is, and is kept from line to line. */
static void read_lld_piece(struct map *map, const char *rest, uint64_t address, uint64_t size,
			   bool *loaded)
{
	const char *colon = NULL;
	char *section;
	char *file;

	if (rest[0] == ' ' && rest[1] != ' ')
		*loaded = address != 0;
	if (!*loaded || !address || strncmp(rest, "         ", 9) || rest[9] == ' ')
		return;
	rest += 9;
	for (const char *next = rest; (next = strstr(next, ":(")); next++)
		colon = next;
	if (!colon || *rest == '<')
		return;
	file = xstrndup(rest, (size_t)(colon - rest));
	section = xstrndup(colon + 2, strcspn(colon + 2, ")"));
	add_piece(map, address, size, file, section);
	free(section);
	free(file);
}

/* The next line without its end; false: there is none. */
static bool next_line(FILE *file, char **line, size_t *room)
{
	if (getline(line, room, file) < 0)
		return false;
	(*line)[strcspn(*line, "\n")] = '\0';
	return true;
}

/* A line begins with the address, the size and the alignment. That of lld has the size in
 * hexadecimal, and a second address, of where it is loaded, before it. */
static void read_columns(FILE *file, struct map *map, bool is_lld)
{
	char *line = NULL;
	size_t room = 0;
	bool loaded = false;

	while (next_line(file, &line, &room)) {
		char *end;
		uint64_t address = strtoull(line, &end, 16);
		uint64_t size;

		if (end == line || *end != ' ')
			continue;
		if (is_lld)
			(void)strtoull(end, &end, 16);
		size = strtoull(end, &end, is_lld ? 16 : 10);
		(void)strtoull(end, &end, 10);
		read_lld_piece(map, end, address, size, &loaded);
	}
	free(line);
}

void map_read_lld(FILE *file, struct map *map)
{
	read_columns(file, map, true);
}

void map_read_mold(FILE *file, struct map *map)
{
	read_columns(file, map, false);
}

void map_read_gnu(FILE *file, struct map *map)
{
	char *line = NULL;
	size_t room = 0;
	bool begun = false; /* past the heading */
	bool name_pending = false;
	char *section = NULL; /* input section that the line is about */
	struct output output = {.loaded = false};
	bool output_pending = false;

	while (next_line(file, &line, &room)) {
		size_t length;

		if (!begun) {
			begun = !strcmp(line, "Linker script and memory map") ||
				!strcmp(line, "Memory map");
			continue;
		}
		if (output_pending)
			begin_output(map, &output, line);
		output_pending = false;
		if (line[0] == '.' || line[0] == '_' || isalpha((unsigned char)line[0])) {
			length = strcspn(line, " ");
			output_pending = !line[length];
			begin_output(map, &output, line + length);
		}
		if (!output.loaded)
			continue;
		if (name_pending && !strncmp(line, "                ", 16))
			read_bfd_numbers(map, &output, line, section);
		name_pending = false;
		if (line[0] != ' ' || line[1] == ' ' || line[1] == '*' || !line[1])
			continue;
		length = strcspn(line + 1, " ");
		free(section);
		section = xstrndup(line + 1, length);
		if (!line[1 + length])
			name_pending = true;
		else
			read_bfd_numbers(map, &output, line + 1 + length, section);
	}
	end_open_piece(map, &output, output.end);
	free(section);
	free(line);
}

enum litifut_status map_read(const char *path, map_reader *read, struct map *map,
			     struct litifut_error *error)
{
	FILE *file = fopen(path, "r");

	memset(map, 0, sizeof(*map));
	if (!file)
		return litifut_error_set(error, LITIFUT_ERROR_IO, path, NULL, LITIFUT_NO_ADDRESS,
					 "can't read the map file: %s", strerror(errno));
	read(file, map);
	fclose(file);
	return LITIFUT_OK;
}

void map_release(struct map *map)
{
	for (size_t i = 0; i < map->name_count; i++)
		free(map->names[i]);
	free(map->names);
	free(map->pieces);
	memset(map, 0, sizeof(*map));
}

static bool matches_path(const char *glob, const char *path)
{
	char *file = realpath(glob, NULL); /* a path without letters of globs */
	char *resolved;
	char *anywhere;
	bool found;

	while (!strncmp(glob, "./", 2))
		glob += 2;
	resolved = realpath(path, NULL);
	if (!resolved) {
		free(file);
		return false;
	}
	/* "dir/file.o" is that of any folder above, as a build changes folders */
	anywhere = concat(glob[0] == '/' ? "" : "*/", glob, NULL);
	found = !fnmatch(anywhere, resolved, 0) || (file && !strcmp(file, resolved));
	free(file);
	free(anywhere);
	free(resolved);
	return found;
}

static bool matches_any(const struct text_list *globs, const char *name)
{
	for (size_t i = 0; i < globs->count; i++)
		if (!fnmatch(globs->items[i], name, 0))
			return true;
	return false;
}

static bool matches_file(const struct text_list *globs, const char *path)
{
	if (matches_any(globs, path) || matches_any(globs, lbasename(path)))
		return true;
	for (size_t i = 0; i < globs->count; i++)
		if (strchr(globs->items[i], '/') && matches_path(globs->items[i], path))
			return true;
	return false;
}

/* "libNAME.a" by NAME */
static bool matches_short_name(const struct text_list *libraries, const char *base)
{
	bool found = false;

	if (!strncmp(base, "lib", 3)) {
		char *name = xstrndup(base + 3, strcspn(base + 3, "."));

		found = matches_any(libraries, name);
		free(name);
	}
	return found;
}

bool map_library_matches(const char *path, const struct text_list *libraries)
{
	return matches_file(libraries, path) || matches_short_name(libraries, lbasename(path));
}

bool map_file_matches(const char *file, const struct text_list *objects,
		      const struct text_list *libraries)
{
	size_t length = strlen(file);
	const char *open = length && file[length - 1] == ')' ? strrchr(file, '(') : NULL;
	char *archive;
	char *member;
	char *together;
	bool found;

	if (!open)
		return matches_file(objects, file) || matches_file(libraries, file);
	archive = xstrndup(file, (size_t)(open - file));
	member = xstrndup(open + 1, length - (size_t)(open - file) - 2);
	together = concat(lbasename(archive), "(", member, ")", NULL);
	found = matches_any(objects, file) || matches_any(objects, member) ||
		matches_any(objects, lbasename(member)) || matches_any(objects, together) ||
		map_library_matches(archive, libraries);
	free(archive);
	free(member);
	free(together);
	return found;
}

bool map_has_file(const struct map *map, const struct text_list *objects,
		  const struct text_list *libraries)
{
	const char *last_file = NULL;

	for (size_t i = 0; i < map->count; i++) {
		if (map->pieces[i].file == last_file)
			continue;
		last_file = map->pieces[i].file;
		if (map_file_matches(last_file, objects, libraries))
			return true;
	}
	return false;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct litifut_range *a = left;
	const struct litifut_range *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static bool is_left_alone(const struct map_choice *choice, const char *file)
{
	if (map_file_matches(file, choice->exclude_objects, choice->exclude_libraries))
		return true;
	return (choice->include_objects->count || choice->include_libraries->count) &&
	       !map_file_matches(file, choice->include_objects, choice->include_libraries);
}

size_t map_excluded_ranges(const struct map *map, const struct map_choice *choice,
			   struct litifut_range **ranges)
{
	struct litifut_range *found = NULL;
	const char *last_file = NULL;
	bool last_match = false;
	size_t count = 0;
	size_t kept = 0;

	for (size_t i = 0; i < map->count; i++) {
		const struct map_piece *piece = &map->pieces[i];

		if (piece->file != last_file) {
			last_file = piece->file;
			last_match = is_left_alone(choice, last_file);
		}
		if (!last_match)
			continue;
		if (!(count & (count - 1)))
			found = xrealloc(found, (2 * count + 1) * sizeof(*found));
		found[count].start = piece->address;
		found[count++].end = piece->address + piece->size;
	}
	if (count)
		qsort(found, count, sizeof(*found), compare_ranges);
	for (size_t i = 0; i < count; i++) {
		if (kept && found[i].start <= found[kept - 1].end) {
			if (found[i].end > found[kept - 1].end)
				found[kept - 1].end = found[i].end;
		} else {
			found[kept++] = found[i];
		}
	}
	*ranges = found;
	return kept;
}
