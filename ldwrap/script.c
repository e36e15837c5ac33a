/* On the command line an object can only stand between other objects and
 * archives, and --sort-section undoes even that. In a linker script the code of
 * each file, also of a member of an archive, and in a large file each section,
 * can be named, so that an island can come after it. The statements go before
 * the one of the built-in script that takes all code; whatever is not named
 * still goes there. */
#include "ldwrap/script.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "ldwrap/process.h"
#include "ldwrap/symbols.h"

/* A statement of the script that takes code. */
struct statement {
	char *inputs; /* "(PATTERN...)" and the end of its line */
	struct text_list patterns;
	bool sorted; /* by the names of sections, not in the order of the files */
	uint64_t size;
};

/* In the order of the script: the last one takes most of the code, those before it sections such as
 * .text.unlikely and .text.startup. */
struct statements {
	struct statement *items;
	size_t count;
	uint64_t early; /* bytes of code that all but the last one take */
	size_t *of;     /* the statement that takes this piece of the map; `count`: none */
};

/* In a pattern of a script these would not stand for themselves. */
static const char special[] = "*?[]\"\\:";

size_t script_island_count(const struct map *map, uint32_t interval)
{
	uint64_t total = 0;

	for (size_t i = 0; i < map->count; i++)
		if (map->pieces[i].text)
			total += map->pieces[i].size;
	/* An interval is cut short by at most half of it at the end of a file. Some begin or end
	 * with the code before the tracer. */
	return (size_t)(2 * total / interval) + 4;
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

/* Another file whose name has another letter in place of a special one is taken as well: only the
 * order differs then. The brackets cause a name without special letters to be compared as a
 * pattern. */
static void write_pattern(FILE *to, const char *name, size_t length, bool brackets)
{
	for (size_t i = 0; i < length; i++) {
		if (strchr(special, name[i])) {
			fputc('?', to);
		} else if (brackets && isalnum((unsigned char)name[i])) {
			fprintf(to, "[%c]", name[i]);
			brackets = false;
		} else {
			fputc(name[i], to);
		}
	}
}

/* A file of the command line, which is ":FILE" in a script. A plain name would do, but for each
 * section and each such name GNU ld 2.40 searches all inputs. */
static void write_input(FILE *to, const char *file)
{
	fputs("    \":", to);
	write_pattern(to, file, strlen(file), false);
	fputc('"', to);
}

/* "ARCHIVE(MEMBER)" of a map is "ARCHIVE:MEMBER" in a script. Members of thin archives have names
 * of their own in the map, which patterns are compared with. */
static void write_file_name(FILE *to, const struct symbols *inputs, const char *file)
{
	size_t length = strlen(file);
	const char *open = length && file[length - 1] == ')' ? strrchr(file, '(') : NULL;

	if (made_object(file)) {
		fprintf(to, "    *%s", made_object(file));
	} else if (symbols_defines(inputs, file)) {
		write_input(to, file);
	} else if (open) {
		fputs("    \"", to);
		write_pattern(to, file, (size_t)(open - file), false);
		fputc(':', to);
		write_pattern(to, open + 1, strlen(open + 1) - 1, false);
		fputc('"', to);
	} else {
		fputs("    \"", to);
		write_pattern(to, file, length, true);
		fputc('"', to);
	}
}

/* What stands in front of the patterns of a statement, or NULL: this line takes no code. */
static const char *patterns_of(const char *line, bool *sorted)
{
	static const char sort[] = "SORT(";

	line += strspn(line, " \t");
	if (strncmp(line, "*(", 2))
		return NULL;
	line += 2;
	*sorted = !strncmp(line, sort, strlen(sort));
	if (*sorted)
		line += strlen(sort);
	return strncmp(line, ".text", 5) ? NULL : line;
}

/* All lines of `from` up to the statement that takes most code. False: it is not there. */
static bool read_statements(FILE *from, struct statements *statements)
{
	char *line = NULL;
	size_t room = 0;
	bool found = false;

	while (!found && getline(&line, &room, from) >= 0) {
		bool sorted;
		const char *patterns = patterns_of(line, &sorted);
		struct statement *statement;

		if (!patterns)
			continue;
		statements->items = xrealloc(statements->items,
					     (statements->count + 1) * sizeof(*statements->items));
		statement = &statements->items[statements->count++];
		*statement = (struct statement){
			.inputs = xstrdup(strchr(line, '(')),
			.sorted = sorted,
		};
		found = !strncmp(patterns, ".text .stub", 11);
		while (*patterns == '.') {
			size_t length = strcspn(patterns, " )\n");
			char *pattern = xstrndup(patterns, length);

			text_list_append(&statement->patterns, pattern);
			free(pattern);
			patterns += length + strspn(patterns + length, " ");
		}
	}
	free(line);
	rewind(from);
	return found;
}

static bool takes(const struct statement *statement, const char *section)
{
	for (size_t i = 0; i < statement->patterns.count; i++) {
		const char *pattern = statement->patterns.items[i];
		const size_t same = strcspn(pattern, "*?[");

		if (!strncmp(section, pattern, same) && !fnmatch(pattern + same, section + same, 0))
			return true;
	}
	return false;
}

static void assign_pieces(struct statements *statements, const struct map *map)
{
	const size_t last = statements->count - 1;

	statements->of = xcalloc(map->count + 1, sizeof(*statements->of));
	for (size_t i = 0; i < map->count; i++) {
		size_t number = map->pieces[i].text ? 0 : statements->count;

		while (number < last && !takes(&statements->items[number], map->pieces[i].text))
			number++;
		statements->of[i] = number;
		if (number <= last)
			statements->items[number].size += map->pieces[i].size;
		if (number < last)
			statements->early += map->pieces[i].size;
	}
}

static void release_statements(struct statements *statements)
{
	for (size_t i = 0; i < statements->count; i++) {
		free(statements->items[i].inputs);
		text_list_release(&statements->items[i].patterns);
	}
	free(statements->items);
	free(statements->of);
}

struct order {
	FILE *to;
	const struct island_layout *layout;
	const struct statements *statements;
	const struct symbols *inputs; /* defined: a file of the command line */
	uint32_t since;               /* bytes of code since the last island, or the tracer */
	size_t written;
};

static void write_island(struct order *order)
{
	if (order->written == order->layout->island_count)
		return;
	write_input(order->to, order->layout->islands[order->written++]);
	fputs("(.text)\n", order->to);
	order->since = 0;
}

/* Makes room for `size` bytes before the next island would be too far. */
static void advance(struct order *order, uint32_t size)
{
	if (order->since + (uint64_t)size > order->layout->interval && order->since)
		write_island(order);
	order->since += size;
}

/* The pieces of one file that one statement takes, which need not stand together in the map. */
struct file_pieces {
	size_t first, last;
	uint64_t size;
};

/* `next` has the piece behind each of them. */
static void write_file(struct order *order, const struct statement *statement,
		       const struct file_pieces *pieces, const size_t *next)
{
	const struct map *map = order->layout->map;
	const char *file = map->pieces[pieces->first].file;

	if (!statement->sorted && pieces->size <= order->layout->interval / 4) {
		advance(order, (uint32_t)pieces->size);
		write_file_name(order->to, order->inputs, file);
		fputs(statement->inputs, order->to);
		return;
	}
	for (size_t i = pieces->first;; i = next[i]) {
		const struct map_piece *piece = &map->pieces[i];

		if (!strpbrk(piece->text, special)) {
			advance(order, piece->size);
			write_file_name(order->to, order->inputs, file);
			fprintf(order->to, "(%s)\n", piece->text);
		}
		if (i == pieces->last)
			break;
	}
}

/* All that this statement takes, with islands between. */
static void write_files(struct order *order, size_t number)
{
	const struct island_layout *layout = order->layout;
	const struct map *map = layout->map;
	const struct statement *statement = &order->statements->items[number];
	struct file_pieces *files = xcalloc(map->count + 1, sizeof(*files));
	size_t *next = xcalloc(map->count + 1, sizeof(*next));
	size_t count = 0;
	struct symbols seen;
	unsigned others; /* so many files are none of the program */

	symbols_open(&seen);
	for (size_t i = 0; layout->first[i]; i++)
		symbols_get(&seen, layout->first[i]);
	/* The map may be of a link that had islands, elsewhere. */
	for (size_t i = 0; i < layout->island_count; i++)
		symbols_get(&seen, layout->islands[i]);
	others = seen.count;
	for (size_t i = 0; i < map->count; i++) {
		const struct map_piece *piece = &map->pieces[i];
		unsigned file;

		if (order->statements->of[i] != number)
			continue;
		file = statement->sorted ? (unsigned)count + others
					 : symbols_get(&seen, piece->file)->number;
		if (file < others)
			continue;
		file -= others;
		if (file == count)
			files[count++].first = i;
		else
			next[files[file].last] = i;
		files[file].last = i;
		files[file].size += piece->size;
	}
	symbols_close(&seen);
	for (size_t i = 0; i < count; i++)
		write_file(order, statement, &files[i], next);
	free(next);
	free(files);
}

/* What goes before the statement that takes most code: the tracer, and then all that it takes. */
static void write_main_code(struct order *order)
{
	const struct island_layout *layout = order->layout;

	if (order->since + layout->since > layout->interval)
		write_island(order);
	for (size_t i = 0; layout->first[i]; i++) {
		write_input(order->to, layout->first[i]);
		fputs("(.text .text.*)\n", order->to);
	}
	order->since = layout->since;
	write_files(order, order->statements->count - 1);
	write_island(order);
}

/* What goes before another one. Few programs have so much of this code that the tracer behind it is
 * out of reach. Where an island before all that a statement takes is enough, no file is named,
 * since a linker compares each name with those of all files. */
static void write_early_code(struct order *order, size_t number)
{
	const struct statements *statements = order->statements;
	const struct island_layout *layout = order->layout;
	const uint64_t size = statements->items[number].size;

	if (statements->early + layout->since <= layout->reach / 8 * 7)
		return;
	if (size > layout->interval)
		write_files(order, number);
	else if (size)
		advance(order, (uint32_t)size);
}

/* Copies the script between the two lines of "=" in what `ld --verbose` said. */
static size_t copy_script(FILE *from, FILE *to, const struct island_layout *layout,
			  const struct symbols *inputs)
{
	struct statements statements = {.items = NULL};
	struct order order = {
		.to = to,
		.layout = layout,
		.statements = &statements,
		.inputs = inputs,
		.since = layout->interval / 2, /* there is none before the first code */
	};
	size_t next = 0;
	char *line = NULL;
	size_t room = 0;
	bool inside = false;

	if (read_statements(from, &statements))
		assign_pieces(&statements, layout->map);
	else
		next = statements.count;
	while (getline(&line, &room, from) >= 0) {
		bool sorted;

		if (!strncmp(line, "======", 6)) {
			if (inside)
				break;
			inside = true;
			continue;
		}
		if (!inside)
			continue;
		if (next < statements.count && patterns_of(line, &sorted)) {
			if (next + 1 < statements.count)
				write_early_code(&order, next);
			else
				write_main_code(&order);
			next++;
		}
		fputs(line, to);
	}
	free(line);
	release_statements(&statements);
	return order.written;
}

size_t script_write(const char *path, const struct island_layout *layout,
		    const struct arguments *arguments, const struct linker *linker)
{
	const char *answer = scratch_file("default-script");
	struct symbols inputs;
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
	symbols_open(&inputs);
	for (size_t i = 0; i < arguments->count; i++)
		if (arguments->items[i].kind == ARGUMENT_INPUT)
			symbols_get(&inputs, arguments->items[i].value)->defined = true;
	if (to)
		islands = copy_script(from, to, layout, &inputs);
	symbols_close(&inputs);
	if (from)
		fclose(from);
	if (to && fclose(to))
		return 0;
	return islands;
}
