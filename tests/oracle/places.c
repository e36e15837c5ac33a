#include "tests/oracle/places.h"

#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mapping {
	uintptr_t start;
	uintptr_t end;
	uint64_t offset;
	const char *path;
};

struct range {
	uint64_t start;
	uint64_t end;
	char *path;
	enum { THROUGH, PLAIN, MOVED } kind;
	uint64_t returns_to; /* MOVED */
	uint64_t reach;      /* the largest end of the ranges of this file up to this one */
};

static struct mapping *mappings;
static size_t mapping_count;
static bool mappings_stale = true;

static struct range *ranges; /* by file, then by start */
static size_t range_count;

static void *paths;
static void *places;
static struct oracle_place **by_number;
static uint32_t place_count;
static int log_file = -1;

static int compare_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

static int compare_places(const void *a, const void *b)
{
	const struct oracle_place *left = a, *right = b;

	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	return strcmp(left->path, right->path);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;
	const int by_path = strcmp(left->path, right->path);

	if (by_path)
		return by_path;
	return left->start < right->start ? -1 : left->start > right->start;
}

/* One copy of each path, so that mappings can be thrown away. */
static const char *keep_path(const char *path)
{
	char **found = tfind(path, &paths, compare_text);

	if (!found)
		found = tsearch(strdup(path), &paths, compare_text);
	return found ? *found : "-";
}

static void read_mappings(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[4500], path[4200];
	unsigned long start, end, offset;

	mapping_count = 0;
	mappings_stale = false;
	while (file && fgets(line, sizeof(line), file)) {
		struct mapping *grown;

		path[0] = 0;
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %4199[^\n]", &start, &end, &offset,
			   path) < 3)
			continue;
		if (path[0] != '/')
			continue;
		grown = realloc(mappings, (mapping_count + 1) * sizeof(*mappings));
		if (!grown)
			break;
		mappings = grown;
		mappings[mapping_count++] = (struct mapping){start, end, offset, keep_path(path)};
	}
	if (file)
		fclose(file);
}

bool oracle_places_read_ranges(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned long long start, end;
	char name[4200];
	char line[4300];

	if (!file) {
		fprintf(stderr, "oracle: can't read %s\n", path);
		return false;
	}
	while (fgets(line, sizeof(line), file)) {
		const bool plain = !strncmp(line, "plain ", 6), moved = !strncmp(line, "moved ", 6);
		struct range *grown;

		if (sscanf(line + (plain || moved ? 6 : 0), "%llx %llx %4199[^\n]", &start, &end,
			   name) != 3)
			break;
		grown = realloc(ranges, (range_count + 1) * sizeof(*ranges));
		if (!grown)
			break;
		ranges = grown;
		ranges[range_count++] = (struct range){
			.start = start,
			.end = moved ? start + 4 : end,
			.path = strdup(name),
			.kind = moved   ? MOVED
				: plain ? PLAIN
					: THROUGH,
			.returns_to = end,
		};
	}
	fclose(file);
	if (range_count)
		qsort(ranges, range_count, sizeof(*ranges), compare_ranges);
	for (size_t i = 0; i < range_count; i++) {
		const struct range *before = i ? &ranges[i - 1] : NULL;

		ranges[i].reach = ranges[i].end;
		if (before && !strcmp(before->path, ranges[i].path) &&
		    before->reach > ranges[i].reach)
			ranges[i].reach = before->reach;
	}
	return true;
}

/* Sets what the ranges say of a place. */
static void look_up_ranges(struct oracle_place *place)
{
	size_t low = 0, high = range_count; /* the last range that begins at or before it */

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const int by_path = strcmp(ranges[middle].path, place->path);

		if (by_path < 0 || (!by_path && ranges[middle].start <= place->offset))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low > 0; low--) {
		const struct range *range = &ranges[low - 1];

		if (range->reach <= place->offset || strcmp(range->path, place->path))
			break;
		if (place->offset >= range->end)
			continue;
		place->plain |= range->kind == PLAIN;
		place->through |= range->kind == THROUGH;
		if (range->kind == MOVED)
			place->moved_return = (uint32_t)(range->returns_to - place->offset);
	}
}

void oracle_places_mappings_changed(void)
{
	mappings_stale = true;
}

static void log_place(const struct oracle_place *place)
{
	char line[4400];
	int length;

	if (log_file < 0)
		return;
	length = snprintf(line, sizeof(line), "%u %x %llx %s\n", place->number, place->address,
			  (unsigned long long)place->offset, place->path);
	if (write(log_file, line, (size_t)length) != length)
		abort();
}

bool oracle_places_open_log(const char *path)
{
	if (log_file >= 0)
		close(log_file);
	log_file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
	if (log_file < 0) {
		fprintf(stderr, "oracle: can't write %s\n", path);
		return false;
	}
	for (uint32_t i = 0; i < place_count; i++)
		log_place(by_number[i]);
	return true;
}

struct oracle_place *oracle_place_at(uint32_t address, const void *host)
{
	struct oracle_place wanted = {.path = "-", .offset = address}, *place, **found;
	struct oracle_place **grown;
	uintptr_t where = (uintptr_t)host;

	if (mappings_stale)
		read_mappings();
	for (size_t i = 0; host && i < mapping_count; i++) {
		if (where >= mappings[i].start && where < mappings[i].end) {
			wanted.path = mappings[i].path;
			wanted.offset = where - mappings[i].start + mappings[i].offset;
			break;
		}
	}
	found = tfind(&wanted, &places, compare_places);
	if (found) {
		(*found)->address = address;
		return *found;
	}
	place = calloc(1, sizeof(*place));
	grown = realloc(by_number, (place_count + 1) * sizeof(struct oracle_place *));
	if (!place || !grown) {
		free(place);
		return NULL;
	}
	by_number = grown;
	*place = wanted;
	place->address = address;
	look_up_ranges(place);
	by_number[place_count++] = place;
	place->number = place_count;
	tsearch(place, &places, compare_places);
	log_place(place);
	return place;
}
