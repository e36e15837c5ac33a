/* Options and their meaning; docs/litifut-post.1 is the long form. Longer than 500 lines, because
 * the list of options, their help and their parsing have to agree. */
#include "common/nearest.h"
#include "common/options.h"
#include "common/version.h"
#include "postproc/formats/phases.h"
#include "postproc/options.h"
#include "postproc/paths/command.h"
#include "postproc/sources/input_bytes.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum long_option {
	OPTION_SORT = LITIFUT_FIRST_LONG,
	OPTION_TOP,
	OPTION_MIN,
	OPTION_FUNCTION,
	OPTION_BY_MODULE,
	OPTION_NO_DEMANGLE,
	OPTION_VENEERS,
	OPTION_PLT,
	OPTION_DEBUG_DIR,
	OPTION_SYSROOT,
	OPTION_NO_MAPS_PATHS,
	OPTION_INCLUDE,
	OPTION_EXCLUDE,
	OPTION_MODULE,
	OPTION_PID,
	OPTION_TID,
	OPTION_COLOR,
	OPTION_FROM,
	OPTION_TO,
	OPTION_ADDRESS_BYTES,
	OPTION_SAMPLE_HERTZ,
	OPTION_LINES,
	OPTION_SOURCE,
	OPTION_NO_PAGER,
	OPTION_PER,
	OPTION_PDF,
	OPTION_PHASE,
	OPTION_MAX_THREADS,
	OPTION_MAX_CALLS,
	OPTION_MAX_UNPACKED,
	OPTION_COMPLETION
};

enum list {
	LIST_DEBUG,
	LIST_INCLUDE,
	LIST_EXCLUDE,
	LIST_MODULE,
	LIST_ONLY,
	LIST_WITHOUT,
	LIST_SOURCE
};
enum numbers { NUMBERS_PID, NUMBERS_TID };

