/* What the options of a command line ask for; docs/litifut-post.1 is the long form. More than 500
 * lines, as each option takes a few, with what is said of a wrong value. */
#include "postproc/options.h"

#include "common/options.h"
#include "common/version.h"
#include "postproc/formats/flows.h"
#include "postproc/formats/phases.h"
#include "postproc/option_list.h"
#include "postproc/option_values.h"
#include "postproc/sources/input_bytes.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LAST_MOST 67108863 /* room for all of them is set aside */
#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define COUNT_BOUNDS "takes a number from 1 to 4294967294, not" /* post_value_count() */

enum list {
	LIST_DEBUG,
	LIST_INCLUDE,
	LIST_EXCLUDE,
	LIST_MODULE,
	LIST_ONLY,
	LIST_WITHOUT,
	LIST_SOURCE,
	LIST_ORDER
};
enum numbers { NUMBERS_PID, NUMBERS_TID };

static int usage(const char *message, const char *what)
{
	fprintf(stderr, "litifut-post: %s%s%s; try --help\n", message, what ? " " : "",
		what ? what : "");
	return 2;
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

static bool is_folder(const char *path)
{
	struct stat about;

	return !stat(path, &about) && S_ISDIR(about.st_mode);
}

/* Arguments are not recorded where --order is for. */
static bool is_order(const char *text)
{
	struct post_flows flows;
	const bool read = post_flows_read(&flows, text);
	const bool plain = read && !flows.by_send && !flows.by_receive;

	if (read)
		post_flows_release(&flows);
	return plain;
}

static const char *const sort_columns[] = {"calls", "made", "callers", "callees", "name", "self",
					   "total", "avg",  "min",     "max",     NULL};

static int parse_option(struct post_arguments *given, int option, const char *value)
{
	struct post_flows flows;
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
		return given->format ? POST_GO_ON
				     : unknown("unknown format", value,
					       post_options_nearest(value, false));
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
		return post_options_completion(value)
			       ? 0
			       : usage("--completion takes bash, zsh or fish, not", value);
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
		if (!post_value_number(value, &number))
			return usage("--top takes a number, not", value);
		given->output.top = number;
		return POST_GO_ON;
	case OPTION_LAST:
		if (!post_value_number(value, &number) || !number || number > LAST_MOST)
			return usage("--last takes a number from 1 to " TEXT(LAST_MOST) ", not",
				     value);
		given->output.last = (uint32_t)number;
		return POST_GO_ON;
	case OPTION_MIN:
		return post_value_share(value, &given->output.min_share)
			       ? POST_GO_ON
			       : usage("--min takes a percentage, not", value);
	case OPTION_FUNCTION:
		given->output.function = value;
		return POST_GO_ON;
	case OPTION_PHASE:
		post_value_phase(value, &given->output.phase);
		return POST_GO_ON;
	case OPTION_PDF:
		given->pdf = true;
		return POST_GO_ON;
	case OPTION_NO_PAGER:
		given->pager = false;
		return POST_GO_ON;
	case OPTION_ADDRESS_BYTES:
		if (!post_value_number(value, &number) || number < 2 || number > 4)
			return usage("--address-bytes takes 2, 3 or 4, not", value);
		given->inputs.address_bytes = (unsigned)number;
		return POST_GO_ON;
	case OPTION_SAMPLE_HERTZ:
		if (!post_value_number(value, &number) || !number || number > UINT32_MAX)
			return usage("--sample-hz takes a number from 1 to 4294967295, not", value);
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
		return is_folder(value)
			       ? POST_GO_ON
			       : usage("--source takes a folder or gprof-serial, not", value);
	case OPTION_FROM:
		return post_value_edge(value, &given->window, &given->window.first_event,
				       &given->window.first_time, &given->window.from)
			       ? POST_GO_ON
			       : usage("--from takes a number, a time or FUNCTION#N, not", value);
	case OPTION_TO:
		return post_value_edge(value, &given->window, &given->window.last_event,
				       &given->window.last_time, &given->window.to)
			       ? POST_GO_ON
			       : usage("--to takes a number, a time or FUNCTION#N, not", value);
	case OPTION_FLOW:
		given->output.flow = value;
		return post_flows_read(&flows, value)
			       ? (post_flows_release(&flows), POST_GO_ON)
			       : usage("--flow takes SEND=RECEIVE, names of functions, not", value);
	case OPTION_ORDER:
		add_parts(&given->lists[LIST_ORDER], value, false);
		if (list_length(given->lists[LIST_ORDER]) > POST_ORDERS_MOST)
			return usage("--order is there too often: at most " TEXT(
					     POST_ORDERS_MOST) " times",
				     NULL);
		return is_order(value)
			       ? POST_GO_ON
			       : usage("--order takes SEND=RECEIVE, names of functions, not",
				       value);
	case OPTION_BY_MODULE:
		given->output.by_module = true;
		return POST_GO_ON;
	case OPTION_MERGE_RECURSION:
		given->output.merge_recursion = true;
		return POST_GO_ON;
	case OPTION_NO_DEMANGLE:
		given->session.demangle = false;
		return POST_GO_ON;
	case OPTION_PLT:
		given->session.plt = true;
		return POST_GO_ON;
	case OPTION_RAW:
		given->session.raw = true;
		return POST_GO_ON;
	case OPTION_VENEERS:
		given->session.veneers = true;
		return POST_GO_ON;
	case OPTION_DEBUG_DIR:
		add_parts(&given->lists[LIST_DEBUG], value, false);
		return is_folder(value) ? POST_GO_ON
					: usage("--debug-dir takes a folder, not", value);
	case OPTION_SYSROOT:
		given->session.sysroot = value;
		return is_folder(value) ? POST_GO_ON
					: usage("--sysroot takes a folder, not", value);
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
		return post_value_numbers(&given->numbers[NUMBERS_PID], &given->session.pid_count,
					  value)
			       ? POST_GO_ON
			       : usage("--pid takes numbers, not", value);
	case OPTION_TID:
		return post_value_numbers(&given->numbers[NUMBERS_TID], &given->session.tid_count,
					  value)
			       ? POST_GO_ON
			       : usage("--tid takes numbers, not", value);
	case OPTION_PER:
		return post_value_rows(value, &given->output.rows)
			       ? POST_GO_ON
			       : usage("--per takes function, edge or thread, not", value);
	case 'F':
		add_parts(&given->lists[LIST_ONLY], value, true);
		return POST_GO_ON;
	case 'N':
		add_parts(&given->lists[LIST_WITHOUT], value, true);
		return POST_GO_ON;
	case 'D':
		return post_value_count(value, &given->filter.deepest)
			       ? POST_GO_ON
			       : usage("--depth " COUNT_BOUNDS, value);
	case 't':
		return post_value_duration(value, &given->filter.shortest_ns)
			       ? POST_GO_ON
			       : usage("--time-filter takes a time such as 10us, not", value);
	case OPTION_MAX_THREADS:
		return post_value_count(value, &given->session.most_threads)
			       ? POST_GO_ON
			       : usage("--max-threads " COUNT_BOUNDS, value);
	case OPTION_MAX_CALLS:
		return post_value_count(value, &given->session.most_calls)
			       ? POST_GO_ON
			       : usage("--max-calls " COUNT_BOUNDS, value);
	case OPTION_MAX_UNPACKED:
		if (!post_value_size(value, &number))
			return usage("--max-unpacked takes a size, not", value);
		post_input_limit(number);
		return POST_GO_ON;
	case OPTION_COLOR:
		return post_value_color(value, &given->output.color)
			       ? POST_GO_ON
			       : usage("--color takes auto, always or never, not", value);
	}
	return usage("try", NULL);
}

