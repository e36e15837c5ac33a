#include "ldwrap/command.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

/* The kernel's limit is 128 KiB for one word and 2 MiB for all of them. */
#define RESPONSE_FILE_BYTES (96u * 1024)

static bool is_replaced(enum argument_kind kind)
{
	switch (kind) {
	case ARGUMENT_OUTPUT:
	case ARGUMENT_STRIP_ALL:
	case ARGUMENT_STRIP_DEBUG:
	case ARGUMENT_DISCARD_ALL:
	case ARGUMENT_MAP:
	case ARGUMENT_PRINT_MAP:
	case ARGUMENT_DEPENDENCY_FILE:
		return true;
	default:
		return false;
	}
}

static char **into_response_file(char **words, const char *response)
{
	FILE *file = fopen(response, "w");
	char **shorter;
	int failed;

	if (!file)
		return NULL;
	failed = writeargv(words + 1, file);
	if (fclose(file) || failed)
		return NULL;
	shorter = xcalloc(3, sizeof(char *));
	shorter[0] = xstrdup(words[0]);
	shorter[1] = concat("@", response, NULL);
	freeargv(words);
	return shorter;
}

char **command_build(const struct command *command, const char *response)
{
	const struct arguments *arguments = command->arguments;
	size_t room = (size_t)arguments->word_count + command->insertion_count +
		      2 * command->roots->count + command->exports->words.count + 8;
	char **words = xcalloc(room, sizeof(char *));
	size_t count = 0;
	size_t next = 0;
	size_t bytes = 0;

	words[count++] = xstrdup(command->linker_name);
	for (size_t i = 0; i <= arguments->count; i++) {
		const struct argument *item = &arguments->items[i];

		while (next < command->insertion_count && command->insertions[next].before <= i)
			words[count++] = xstrdup(command->insertions[next++].path);
		if (i == arguments->count || is_replaced(item->kind))
			continue;
		if (item->kind == ARGUMENT_RELAX && command->drops_relaxation)
			continue;
		if (item->kind == ARGUMENT_VERSION_SCRIPT &&
		    command->exports->replaces_version_script)
			continue;
		for (int word = item->first; word < item->first + item->count; word++)
			words[count++] = xstrdup(arguments->words[word]);
	}
	words[count++] = xstrdup("-o");
	words[count++] = xstrdup(command->output);
	for (size_t i = 0; i < command->exports->words.count; i++)
		words[count++] = xstrdup(command->exports->words.items[i]);
	if (command->map)
		words[count++] = concat("-Map=", command->map, NULL);
	if (arguments_last(arguments, ARGUMENT_DEPENDENCY_FILE))
		words[count++] = concat("--dependency-file=", command->dependency_file, NULL);
	if (command->script)
		words[count++] = concat("--script=", command->script, NULL);
	if (arguments_last(arguments, ARGUMENT_GC_SECTIONS)) {
		for (size_t i = 0; i < command->roots->count; i++) {
			words[count++] = xstrdup("-u");
			words[count++] = xstrdup(command->roots->items[i]);
		}
	}
	for (size_t i = 0; i < count; i++)
		bytes += strlen(words[i]) + 1;
	return bytes > RESPONSE_FILE_BYTES ? into_response_file(words, response) : words;
}

/* Options that only hold for the input that follows, or that open a list which
 * an object of the tracer must not join, are rare; it is enough to stand directly
 * before an input that is an ordinary object or archive. */
bool command_can_insert(const struct argument *item)
{
	return (item->kind == ARGUMENT_INPUT || item->kind == ARGUMENT_LIBRARY) && !item->foreign;
}

static bool is_start_file(const char *path)
{
	const char *base = lbasename(path);

	return !fnmatch("*crt[1in].o", base, 0) || !fnmatch("crtbegin*.o", base, 0);
}

/* Without start-up files the first code is where a program begins that names no entry
 * point, so the tracer's objects go behind the first input. */
size_t command_tracer_place(const struct arguments *arguments)
{
	bool begins = arguments_last(arguments, ARGUMENT_SHARED) != NULL;
	size_t first = arguments->count;
	bool foreign = false;

	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];

		if (item->kind == ARGUMENT_INPUT)
			foreign = item->foreign;
		if (!command_can_insert(item))
			continue;
		if (item->kind == ARGUMENT_INPUT && is_start_file(item->value)) {
			begins = true;
			continue;
		}
		if (begins)
			return i;
		if (first == arguments->count)
			first = i;
		begins = item->kind == ARGUMENT_INPUT;
	}
	return foreign ? first : arguments->count;
}

size_t command_recorder_place(const struct arguments *arguments)
{
	size_t place = command_tracer_place(arguments);

	for (size_t i = place; arguments_are_static(arguments) && i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];

		if (item->kind == ARGUMENT_INPUT && command_can_insert(item) &&
		    !fnmatch("crtend*.o", lbasename(item->value), 0))
			place = i;
	}
	return place;
}

/* Whether `file` of a map came from this item. */
static bool comes_from(const struct argument *item, const char *file)
{
	size_t length = strcspn(file, "(");

	if (item->kind == ARGUMENT_INPUT)
		return !strncmp(item->value, file, length) && !item->value[length];
	if (item->kind == ARGUMENT_LIBRARY) {
		const char *base = lbasename(file);
		size_t name = strlen(item->value);

		return !strncmp(base, "lib", 3) && !strncmp(base + 3, item->value, name) &&
		       !strncmp(base + 3 + name, ".a", 2);
	}
	return false;
}

size_t command_place_near(const struct arguments *arguments, const struct map *map,
			  uint32_t address)
{
	size_t best = command_tracer_place(arguments);
	uint32_t best_distance = UINT32_MAX;
	size_t item = best;

	/* Both the map and the command line are in link order, so one walk over
	 * each is enough; a file that is not found ahead is passed over. */
	for (size_t i = 0; i < map->count; i++) {
		const struct map_piece *piece = &map->pieces[i];
		uint32_t distance = piece->address > address ? piece->address - address
							     : address - piece->address;

		if (!piece->text || (i && map->pieces[i - 1].file == piece->file))
			continue;
		for (size_t ahead = item; ahead < arguments->count; ahead++) {
			const struct argument *candidate = &arguments->items[ahead];

			if (!command_can_insert(candidate) || !comes_from(candidate, piece->file))
				continue;
			/* A later member of the same archive: no place between. */
			if (ahead == item && i && ahead != best && strchr(piece->file, '('))
				break;
			if (distance < best_distance) {
				best_distance = distance;
				best = ahead;
			}
			item = ahead;
			break;
		}
	}
	return best;
}