/* The last member says which outputs heed an option; 0: all do. */
/* clang-format off */
static const struct litifut_option options[] = {
	{NULL, 0, NULL, NULL, "Filters, the same in every format (GLOB[,GLOB...], may be repeated):", 0},
	{"include", OPTION_INCLUDE, "GLOB", NULL, "only calls whose caller or callee has such a name", 0},
	{"exclude", OPTION_EXCLUDE, "GLOB", NULL, "no call whose caller or callee has such a name", 0},
	{"module", OPTION_MODULE, "GLOB", NULL, "only calls from or into such modules", 0},
	{"below", 'F', "GLOB", NULL, "only such functions and what they call, at any depth", 0},
	{"not-below", 'N', "GLOB", NULL, "without such functions and what they call", 0},
	{"depth", 'D', "N", NULL, "only N levels", 0},
	{"time-filter", 't', "TIME", NULL, "only calls that took as long (10us), where returns are recorded", 0},
	{"pid", OPTION_PID, "N", NULL, "only these processes", 0},
	{"tid", OPTION_TID, "N", NULL, "only these threads", 0},
	{"from", OPTION_FROM, "X", NULL, "from the event with this number in its thread, a time since the start (1.5s, 20ms), or in each thread a call of a function: NAME, NAME#3", 0},
	{"to", OPTION_TO, "X", NULL, "up to that event, time or call", 0},
	{NULL, 0, NULL, NULL, "Output:", 0},
	{"format", 'f', "FORMAT", NULL, "one of the formats above, or list", 0},
	{"output", 'o', "FILE", LITIFUT_WORDS_FILE, "write there, not to standard output", 0},
	{"top", OPTION_TOP, "N", NULL, "only the first N rows of a table", POST_USES_TOP},
	{"min", OPTION_MIN, "PERCENT", NULL, "leave out what makes less (dot: 0.5; diff: change in percent)", POST_USES_MIN},
	{"function", OPTION_FUNCTION, "GLOB", NULL, "for callers-of, callees-of and histogram", POST_USES_FUNCTION},
	{"lines", OPTION_LINES, NULL, NULL, "source lines from debug information (callers-of, callgrind, html)", POST_USES_LINES},
	{"source", OPTION_SOURCE, "DIR", LITIFUT_WORDS_FOLDER, "a folder whose source files the report shows, with counts (html); or gprof-serial, see below", POST_USES_SOURCE},
	{"sort", OPTION_SORT, "COLUMN", "self total avg min max calls made callers callees name", "self, total, avg, min, max, calls, made, callers, callees or name (report)", POST_USES_SORT},
	{"per", OPTION_PER, "WHAT", "function edge thread", "function, edge or thread: the rows of a table of times (report)", POST_USES_ROWS},
	{"by-module", OPTION_BY_MODULE, NULL, NULL, "one table for each module (report)", POST_USES_BY_MODULE},
	{"phase", OPTION_PHASE, "MARK", NULL, "what is called before and after the first call of a function (GLOB), a time (1.5s) or a mark of the program (#N) (report)", POST_USES_PHASE},
	{"pdf", OPTION_PDF, NULL, NULL, "the picture as PDF, made by Graphviz (dot)", POST_USES_PDF},
	{"plt", OPTION_PLT, NULL, NULL, "PLT entries as functions of their own, NAME@plt", 0},
	{"veneers", OPTION_VENEERS, NULL, NULL, "show the linker's veneers as well as where they lead", 0},
	{"no-demangle", OPTION_NO_DEMANGLE, NULL, NULL, "C++ and Rust names as in the symbol table", 0},
	{"color", OPTION_COLOR, "[=WHEN]", "auto always never", "auto, always or never", 0},
	{"no-pager", OPTION_NO_PAGER, NULL, NULL, "not through $PAGER (less), which a terminal gets otherwise", 0},
	{"quiet", 'q', NULL, NULL, "no summary line", 0},
	{"help", 'h', NULL, NULL, "of a command, if one is given", 0},
	{"version", 'V', NULL, NULL, "print the version", 0},
	{"completion", OPTION_COMPLETION, "SHELL", "bash zsh fish", "print the completion for bash, zsh or fish", 0},
	{NULL, 0, NULL, NULL, "With --source gprof-serial, the format of \"gprof for microcontrollers\" as bytes or hexadecimal text:", 0},
	{"address-bytes", OPTION_ADDRESS_BYTES, "N", "2 3 4", "of an address there (3)", 0},
	{"sample-hz", OPTION_SAMPLE_HERTZ, "N", NULL, "samples a second there, for gmon", 0},
	{NULL, 0, NULL, NULL, "Finding ELF files:", 0},
	{"debug-dir", OPTION_DEBUG_DIR, "DIR", LITIFUT_WORDS_FOLDER, "a folder with debug files, also as .build-id/xx/*.debug", 0},
	{"sysroot", OPTION_SYSROOT, "DIR", LITIFUT_WORDS_FOLDER, "where the device's file system lies on this machine", 0},
	{"no-maps-paths", OPTION_NO_MAPS_PATHS, NULL, NULL, "never open the paths that the maps files name", 0},
	{NULL, 0, NULL, NULL, "Bounds for hostile or huge input:", 0},
	{"max-threads", OPTION_MAX_THREADS, "N", NULL, "threads that are shown apart (65536)", 0},
	{"max-calls", OPTION_MAX_CALLS, "N", NULL, "distinct pairs of call site and callee (1048576)", 0},
	{"max-unpacked", OPTION_MAX_UNPACKED, "SIZE", NULL, "of one compressed file, as 500M or 2G (64G)", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};
/* clang-format on */

/* What the first word can be beside a format. */
static const struct {
	const char *name;
	const char *arguments;
	const char *summary;
	unsigned uses; /* enum post_option_use */
} commands[] = {
	{"callers-of", "FUNCTION [options] PATH...", "who calls a function, with call sites", 0},
	{"callees-of", "FUNCTION [options] PATH...", "what a function calls", 0},
	{"diff", "[options] OLD NEW [ELF...]", "compare two runs", POST_USES_TOP | POST_USES_MIN},
	{"energy", "[options] PATH...", "energy of each function, from a power trace", 0},
	{"path-ids", "[options] ELF...", "paths of each function (Ball-Larus numbers)", 0},
	{"path-plain", "-o FILE ELF", "the program as it was, to be logged for path-sizes", 0},
	{"path-sizes", "[options] ELF LOG", "size of a run in encodings of its paths", 0},
	{"mine", "[options] ELF LOG", "patterns in the paths of a run", 0},
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

static void print_help(void)
{
	fputs("usage: litifut-post [[-f] FORMAT] [-o FILE] [options] PATH...\n", stdout);
	for (size_t i = 0; i < COMMANDS; i++)
		printf("       litifut-post %s %s\n", commands[i].name, commands[i].arguments);
	puts("Shows the calls that LITIFUT recorded. PATH: traces, maps files, ELF files, or\n"
	     "folders with them, in any order.\n\n"
	     "Formats (-f):");
	for (size_t i = 0; post_formats[i]; i++)
		printf("  %-12s %s\n", post_formats[i]->name, post_formats[i]->summary);
	litifut_options_help(stdout, options);
	puts("\nExit status: 0 done, 1 a problem was found, 2 wrong usage. litifut-post(1).");
}

/* Of a command or a format: what it is, and the options that only some others have as well. */
static int print_command_help(const char *word)
{
	const struct post_format *format = post_format_find(word);
	struct litifut_option own[LITIFUT_MOST_OPTIONS + 1];
	unsigned uses = format ? format->uses : 0;
	const char *summary = format ? format->summary : NULL;
	const char *arguments = "[-o FILE] [options] PATH...";
	size_t count = 0;

	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].name, word))
			continue;
		summary = commands[i].summary;
		arguments = commands[i].arguments;
		uses |= commands[i].uses;
	}
	if (!summary)
		return POST_GO_ON;
	printf("usage: litifut-post %s %s\n%s\n", word, arguments, summary);
	for (size_t i = 0; options[i].name || options[i].help; i++) {
		if (options[i].use & uses)
			own[count++] = options[i];
	}
	own[count] = (struct litifut_option){0};
	if (count)
		puts("\nIts options:");
	litifut_options_help(stdout, own);
	puts("\nFilters and all else: litifut-post --help, litifut-post(1).");
	return 0;
}

