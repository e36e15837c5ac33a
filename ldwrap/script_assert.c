/* Evaluates the expression of an ASSERT with what the map says of symbols, sections and memories.
 */
#include "ldwrap/script_assert.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/libiberty.h>

#define DEPTH_MAX 50

/* An expression of the script as the map shows it: all operations of two sides have parentheses. */
struct reader {
	const char *map;
	const char *at;
	unsigned depth;
	bool failed;
};

static void skip(struct reader *reader)
{
	while (*reader->at == ' ')
		reader->at++;
}

static bool take(struct reader *reader, const char *word)
{
	skip(reader);
	if (strncmp(reader->at, word, strlen(word)))
		return false;
	reader->at += strlen(word);
	return true;
}

static bool is_of_name(char character)
{
	return isalnum((unsigned char)character) || strchr("_.$", character);
}

static size_t name_length(const char *name)
{
	size_t length = 0;

	while (name[length] && is_of_name(name[length]))
		length++;
	return length;
}

/* A region in the table at the begin of the map, or a section that is put out: the name begins a
 * line, behind it are where it begins and its size. A long name has the line to itself. */
static uint64_t column(struct reader *reader, const char *name, size_t length, bool size)
{
	for (const char *line = reader->map; line; line = strchr(line, '\n')) {
		char *end;

		line += *line == '\n';
		if (strncmp(line, name, length) || !isspace((unsigned char)line[length]))
			continue;
		uint64_t address = strtoull(line + length, &end, 16);

		if (end == line + length)
			continue;
		return size ? strtoull(end, NULL, 16) : address;
	}
	reader->failed = true;
	return 0;
}

/* The last value that the script has given the symbol: "  0x20000480    NAME = ...". */
static uint64_t symbol(struct reader *reader, const char *name, size_t length)
{
	uint64_t value = 0;
	bool found = false;

	for (const char *line = reader->map; line; line = strchr(line, '\n')) {
		char *end;

		line += *line == '\n';
		if (*line != ' ')
			continue;
		uint64_t number = strtoull(line, &end, 16);

		end += strspn(end, " ");
		end += !strncmp(end, "PROVIDE (", 9) ? 9 : 0;
		if (!strncmp(line + strspn(line, " "), "0x", 2) && !strncmp(end, name, length) &&
		    !is_of_name(end[length])) {
			value = number;
			found = true;
		}
	}
	reader->failed |= !found;
	return value;
}

static uint64_t value_of(struct reader *reader);

/* ORIGIN (NAME) and its like. */
static uint64_t of_part(struct reader *reader, bool size)
{
	take(reader, "(");
	skip(reader);
	const char *name = reader->at;
	const size_t length = name_length(name);

	reader->at += length;
	if (!length || !take(reader, ")"))
		reader->failed = true;
	return reader->failed ? 0 : column(reader, name, length, size);
}

static uint64_t pair(struct reader *reader)
{
	uint64_t value = value_of(reader);

	if (take(reader, "+"))
		value += value_of(reader);
	else if (take(reader, "-"))
		value -= value_of(reader);
	else if (take(reader, "*"))
		value *= value_of(reader);
	if (!take(reader, ")"))
		reader->failed = true;
	return value;
}

static uint64_t value_of(struct reader *reader)
{
	uint64_t value = 0;

	if (reader->failed || ++reader->depth > DEPTH_MAX) {
		reader->failed = true;
		return 0;
	}
	if (take(reader, "(")) {
		value = pair(reader);
	} else if (take(reader, "ORIGIN ") || take(reader, "ADDR ")) {
		value = of_part(reader, false);
	} else if (take(reader, "LENGTH ") || take(reader, "SIZEOF ")) {
		value = of_part(reader, true);
	} else if (isdigit((unsigned char)*reader->at)) {
		char *end;

		value = strtoull(reader->at, &end, 0);
		reader->at = end;
	} else {
		const size_t length = name_length(reader->at);

		reader->failed |= !length;
		value = length ? symbol(reader, reader->at, length) : 0;
		reader->at += length;
	}
	reader->depth--;
	return value;
}

static uint64_t missing_at(const char *map, const char *comparison)
{
	struct reader reader = {.map = map, .at = comparison};

	if (!take(&reader, "("))
		return 0;
	const uint64_t left = value_of(&reader);
	const bool less = take(&reader, "<");

	if (!less && !take(&reader, ">"))
		return 0;
	const bool equal = *reader.at == '=';

	reader.at += equal;
	const uint64_t right = value_of(&reader);

	if (reader.failed || !take(&reader, ")") || (less ? left < right : left > right))
		return 0;
	return (less ? left - right : right - left) + !equal;
}

/* The text of a map; NULL: it can't be read. To be freed. */
static char *text_of(const char *path)
{
	FILE *file = fopen(path, "r");
	char *map = NULL;
	size_t room = 0;

	if (file && getdelim(&map, &room, '\0', file) <= 0) {
		free(map);
		map = NULL;
	}
	if (file)
		fclose(file);
	return map;
}

uint64_t script_region_missing(const char *path, const char *section, const char *region)
{
	char *map = text_of(path);
	char *comparison = xasprintf("((ADDR (%s) + SIZEOF (%s)) <= (ORIGIN (%s) + LENGTH (%s)))",
				     section, section, region, region);
	const uint64_t missing = map ? missing_at(map, comparison) : 0;

	free(comparison);
	free(map);
	return missing;
}

uint64_t script_assert_missing(const char *path)
{
	char *map = text_of(path);
	uint64_t missing = 0;

	for (const char *at = map; at && !missing && (at = strstr(at, " ASSERT ("));) {
		const char *line = at;

		while (line > map && line[-1] != '\n')
			line--;
		at += strlen(" ASSERT (");
		if (!strtoull(line, NULL, 16))
			missing = missing_at(map, at);
	}
	free(map);
	return missing;
}