/* A folder into which a traced program has written. */
static bool has_traces(const char *path)
{
	char traces[4096];

	return snprintf(traces, sizeof(traces), "%s/trace", path) < (int)sizeof(traces) &&
	       access(traces, F_OK) == 0;
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
	if (!format) { /* or a file that does not exist, which will be reported */
		const char *nearest = strchr(word, '/') ? NULL : post_options_nearest(word, true);

		if (nearest && !strcmp(nearest, word))
			return usage("this command stands before its options:", word);
		return nearest ? unknown("no such command or file:", word, nearest) : POST_GO_ON;
	}
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
	if (optind + 1 == count ? access(arguments[optind], F_OK) == 0
				: has_traces(arguments[optind])) {
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
		{OPTION_LAST, given->output.last != 0},
		{OPTION_SORT, given->output.sort != NULL},
		{OPTION_MIN, given->output.min_share >= 0},
		{OPTION_BY_MODULE, given->output.by_module},
		{OPTION_FUNCTION, given->output.function != NULL},
		{OPTION_PER, given->output.rows != 0},
		{OPTION_LINES, given->session.lines && !given->lists[LIST_SOURCE]},
		{OPTION_SOURCE, given->lists[LIST_SOURCE] != NULL},
		{OPTION_PDF, given->pdf},
		{OPTION_MERGE_RECURSION, given->output.merge_recursion},
		{OPTION_PHASE, given->output.phase.text != NULL},
		{OPTION_FLOW, given->output.flow != NULL},
		{OPTION_ORDER, given->lists[LIST_ORDER] != NULL},
		{OPTION_INCLUDE, given->lists[LIST_INCLUDE] != NULL},
		{OPTION_EXCLUDE, given->lists[LIST_EXCLUDE] != NULL},
		{OPTION_MODULE, given->lists[LIST_MODULE] != NULL},
		{'F', given->lists[LIST_ONLY] != NULL},
		{'N', given->lists[LIST_WITHOUT] != NULL},
		{'D', given->filter.deepest != 0},
		{'t', given->filter.shortest_ns != 0},
		{'f', given->diff && given->format != post_formats[0]},
	};
	const bool calls_unused = !given->diff && given->format->flags;
	unsigned uses = given->diff ? POST_USES_TOP | POST_USES_MIN : given->format->uses;

	for (size_t i = 0; i < sizeof(some) / sizeof(*some); i++) {
		const struct litifut_option *option = post_option_list;
		while (!option->name || option->code != some[i].code)
			option++;
		/* An option that is for all outputs chooses calls, and some show none. */
		if (some[i].given && (option->use           ? !(uses & option->use)
				      : option->code == 'f' ? true
							    : calls_unused))
			fprintf(stderr, "litifut-post: warning: %s%.*s has no effect on %s\n",
				option->code == 'f' ? "-" : "--", option->code == 'f' ? 1 : 40,
				option->name, given->diff ? "diff" : given->format->name);
	}
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
	litifut_options_getopt(post_option_list, list, letters);
	while ((option = getopt_long(count, arguments, letters, list, NULL)) != -1) {
		if (option == '?' || option == ':') {
			char text[256];
			if (!litifut_option_wrong(post_option_list, count, arguments, option == ':',
						  text, sizeof(text)))
				return usage(text, NULL);
			fprintf(stderr, "litifut-post: %s\n", text);
			return 2;
		}
		status = parse_option(given, option, optarg);
		if (status != POST_GO_ON)
			return status;
	}
	if (given->help) {
		const char *word = optind < count ? arguments[optind] : NULL;

		if (word && post_options_help_of(word))
			return 0;
		if (word && access(word, F_OK) && post_options_nearest(word, true))
			return unknown("no such command or file:", word,
				       post_options_nearest(word, true));
		post_options_help();
		return 0;
	}
	status = parse_command(given, count, arguments);
	if (status != POST_GO_ON)
		return status;
	if (given->format->asks_for_function && !given->output.function) {
		fprintf(stderr,
			"litifut-post: --function is missing for %s: as a command it takes a name, "
			"as in litifut-post %s NAME%s%s; try --help\n",
			given->format->name, given->format->name, optind < count ? " " : "",
			optind < count ? arguments[optind] : "");
		return 2;
	}
	if (optind == count)
		return given->lists[LIST_SOURCE]
			       ? usage("no trace was given; for a folder of source files --source "
				       "takes",
				       given->lists[LIST_SOURCE][0])
			       : usage("no trace was given", NULL);
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
	given->output.orders = (const char *const *)given->lists[LIST_ORDER];
	given->output.paths = given->paths;
	given->output.path_count = given->path_count;
	given->filter.only = (const char *const *)given->lists[LIST_ONLY];
	given->filter.without = (const char *const *)given->lists[LIST_WITHOUT];
	given->session.pids = given->numbers[NUMBERS_PID];
	given->session.tids = given->numbers[NUMBERS_TID];
	return POST_GO_ON;
}

const char *post_arguments_swallowed(const struct post_arguments *given)
{
	for (char **folder = given->lists[LIST_SOURCE]; folder && *folder; folder++)
		if (has_traces(*folder))
			return *folder;
	return NULL;
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
