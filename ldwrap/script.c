/* On the command line an object can only stand between other objects and
 * archives, and --sort-section undoes even that. In a linker script the code of
 * each file, also of a member of an archive, and in a large file each section,
 * can be named, so that an island can come after it. The statements go before
 * the one of the built-in script that takes all code; whatever is not named
 * still goes there. */
#include "ldwrap/script.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/process.h"
#include "ldwrap/symbols.h"

static const char *const early_sections[] = {".text.unlikely", ".text.exit", ".text.startup",
					     ".text.hot", ".text.sorted"};

/* Of the statement that takes most code, and not of one before it. */
static bool is_main_code(const struct map_piece *piece)
{
	if (!piece->text)
		return false;
	for (size_t i = 0; i < sizeof(early_sections) / sizeof(early_sections[0]); i++) {
		size_t length = strlen(early_sections[i]);

		if (!strncmp(piece->text, early_sections[i], length) &&
		    (!piece->text[length] || piece->text[length] == '.'))
			return false;
	}
	return true;
}

/* In a pattern of a script these would not stand for themselves. */
static bool can_be_named(const char *file)
{
	return !strpbrk(file, "*?[]\"\\:");
}

size_t script_island_count(const struct map *map, uint32_t interval)
{
	uint64_t total = 0;

	for (size_t i = 0; i < map->count; i++)
		if (map->pieces[i].text)
			total += map->pieces[i].size;
	/* An interval is cut short by at most half of it at the end of a file. */
	return (size_t)(2 * total / interval) + 2;
}

/* Options only: what an input would do to the choice of a script is nothing. */
static char **script_question(const struct arguments *arguments, const struct linker *linker)
{
	char **words = xcalloc((size_t)arguments->word_count + 3, sizeof(char *));
	size_t count = 0;

	words[count++] = xstrdup(linker->name);
	for (size_t i = 0; i < arguments->count; i++) {
		const struct argument *item = &arguments->items[i];
		const char *word = arguments->words[item->first];

		switch (item->kind) {
		case ARGUMENT_INPUT:
		case ARGUMENT_LIBRARY:
		case ARGUMENT_LIBRARY_PATH:
		case ARGUMENT_OUTPUT:
		case ARGUMENT_MAP:
		case ARGUMENT_PRINT_MAP:
		case ARGUMENT_DEPENDENCY_FILE:
		case ARGUMENT_VERSION_SCRIPT:
		case ARGUMENT_VERSION:
			continue;
		default:
			break;
		}
		if (strstr(word, "-plugin") || strstr(word, "-group") || strstr(word, "-state"))
			continue;
		for (int i_word = item->first; i_word < item->first + item->count; i_word++)
			words[count++] = xstrdup(arguments->words[i_word]);
	}
	words[count++] = xstrdup("--verbose");
	return words;
}

/* An object that the plugin of the linker has made in an optimisation of the whole program is gone,
 * and the next one has another name: /tmp/ccAbCdEf.ltrans0.ltrans.o, /tmp/ccAbCdEf.lto.o,
 * /tmp/lto-llvm-012345.o. Returns the part that stays, with `*' for the rest, or NULL. */
static const char *made_object(const char *file)
{
	const char *base = lbasename(file);

	if (!access(file, F_OK))
		return NULL;
	if (!strncmp(base, "lto-llvm-", 9))
		return "lto-llvm-*";
	return strstr(base, ".ltrans") ? strstr(base, ".ltrans") : strstr(base, ".lto.o");
}

/* "ARCHIVE(MEMBER)" of a map is "ARCHIVE:MEMBER" in a script. A linker opens a file that a script
 * names in full, and fails where there is none. */
static void write_file_name(FILE *to, const char *file)
{
	size_t length = strlen(file);
	const char *open = length && file[length - 1] == ')' ? strrchr(file, '(') : NULL;

	if (made_object(file))
		fprintf(to, "    *%s", made_object(file));
	else if (open)
		fprintf(to, "    \"%.*s:%.*s\"", (int)(open - file), file,
			(int)(file + length - 1 - open - 1), open + 1);
	else
		fprintf(to, "    \"%s\"", file);
}