/* The words of all formats and commands, separated by blanks. The caller frees them. */
static char *all_words(bool with_commands, const char *more)
{
	char *words = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&words, &size);

	if (!memory)
		return NULL;
	fputs(more, memory);
	for (size_t i = 0; post_formats[i]; i++)
		fprintf(memory, "%s ", post_formats[i]->name);
	for (size_t i = 0; with_commands && i < COMMANDS; i++)
		fprintf(memory, "%s ", commands[i].name);
	fclose(memory);
	return words;
}

static int print_completion(const char *shell)
{
	struct litifut_option list[LITIFUT_MOST_OPTIONS + 1];
	struct litifut_command all[64] = {
		{"litifut-post", "", list, LITIFUT_WORDS_FILE},
	};
	char *formats = all_words(false, "list ");
	size_t count = 1;

	memcpy(list, options, sizeof(options));
	for (size_t i = 0; list[i].name || list[i].help; i++) {
		if (list[i].code == 'f')
			list[i].words = formats;
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		const struct litifut_command *path = path_command_find(commands[i].name);

		all[count++] =
			path ? *path
			     : (struct litifut_command){commands[i].name, commands[i].summary, list,
							LITIFUT_WORDS_FILE};
	}
	for (size_t i = 0; post_formats[i] && count < 63; i++) {
		if (!post_formats[i]->asks_for_function)
			all[count++] = (struct litifut_command){post_formats[i]->name,
								post_formats[i]->summary, list,
								LITIFUT_WORDS_FILE};
	}
	bool known = litifut_completion_write(stdout, shell, "litifut-post", all);
	free(formats);
	return known ? 0 : 2;
}

