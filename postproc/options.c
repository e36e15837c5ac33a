/* Options and their meaning; docs/litifut-post.1 is the long form. Longer than 500 lines, because
 * the list of options, their help and their parsing have to agree. */
#include "common/nearest.h"
#include "common/version.h"
#include "postproc/options.h"
#include "postproc/sources/input_bytes.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum long_option {
	OPTION_SORT = 256,
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
	OPTION_LINES,
	OPTION_NO_PAGER,
	OPTION_PER,
	OPTION_MAX_THREADS,
	OPTION_MAX_CALLS,
	OPTION_MAX_UNPACKED
};

enum list { LIST_DEBUG, LIST_INCLUDE, LIST_EXCLUDE, LIST_MODULE, LIST_ONLY, LIST_WITHOUT };
enum numbers { NUMBERS_PID, NUMBERS_TID };

static const struct option long_options[] = {
	{"format", required_argument, NULL, 'f'},
	{"output", required_argument, NULL, 'o'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{"sort", required_argument, NULL, OPTION_SORT},
	{"top", required_argument, NULL, OPTION_TOP},
	{"min", required_argument, NULL, OPTION_MIN},
	{"function", required_argument, NULL, OPTION_FUNCTION},
	{"lines", no_argument, NULL, OPTION_LINES},
	{"from", required_argument, NULL, OPTION_FROM},
	{"to", required_argument, NULL, OPTION_TO},
	{"by-module", no_argument, NULL, OPTION_BY_MODULE},
	{"no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE},
	{"plt", no_argument, NULL, OPTION_PLT},
	{"veneers", no_argument, NULL, OPTION_VENEERS},
	{"debug-dir", required_argument, NULL, OPTION_DEBUG_DIR},
	{"sysroot", required_argument, NULL, OPTION_SYSROOT},
	{"no-maps-paths", no_argument, NULL, OPTION_NO_MAPS_PATHS},
	{"include", required_argument, NULL, OPTION_INCLUDE},
	{"exclude", required_argument, NULL, OPTION_EXCLUDE},
	{"module", required_argument, NULL, OPTION_MODULE},
	{"pid", required_argument, NULL, OPTION_PID},
	{"tid", required_argument, NULL, OPTION_TID},
	{"no-pager", no_argument, NULL, OPTION_NO_PAGER},
	{"per", required_argument, NULL, OPTION_PER},
	{"below", required_argument, NULL, 'F'},
	{"not-below", required_argument, NULL, 'N'},
	{"depth", required_argument, NULL, 'D'},
	{"time-filter", required_argument, NULL, 't'},
	{"max-threads", required_argument, NULL, OPTION_MAX_THREADS},
	{"max-calls", required_argument, NULL, OPTION_MAX_CALLS},
	{"max-unpacked", required_argument, NULL, OPTION_MAX_UNPACKED},
	{"color", optional_argument, NULL, OPTION_COLOR},
	{NULL, 0, NULL, 0},
};

static void print_help(void)
{
	puts("usage: litifut-post [[-f] FORMAT] [-o FILE] [options] PATH...\n"
	     "       litifut-post callers-of|callees-of FUNCTION [options] PATH...\n"
	     "       litifut-post diff [options] OLD NEW [ELF...]\n"
	     "Shows the calls that LITIFUT recorded. PATH: traces, maps files, ELF files, or\n"
	     "folders with them, in any order.\n\n"
	     "Formats (-f):");
	for (size_t i = 0; post_formats[i]; i++)
		printf("  %-12s %s\n", post_formats[i]->name, post_formats[i]->summary);
	puts("\nFilters, the same in every format (GLOB[,GLOB...], may be repeated):\n"
	     "  --include GLOB     only calls whose caller or callee has such a name\n"
	     "  --exclude GLOB     no call whose caller or callee has such a name\n"
	     "  --module GLOB      only calls from or into such modules\n"
	     "  -F, --below GLOB   only such functions and what they call, at any depth\n"
	     "  -N, --not-below GLOB  without such functions and what they call\n"
	     "  -D, --depth N      only N levels\n"
	     "  -t, --time-filter TIME  only calls that took as long (10us), where returns are "
	     "recorded\n"
	     "  --pid N, --tid N   only these processes, these threads\n"
	     "  --from X, --to X   from, up to the event with this number in its thread, or, in\n"
	     "                     traces with a clock, a time since the start: 1.5s, 20ms\n\n"
	     "Output:\n"
	     "  -o, --output FILE  write there, not to standard output\n"
	     "  --top N            only the first N rows of a table\n"
	     "  --min PERCENT      leave out what makes less (dot: 0.5; diff: change in percent)\n"
	     "  --function GLOB    for callers-of and callees-of\n"
	     "  --lines            source lines from debug information (callers-of, callgrind)\n"
	     "  --sort COLUMN      self, total, avg, min, max, calls, made, callers, callees or\n"
	     "                     name (report)\n"
	     "  --per WHAT         function, edge or thread: the rows of a table of times "
	     "(report)\n"
	     "  --by-module        one table for each module (report)\n"
	     "  --plt              PLT entries as functions of their own, NAME@plt\n"
	     "  --veneers          show the linker's veneers as well as where they lead\n"
	     "  --no-demangle      C++ and Rust names as the linker knows them\n"
	     "  --color[=WHEN]     auto, always or never\n"
	     "  --no-pager         not through $PAGER (less), which a terminal gets otherwise\n"
	     "  -q, --quiet        no summary line\n"
	     "  -h, --help, -V, --version\n\n"
	     "Finding ELF files:\n"
	     "  --debug-dir DIR    a folder with debug files, also as .build-id/xx/*.debug\n"
	     "  --sysroot DIR      where the device's file system lies on this machine\n"
	     "  --no-maps-paths    never open the paths that the maps files name\n\n"
	     "Bounds for hostile or huge input:\n"
	     "  --max-threads N    threads that are shown apart (65536)\n"
	     "  --max-calls N      distinct pairs of call site and callee (1048576)\n"
	     "  --max-unpacked SIZE  of one compressed file, as 500M or 2G (64G)\n\n"
	     "Exit status: 0 done, 1 a problem was found, 2 wrong usage. litifut-post(1).");
}

static int usage(const char *message, const char *what)
{
	fprintf(stderr, "litifut-post: %s%s%s; try --help\n", message, what ? " " : "",
		what ? what : "");
	return 2;
}

/* The command or format that somebody may have meant; NULL: none. */
static const char *nearest_command(const char *word, bool command)
{
	const char *names[32] = {NULL};
	size_t count = 0;

	for (; post_formats[count] && count < 30; count++)
		names[count] = post_formats[count]->name;
	if (command)
		names[count] = "diff";
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

/* One end of the window: a plain number counts events, a unit makes it a time. */
static bool parse_edge(const char *text, struct post_window *window, uint64_t *event,
		       uint64_t *time)
{
	if (parse_number(text, event)) {
		window->by_event = true;
		return !window->by_time;
	}
	window->by_time |= parse_duration(text, time);
	return window->by_time && !window->by_event;
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
		print_help();
		return 0;
	case 'V':
		puts("litifut-post " LITIFUT_VERSION);
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
	case OPTION_NO_PAGER:
		given->pager = false;
		return POST_GO_ON;
	case OPTION_LINES:
		given->session.lines = true;
		return POST_GO_ON;
	case OPTION_FROM:
		return parse_edge(value, &given->window, &given->window.first_event,
				  &given->window.first_time)
			       ? POST_GO_ON
			       : usage("--from takes a number or a time, not", value);
	case OPTION_TO:
		return parse_edge(value, &given->window, &given->window.last_event,
				  &given->window.last_time)
			       ? POST_GO_ON
			       : usage("--to takes a number or a time, not", value);
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
	if (optind == count)
		return usage("which function? It comes after", word);
	given->format = format;
	given->output.function = arguments[optind++];
	return POST_GO_ON;
}

/* Options that are given and that this output does not heed. */
static void warn_of_unused(const struct post_arguments *given)
{
	const struct {
		const char *name;
		unsigned use;
		bool given;
	} options[] = {
		{"--top", POST_USES_TOP, given->output.top != 0},
		{"--sort", POST_USES_SORT, given->output.sort != NULL},
		{"--min", POST_USES_MIN, given->output.min_share >= 0},
		{"--by-module", POST_USES_BY_MODULE, given->output.by_module},
		{"--function", POST_USES_FUNCTION, given->output.function != NULL},
		{"--per", POST_USES_ROWS, given->output.rows != 0},
		{"--lines", POST_USES_LINES, given->session.lines},
		{"-f", 0, given->diff && given->format != post_formats[0]},
	};
	unsigned uses = given->diff ? POST_USES_TOP | POST_USES_MIN : given->format->uses;

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		if (options[i].given && !(uses & options[i].use))
			fprintf(stderr, "litifut-post: warning: %s has no effect on %s\n",
				options[i].name, given->diff ? "diff" : given->format->name);
	}
}

int post_arguments_parse(struct post_arguments *given, int count, char **arguments)
{
	int option, status;

	*given = (struct post_arguments){
		.pager = true,
		.format = post_formats[0],
		.session = {.demangle = true, .maps_paths = true},
		.output = {.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"), .min_share = -1},
		.window = {.last_event = UINT64_MAX, .last_time = UINT64_MAX},
	};
	add_parts(&given->lists[LIST_DEBUG], "/usr/lib/debug", false);
	while ((option = getopt_long(count, arguments, "f:o:F:N:D:t:qhV", long_options, NULL)) !=
	       -1) {
		if (option == '?')
			return 2;
		status = parse_option(given, option, optarg);
		if (status != POST_GO_ON)
			return status;
	}
	status = parse_command(given, count, arguments);
	if (status != POST_GO_ON)
		return status;
	if (given->format->asks_for_function && !given->output.function)
		return usage("--function is missing for", given->format->name);
	if (optind == count)
		return usage("no trace was given", NULL);
	warn_of_unused(given);
	if (given->output_path) {
		given->output.color = false;
		given->pager = false;
	}
	if (given->format->binary && !given->output_path && isatty(STDOUT_FILENO))
		return usage("-o FILE is missing: not for a terminal is", given->format->name);
	given->paths = arguments + optind;
	given->path_count = (size_t)(count - optind);
	given->session.debug_dirs = (const char *const *)given->lists[LIST_DEBUG];
	given->session.include = (const char *const *)given->lists[LIST_INCLUDE];
	given->session.exclude = (const char *const *)given->lists[LIST_EXCLUDE];
	given->session.modules = (const char *const *)given->lists[LIST_MODULE];
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
}
