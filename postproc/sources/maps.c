/* Reads lines such as
 * 40010000-40031000 r-xp 00010000 08:01 1234   /lib/libc.so.6 */
#include "postproc/sources/maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/sources/input_bytes.h"
#include "postproc/table.h"

/* Linux gives a process no more than that by default (vm.max_map_count). */
#define MOST_LINES 65530u

static bool hex(const char **text, const char *end, uint64_t *value)
{
	const char *at = *text;

	*value = 0;
	for (; at < end; at++) {
		int digit = *at >= '0' && *at <= '9'   ? *at - '0'
			    : *at >= 'a' && *at <= 'f' ? *at - 'a' + 10
						       : -1;
		if (digit < 0)
			break;
		if (*value >> 60)
			return false;
		*value = *value << 4 | (unsigned)digit;
	}
	bool some = at > *text;
	*text = at;
	return some;
}

static const char *skip(const char *at, const char *end, bool spaces)
{
	while (at < end && (*at == ' ' || *at == '\t') == spaces)
		at++;
	return at;
}

static bool parse_line(const char *at, const char *end, struct post_map *map)
{
	static const char gone[] = " (deleted)";
	uint64_t start, stop, offset;

	if (!hex(&at, end, &start) || at == end || *at++ != '-' || !hex(&at, end, &stop) ||
	    at == end || *at != ' ')
		return false;
	at = skip(at, end, true);
	const char *permissions = at;
	at = skip(at, end, false);
	if (at - permissions < 4)
		return false;
	map->executable = permissions[2] == 'x';
	at = skip(at, end, true);
	if (!hex(&at, end, &offset))
		return false;
	/* The end of the last page is cut below, so it must not begin there. */
	if (start >= stop || start >= UINT32_MAX || stop > (uint64_t)1 << 32 || offset > UINT32_MAX)
		return false;
	map->start = (uint32_t)start;
	map->end = stop > UINT32_MAX ? UINT32_MAX : (uint32_t)stop;
	map->offset = (uint32_t)offset;
	for (unsigned field = 0; field < 2; field++) /* device, inode */
		at = skip(skip(at, end, true), end, false);
	at = skip(at, end, true);
	size_t length = (size_t)(end - at);
	if (length >= sizeof(gone) && !memcmp(end - sizeof(gone) + 1, gone, sizeof(gone) - 1))
		length -= sizeof(gone) - 1;
	map->path = post_allocate(length + 1, 1);
	memcpy(map->path, at, length);
	return true;
}

static int compare(const void *left, const void *right)
{
	const struct post_map *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

enum litifut_status post_maps_parse(const char *text, size_t size, const char *name,
				    struct post_maps *maps, struct post_problems *problems)
{
	const char *end = text + size;
	unsigned bad = 0;

	*maps = (struct post_maps){.path = post_copy_text(name)};
	for (const char *line = text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		struct post_map map;
		if (!stop) { /* a path that is cut may be that of another file */
			post_problem_at(problems, name, (uint64_t)(line - text),
					"the maps file was cut here, within a line, which is left "
					"out: what was loaded behind it is not known; copy it "
					"again");
			break;
		}
		if (maps->count == MOST_LINES) {
			post_problem_at(problems, name, (uint64_t)(line - text),
					"more than %u lines, the rest is left out", MOST_LINES);
			break;
		}
		if (stop > line && parse_line(line, stop, &map)) {
			POST_GROW(maps->items, maps->count, maps->capacity);
			maps->items[maps->count++] = map;
		} else if (stop > line && !bad++) {
			post_problem_at(problems, name, (uint64_t)(line - text),
					"not a line of a maps file, left out");
		}
		line = stop + 1;
	}
	if (bad > 1)
		post_problem_at(problems, name, LITIFUT_NO_ADDRESS, "%u more lines left out",
				bad - 1);
	if (maps->count)
		qsort(maps->items, maps->count, sizeof(*maps->items), compare);
	return LITIFUT_OK;
}

enum litifut_status post_maps_open(const char *path, struct post_maps *maps,
				   struct post_problems *problems, struct litifut_error *error)
{
	uint8_t *data;
	size_t size;
	enum litifut_status status = post_input_map(path, &data, &size, problems, error);

	if (status != LITIFUT_OK)
		return status;
	status = post_maps_parse((const char *)data, size, path, maps, problems);
	post_input_unmap(data, size);
	return status;
}

void post_maps_release(struct post_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		free(maps->items[i].path);
	free(maps->items);
	free(maps->path);
	*maps = (struct post_maps){0};
}