static int usage(const char *message, const char *what)
{
	fprintf(stderr, "litifut-post: %s%s%s; try --help\n", message, what ? " " : "",
		what ? what : "");
	return 2;
}

/* The command or format that may have been meant; NULL: none. */
static const char *nearest_command(const char *word, bool command)
{
	const char *names[64] = {NULL};
	size_t count = 0;

	for (; post_formats[count] && count < 40; count++)
		names[count] = post_formats[count]->name;
	for (size_t i = 0; command && i < COMMANDS; i++)
		names[count++] = commands[i].name;
	return litifut_name_nearest(word, names);
}

static int unknown(const char *what, const char *word, const char *nearest)
{
	if (!nearest)
		return usage(what, word);
	fprintf(stderr, "litifut-post: %s %s; did you mean %s?\n", what, word, nearest);
	return 2;
}

static size_t list_length(char **list)
{
	size_t count = 0;

	while (list && list[count])
		count++;
	return count;
}

/* Adds the parts of "a,b,c" to a NULL-terminated list. A comma inside of
 * brackets belongs to the name of a C++ function. */
static void add_parts(char ***list, const char *text, bool split)
{
	size_t count = list_length(*list);
	int depth = 0;
	const char *start = text;

	for (const char *at = text;; at++) {
		depth += *at == '(' || *at == '<' ? 1 : *at == ')' || *at == '>' ? -1 : 0;
		if (*at && (!split || *at != ',' || depth > 0))
			continue;
		if (at > start) {
			*list = post_reallocate(*list, count + 2, sizeof(**list));
			(*list)[count] = strndup(start, (size_t)(at - start));
			(*list)[++count] = NULL;
		}
		if (!*at)
			break;
		start = at + 1;
	}
}

static bool parse_number(const char *text, uint64_t *value)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*value = strtoull(text, &end, 10);
	return !*end;
}

static bool add_numbers(uint32_t **numbers, size_t *count, const char *text)
{
	char *copy = post_copy_text(text), *rest = copy, *part;
	bool good = true;

	while ((part = strsep(&rest, ","))) {
		uint64_t value;
		if (!parse_number(part, &value) || value > UINT32_MAX) {
			good = false;
			break;
		}
		*numbers = post_reallocate(*numbers, *count + 1, sizeof(**numbers));
		(*numbers)[(*count)++] = (uint32_t)value;
	}
	free(copy);
	return good;
}