struct order {
	FILE *to;
	const struct island_layout *layout;
	uint32_t since; /* bytes of code since the last island, or the tracer */
	size_t written;
};

/* Makes room for `size` bytes before the next island would be too far. */
static void advance(struct order *order, uint32_t size)
{
	const struct island_layout *layout = order->layout;

	if (order->since + (uint64_t)size > layout->interval && order->since &&
	    order->written < layout->island_count) {
		fprintf(order->to, "    \"%s\"(.text)\n", layout->islands[order->written++]);
		order->since = 0;
	}
	order->since += size;
}

/* The pieces of one file, which need not stand together. */
static void write_one_file(struct order *order, size_t first)
{
	const struct map *map = order->layout->map;
	const char *file = map->pieces[first].file;
	uint64_t size = 0;

	for (size_t i = first; i < map->count; i++)
		if (is_main_code(&map->pieces[i]) && !strcmp(map->pieces[i].file, file))
			size += map->pieces[i].size;
	if (size <= order->layout->interval / 4) {
		advance(order, (uint32_t)size);
		write_file_name(order->to, file);
		fputs("(.text .stub .text.* .gnu.linkonce.t.*)\n", order->to);
		return;
	}
	for (size_t i = first; i < map->count; i++) {
		const struct map_piece *piece = &map->pieces[i];

		if (!is_main_code(piece) || strcmp(piece->file, file) || !can_be_named(piece->text))
			continue;
		advance(order, piece->size);
		write_file_name(order->to, file);
		fprintf(order->to, "(%s)\n", piece->text);
	}
}

/* True for the first time that it is asked about a file. */
static bool is_new(struct symbols *files, const char *file)
{
	unsigned before = files->count;

	return symbols_get(files, file)->number == before;
}

static size_t write_order(FILE *to, const struct island_layout *layout)
{
	const struct map *map = layout->map;
	struct order order = {.to = to, .layout = layout, .since = layout->since};
	struct symbols seen;

	symbols_open(&seen);
	for (size_t i = 0; layout->first[i]; i++) {
		fprintf(to, "    \"%s\"(.text .text.*)\n", layout->first[i]);
		symbols_get(&seen, layout->first[i]);
	}
	/* The map may be of a link that had islands, elsewhere. */
	for (size_t i = 0; i < layout->island_count; i++)
		symbols_get(&seen, layout->islands[i]);
	for (size_t i = 0; i < map->count; i++)
		if (is_main_code(&map->pieces[i]) && can_be_named(map->pieces[i].file) &&
		    is_new(&seen, map->pieces[i].file))
			write_one_file(&order, i);
	symbols_close(&seen);
	if (order.written < layout->island_count)
		fprintf(to, "    \"%s\"(.text)\n", layout->islands[order.written++]);
	return order.written;
}

/* Copies the script between the two lines of "=" in what `ld --verbose` said. */
static size_t copy_script(FILE *from, FILE *to, const struct island_layout *layout)
{
	char *line = NULL;
	size_t room = 0;
	size_t islands = 0;
	bool inside = false;

	while (getline(&line, &room, from) >= 0) {
		if (!strncmp(line, "======", 6)) {
			if (inside)
				break;
			inside = true;
			continue;
		}
		if (!inside)
			continue;
		if (!islands && strstr(line, "*(.text .stub"))
			islands = write_order(to, layout);
		fputs(line, to);
	}
	free(line);
	return islands;
}

size_t script_write(const char *path, const struct island_layout *layout,
		    const struct arguments *arguments, const struct linker *linker)
{
	const char *answer = scratch_file("default-script");
	char **words;
	FILE *from;
	FILE *to;
	size_t islands = 0;
	int status;

	if (!linker->kind->takes_script || arguments_last(arguments, ARGUMENT_SCRIPT))
		return 0;
	words = script_question(arguments, linker);
	status = process_run(linker->path, words, answer, "/dev/null");
	freeargv(words);
	from = status ? NULL : fopen(answer, "r");
	to = from ? fopen(path, "w") : NULL;
	if (to)
		islands = copy_script(from, to, layout);
	if (from)
		fclose(from);
	if (to && fclose(to))
		return 0;
	return islands;
}