/* A number with an optional K, M, G or T. */
static bool parse_size(const char *text, uint64_t *bytes)
{
	static const char units[] = "KMGT";
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	*bytes = strtoull(text, &end, 10);
	const char *unit = *end ? strchr(units, *end) : NULL;
	if (!*end)
		return true;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	if (!unit || end[1] || *bytes > UINT64_MAX >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

/* A number of things, at least one. */
static bool parse_count(const char *text, uint32_t *count)
{
	uint64_t number;

	if (!parse_number(text, &number) || !number || number >= UINT32_MAX)
		return false;
	*count = (uint32_t)number;
	return true;
}

static bool parse_share(const char *text, double *share)
{
	char *end;

	*share = strtod(text, &end) / 100;
	if (*end == '%')
		end++;
	return end > text && !*end && *share >= 0 && *share <= 1000;
}

/* "1.5s", "20ms", "10us", "100ns" */
static bool parse_duration(const char *text, uint64_t *time)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {{"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	char *end;

	double value = strtod(text, &end);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units) && end > text; i++) {
		if (strcmp(end, units[i].name) || !(value >= 0 && value * units[i].ns < 1e19))
			continue;
		*time = (uint64_t)(value * units[i].ns);
		return true;
	}
	return false;
}

/* "parse" or "parse#3": the first, the third call of a function. */
static bool parse_trigger(const char *text, struct post_trigger *trigger)
{
	const char *mark = strrchr(text, '#');

	trigger->number = 1;
	if (!*text || (*text >= '0' && *text <= '9') || mark == text)
		return false;
	if (mark && (!parse_number(mark + 1, &trigger->number) || !trigger->number))
		return false;
	trigger->function = mark ? strndup(text, (size_t)(mark - text)) : post_copy_text(text);
	return true;
}

/* One end of the window: a plain number counts events, a unit makes it a time, all else is a
 * function. */
static bool parse_edge(const char *text, struct post_window *window, uint64_t *event,
		       uint64_t *time, struct post_trigger *trigger)
{
	free((char *)trigger->function);
	trigger->function = NULL;

	if (parse_number(text, event)) {
		window->by_event = true;
		return !window->by_time;
	}
	if (parse_duration(text, time)) {
		window->by_time = true;
		return !window->by_event;
	}
	return parse_trigger(text, trigger);
}

/* "#3", "1.5s", or a glob of functions. */
static void parse_phase(const char *text, struct post_phase *phase)
{
	*phase = (struct post_phase){.text = text};
	phase->by_mark = *text == '#' && parse_number(text + 1, &phase->mark);
	phase->by_time = !phase->by_mark && parse_duration(text, &phase->time_ns);
	if (!phase->by_mark && !phase->by_time)
		phase->function = text;
}

static bool parse_rows(const char *text, unsigned *rows)
{
	static const char *const names[] = {"function", "edge", "thread"};

	for (*rows = 0; *rows < 3; ++*rows) {
		if (!strcmp(text, names[*rows]))
			return true;
	}
	return false;
}

static bool parse_color(const char *when, bool *color)
{
	if (!when || !strcmp(when, "always"))
		*color = true;
	else if (!strcmp(when, "never"))
		*color = false;
	else if (strcmp(when, "auto"))
		return false;
	return true;
}

static const char *const sort_columns[] = {"calls", "made", "callers", "callees", "name", "self",
					   "total", "avg",  "min",     "max",     NULL};

static int parse_option(struct post_arguments *given, int option, const char *value)
{
	uint64_t number;

	switch (option) {
	case 'f':
		if (!strcmp(value, "list")) {
			for (size_t i = 0; post_formats[i]; i++)
				printf("%-12s %s\n", post_formats[i]->name,
				       post_formats[i]->summary);
			return 0;
		}
		given->format = post_format_find(value);
		return given->format
			       ? POST_GO_ON
			       : unknown("unknown format", value, nearest_command(value, false));
	case 'o':
		given->output_path = strcmp(value, "-") ? value : NULL;
		return POST_GO_ON;
	case 'q':
		given->quiet = true;
		return POST_GO_ON;
	case 'h':
		given->help = true;
		return POST_GO_ON;
	case OPTION_COMPLETION:
		return print_completion(value)
			       ? usage("--completion takes bash, zsh or fish, not", value)
			       : 0;
	case 'V':
		printf("litifut-post %s\n", litifut_version);
		return 0;
	case OPTION_SORT:
		given->output.sort = value;
		for (size_t i = 0; sort_columns[i]; i++) {
			if (!strcmp(sort_columns[i], value))
				return POST_GO_ON;
		}
		return usage(
			"--sort takes self, total, avg, min, max, calls, made, callers, callees or "
			"name, not",
			value);
	case OPTION_TOP:
		if (!parse_number(value, &number))
			return usage("--top takes a number, not", value);
		given->output.top = number;
		return POST_GO_ON;
	case OPTION_MIN:
		return parse_share(value, &given->output.min_share)
			       ? POST_GO_ON
			       : usage("--min takes a percentage, not", value);
	case OPTION_FUNCTION:
		given->output.function = value;
		return POST_GO_ON;
	case OPTION_PHASE:
		parse_phase(value, &given->output.phase);
		return POST_GO_ON;
	case OPTION_PDF:
		given->pdf = true;
		return POST_GO_ON;
	case OPTION_NO_PAGER:
		given->pager = false;
		return POST_GO_ON;
	case OPTION_ADDRESS_BYTES:
		if (!parse_number(value, &number) || number < 2 || number > 4)
			return usage("--address-bytes takes 2, 3 or 4, not", value);
		given->inputs.address_bytes = (unsigned)number;
		return POST_GO_ON;
	case OPTION_SAMPLE_HERTZ:
		if (!parse_number(value, &number) || !number || number > UINT32_MAX)
			return usage("--sample-hz takes a number, not", value);
		given->inputs.sample_hertz = (unsigned)number;
		return POST_GO_ON;
	case OPTION_LINES:
		given->session.lines = true;
		return POST_GO_ON;
	case OPTION_SOURCE:
		if (!strcmp(value, "gprof-serial")) {
			given->inputs.gprof_serial = true;
			return POST_GO_ON;
		}
		add_parts(&given->lists[LIST_SOURCE], value, false);
		given->session.lines = true;
		return POST_GO_ON;
	case OPTION_FROM:
		return parse_edge(value, &given->window, &given->window.first_event,
				  &given->window.first_time, &given->window.from)
			       ? POST_GO_ON
			       : usage("--from takes a number, a time or FUNCTION#N, not", value);
	case OPTION_TO:
		return parse_edge(value, &given->window, &given->window.last_event,
				  &given->window.last_time, &given->window.to)
			       ? POST_GO_ON
			       : usage("--to takes a number, a time or FUNCTION#N, not", value);
	case OPTION_BY_MODULE:
		given->output.by_module = true;
		return POST_GO_ON;
	case OPTION_NO_DEMANGLE:
		given->session.demangle = false;
		return POST_GO_ON;
	case OPTION_PLT:
		given->session.plt = true;
		return POST_GO_ON;
	case OPTION_VENEERS:
		given->session.veneers = true;
		return POST_GO_ON;
	case OPTION_DEBUG_DIR:
		add_parts(&given->lists[LIST_DEBUG], value, false);
		return POST_GO_ON;
	case OPTION_SYSROOT:
		given->session.sysroot = value;
		return POST_GO_ON;
	case OPTION_NO_MAPS_PATHS:
		given->session.maps_paths = false;
		return POST_GO_ON;
	case OPTION_INCLUDE:
		add_parts(&given->lists[LIST_INCLUDE], value, true);
		return POST_GO_ON;
	case OPTION_EXCLUDE:
		add_parts(&given->lists[LIST_EXCLUDE], value, true);
		return POST_GO_ON;
	case OPTION_MODULE:
		add_parts(&given->lists[LIST_MODULE], value, true);
		return POST_GO_ON;
	case OPTION_PID:
		return add_numbers(&given->numbers[NUMBERS_PID], &given->session.pid_count, value)
			       ? POST_GO_ON
			       : usage("--pid takes numbers, not", value);
	case OPTION_TID:
		return add_numbers(&given->numbers[NUMBERS_TID], &given->session.tid_count, value)
			       ? POST_GO_ON
			       : usage("--tid takes numbers, not", value);
	case OPTION_PER:
		return parse_rows(value, &given->output.rows)
			       ? POST_GO_ON
			       : usage("--per takes function, edge or thread, not", value);
	case 'F':
		add_parts(&given->lists[LIST_ONLY], value, true);
		return POST_GO_ON;
	case 'N':
		add_parts(&given->lists[LIST_WITHOUT], value, true);
		return POST_GO_ON;
	case 'D':
		return parse_count(value, &given->filter.deepest)
			       ? POST_GO_ON
			       : usage("--depth takes a number, not", value);
	case 't':
		return parse_duration(value, &given->filter.shortest_ns)
			       ? POST_GO_ON
			       : usage("--time-filter takes a time such as 10us, not", value);
	case OPTION_MAX_THREADS:
		return parse_count(value, &given->session.most_threads)
			       ? POST_GO_ON
			       : usage("--max-threads takes a number, not", value);
	case OPTION_MAX_CALLS:
		return parse_count(value, &given->session.most_calls)
			       ? POST_GO_ON
			       : usage("--max-calls takes a number, not", value);
	case OPTION_MAX_UNPACKED:
		if (!parse_size(value, &number))
			return usage("--max-unpacked takes a size, not", value);
		post_input_limit(number);
		return POST_GO_ON;
	case OPTION_COLOR:
		return parse_color(value, &given->output.color)
			       ? POST_GO_ON
			       : usage("--color takes auto, always or never, not", value);
	}
	return usage("try", NULL);
}

/* The first word may be a command: each is short for options. */
static int parse_command(struct post_arguments *given, int count, char **arguments)
{
	const char *word = optind < count ? arguments[optind] : "";
	const struct post_format *format = post_format_find(word);

	if (!strcmp(word, "diff")) {
		given->diff = true;
		optind++;
		return count - optind >= 2 ? POST_GO_ON : usage("diff takes two runs", NULL);
	}
	if (*word && access(word, F_OK) == 0)
		return POST_GO_ON;
	if (!format) /* or a file that is not there: that will be told */
		return nearest_command(word, true) && !strchr(word, '/')
			       ? unknown("no such command or file:", word,
					 nearest_command(word, true))
			       : POST_GO_ON;
	optind++;
	if (!format->asks_for_function) { /* as if after -f */
		given->format = format;
		return POST_GO_ON;
	}
	given->format = format;
	if (given->output.function) /* --function: all that follows is paths */
		return POST_GO_ON;
	if (optind == count)
		return usage("which function? It comes after", word);
	if (optind + 1 == count && access(arguments[optind], F_OK) == 0) {
		fprintf(stderr,
			"litifut-post: which function? It comes between %s and %s; try --help\n",
			word, arguments[optind]);
		return 2;
	}
	given->output.function = arguments[optind++];
	return POST_GO_ON;
}

/* Options that are given and that this output does not heed. */
static void warn_of_unused(const struct post_arguments *given)
{
	const struct {
		int code;
		bool given;
	} some[] = {
		{OPTION_TOP, given->output.top != 0},
		{OPTION_SORT, given->output.sort != NULL},
		{OPTION_MIN, given->output.min_share >= 0},
		{OPTION_BY_MODULE, given->output.by_module},
		{OPTION_FUNCTION, given->output.function != NULL},
		{OPTION_PER, given->output.rows != 0},
		{OPTION_LINES, given->session.lines && !given->lists[LIST_SOURCE]},
		{OPTION_SOURCE, given->lists[LIST_SOURCE] != NULL},
		{OPTION_PDF, given->pdf},
		{OPTION_PHASE, given->output.phase.text != NULL},
		{'f', given->diff && given->format != post_formats[0]},
	};
	unsigned uses = given->diff ? POST_USES_TOP | POST_USES_MIN : given->format->uses;

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		const struct litifut_option *option = options;
		while (!option->name || option->code != some[i].code)
			option++;
		if (some[i].given && !(uses & option->use))
			fprintf(stderr, "litifut-post: warning: %s%.*s has no effect on %s\n",
				option->code == 'f' ? "-" : "--", option->code == 'f' ? 1 : 40,
				option->name, given->diff ? "diff" : given->format->name);
	}
}

/* getopt() has found something wrong in the last argument that it looked at. `code`: of the
 * option, 0: there is no such option with a long name. */
static int wrong_option(int count, char **arguments, int code, bool incomplete)
{
	const char *word = optind > 0 && optind <= count ? arguments[optind - 1] : "";
	const char letter[] = {'-', (char)code, '\0'};

	if (incomplete)
		return usage("an argument is missing behind", word);
	if (code >= LITIFUT_FIRST_LONG || (code && !strncmp(word, "--", 2)))
		return usage("no argument is possible in", word);
	if (code)
		return usage("no such option:", letter);
	const char *nearest = litifut_option_nearest(options, word);
	if (!nearest)
		return usage("no such option:", word);
	fprintf(stderr, "litifut-post: no such option: %s; did you mean --%s?\n", word, nearest);
	return 2;
}

int post_arguments_parse(struct post_arguments *given, int count, char **arguments)
{
	struct option list[LITIFUT_MOST_OPTIONS + 1];
	char letters[3 * LITIFUT_MOST_OPTIONS] = ":";
	int option, status;

	*given = (struct post_arguments){
		.pager = true,
		.format = post_formats[0],
		.session = {.demangle = true, .maps_paths = true},
		.output = {.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"), .min_share = -1},
		.window = {.last_event = UINT64_MAX, .last_time = UINT64_MAX},
	};
	add_parts(&given->lists[LIST_DEBUG], "/usr/lib/debug", false);
	opterr = 0;
	litifut_options_getopt(options, list, letters);
	while ((option = getopt_long(count, arguments, letters, list, NULL)) != -1) {
		if (option == '?' || option == ':')
			return wrong_option(count, arguments, optopt, option == ':');
		status = parse_option(given, option, optarg);
		if (status != POST_GO_ON)
			return status;
	}
	if (given->help) {
		status = optind < count ? print_command_help(arguments[optind]) : POST_GO_ON;
		if (status == POST_GO_ON)
			print_help();
		return 0;
	}
	status = parse_command(given, count, arguments);
	if (status != POST_GO_ON)
		return status;
	if (given->format->asks_for_function && !given->output.function)
		return usage("--function is missing for", given->format->name);
	if (optind == count)
		return usage("no trace was given", NULL);
	if (given->output.phase.text && !strcmp(given->format->name, post_format_phases.name))
		given->format = &post_format_phases;
	warn_of_unused(given);
	if (given->output_path) {
		given->output.color = false;
		given->pager = false;
	}
	if (given->format->folder && (!given->output_path || given->diff))
		return usage("-o FOLDER is missing: a folder is what is written by",
			     given->format->name);
	if (given->pdf && !(given->format->uses & POST_USES_PDF))
		given->pdf = false;
	if (given->pdf && !given->output_path)
		return usage("-o FILE is missing for", "--pdf");
	if (given->format->interactive) {
		given->pager = false;
		if (given->output_path || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
			return usage("a terminal is needed, and no -o, by", given->format->name);
	}
	if (given->format->binary && !given->output_path && isatty(STDOUT_FILENO))
		return usage("-o FILE is missing: not for a terminal is", given->format->name);
	given->paths = arguments + optind;
	given->path_count = (size_t)(count - optind);
	given->session.debug_dirs = (const char *const *)given->lists[LIST_DEBUG];
	given->session.include = (const char *const *)given->lists[LIST_INCLUDE];
	given->session.exclude = (const char *const *)given->lists[LIST_EXCLUDE];
	given->session.modules = (const char *const *)given->lists[LIST_MODULE];
	given->output.sources = (const char *const *)given->lists[LIST_SOURCE];
	given->filter.only = (const char *const *)given->lists[LIST_ONLY];
	given->filter.without = (const char *const *)given->lists[LIST_WITHOUT];
	given->session.pids = given->numbers[NUMBERS_PID];
	given->session.tids = given->numbers[NUMBERS_TID];
	return POST_GO_ON;
}

void post_arguments_release(struct post_arguments *given)
{
	for (size_t i = 0; i < sizeof(given->lists) / sizeof(*given->lists); i++) {
		for (char **text = given->lists[i]; text && *text; text++)
			free(*text);
		free(given->lists[i]);
	}
	for (size_t i = 0; i < sizeof(given->numbers) / sizeof(*given->numbers); i++)
		free(given->numbers[i]);
	free((char *)given->window.from.function);
	free((char *)given->window.to.function);
}
