#include "postproc/paths/command.h"

#include <stdlib.h>
#include <string.h>

#include "postproc/option_values.h"
#include "postproc/output_file.h"
#include "postproc/paths/command_private.h"
#include "postproc/paths/compress.h"
#include "postproc/table.h"

enum { OPTION_FUNCTION = LITIFUT_FIRST_LONG, OPTION_ID_BITS, OPTION_TOP, OPTION_PATTERNS };

/* clang-format off */
static const struct litifut_option options[] = {
	{"output", 'o', "FILE", LITIFUT_WORDS_FILE, "write there, not to standard output", 0},
	{"function", OPTION_FUNCTION, "GLOB", NULL, "number only such functions (GLOB[,GLOB...]), as if the others were not traced", 0},
	{"id-bits", OPTION_ID_BITS, "N", NULL, "bits of the largest number of a path, 8 to 64 (64)", 0},
	{"top", OPTION_TOP, "N", NULL, "only the first N rows; path-sizes: as many functions, those that take most bytes", 0},
	{"patterns", OPTION_PATTERNS, "N", NULL, "at most so many patterns, 1 to 16 (16) (mine)", 0},
	{"quiet", 'q', NULL, NULL, "no summary", 0},
	{"help", 'h', NULL, NULL, "print this", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_option diff_options[] = {
	{"output", 'o', "FILE", LITIFUT_WORDS_FILE, "write there, not to standard output", 0},
	{"top", OPTION_TOP, "N", NULL, "only the first N paths (20)", 0},
	{"quiet", 'q', NULL, NULL, "no summary", 0},
	{"help", 'h', NULL, NULL, "print this", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};
/* clang-format on */

int path_usage(const struct path_arguments *given, const char *message, const char *what)
{
	fprintf(stderr, "litifut-post %s: %s%s%s; try --help\n", given->name, message,
		what ? " " : "", what ? what : "");
	return 2;
}

int path_problem(const struct path_arguments *given, const struct litifut_error *error)
{
	char line[1024];

	fprintf(stderr, "litifut-post %s: %s\n", given->name,
		litifut_error_line(error, line, sizeof(line)));
	return 1;
}

struct post_image *path_open_image(const struct path_arguments *given, const char *path)
{
	const struct post_debug_places places = {NULL};
	struct litifut_error error;
	struct post_image *image;

	if (post_image_open(path, &image, &error) != LITIFUT_OK) {
		path_problem(given, &error);
		return NULL;
	}
	if (post_image_load(image, &places, &error) != LITIFUT_OK) {
		path_problem(given, &error);
		post_image_close(image);
		return NULL;
	}
	return image;
}

const char *path_reason_text(unsigned reasons)
{
	static const struct {
		unsigned reason;
		const char *text;
	} texts[] = {
		{PATH_UNTRACED, "untraced"}, {PATH_LOOP, "loop"},     {PATH_RECURSION, "recursion"},
		{PATH_LARGE, "large"},       {PATH_CALLER, "caller"}, {PATH_OTHERWISE, "entry"},
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (reasons & texts[i].reason)
			return texts[i].text;
	return "-";
}

int path_by_paths(const void *left, const void *right)
{
	const struct path_row *a = left, *b = right;

	if (a->paths != b->paths)
		return a->paths > b->paths ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

#define A_RUN "[options] PATH... (traces and ELF files) | ELF LOG"

const struct litifut_command path_commands[] = {
	{"path-ids", "Ball-Larus numbers: how many paths each function has", options,
	 LITIFUT_WORDS_FILE, NULL, "[options] ELF...", NULL},
	{"path-plain", "the program as it was before its branches were patched, to be logged",
	 options, LITIFUT_WORDS_FILE, NULL, "-o FILE ELF", NULL},
	{"path-sizes", "how large a run is in several encodings of its paths", options,
	 LITIFUT_WORDS_FILE, NULL, A_RUN, NULL},
	{"mine", "the patterns that shorten a run's sequence of paths most", options,
	 LITIFUT_WORDS_FILE, NULL, A_RUN, NULL},
	{"path-diff", "where a bad run differs from good ones, and the paths of bad runs only",
	 diff_options, LITIFUT_WORDS_FILE, NULL,
	 "[options] GOOD BAD [ELF...] (traces, or folders with several)", NULL},
	{.name = NULL},
};

static int (*const runs[])(FILE *file, const struct path_arguments *given) = {
	path_ids, path_plain_run, path_sizes_run, path_mine_run, path_diff_run,
};

const struct litifut_command *path_command_find(const char *word)
{
	for (const struct litifut_command *command = path_commands; command->name; command++)
		if (!strcmp(command->name, word))
			return command;
	return NULL;
}

void path_command_help(const struct litifut_command *command)
{
	litifut_command_help(stdout, "litifut-post", command);
	puts("\nExit status: 0 done, 1 a problem was found, 2 wrong usage. docs/paths.md.");
}

static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	return post_value_number(text, number) && *number >= least && *number <= most;
}

/* Adds the parts of "a,b" to the NULL-terminated list. */
static void add_globs(struct path_arguments *given, const char *text)
{
	char *copy = post_copy_text(text), *rest = copy, *part;

	while ((part = strsep(&rest, ","))) {
		if (!*part)
			continue;
		POST_GROW(given->only, given->only_count, given->only_capacity);
		given->only[given->only_count++] = post_copy_text(part);
	}
	POST_GROW(given->only, given->only_count, given->only_capacity);
	given->only[given->only_count] = NULL;
	free(copy);
}

/* -1: go on; else the exit status. */
static int parse(struct path_arguments *given, const struct litifut_command *command, int count,
		 char **arguments)
{
	struct option list[LITIFUT_MOST_OPTIONS + 1];
	char letters[3 * LITIFUT_MOST_OPTIONS] = ":";
	char text[256];
	uint64_t number;
	int option;

	opterr = 0;
	litifut_options_getopt(command->options, list, letters);
	while ((option = getopt_long(count, arguments, letters, list, NULL)) != -1) {
		switch (option) {
		case 'o':
			given->output = strcmp(optarg, "-") ? optarg : NULL;
			break;
		case 'q':
			given->quiet = true;
			break;
		case 'h':
			path_command_help(command);
			return 0;
		case OPTION_FUNCTION:
			add_globs(given, optarg);
			break;
		case OPTION_ID_BITS:
			if (!parse_number(optarg, 8, 64, &number))
				return path_usage(given,
						  "--id-bits takes a number from 8 to 64, not",
						  optarg);
			given->id_bits = (unsigned)number;
			break;
		case OPTION_PATTERNS:
			if (!parse_number(optarg, 1, PATH_MOST_PATTERNS, &given->patterns))
				return path_usage(given,
						  "--patterns takes a number from 1 to 16, not",
						  optarg);
			break;
		case OPTION_TOP:
			if (!parse_number(optarg, 1, UINT64_MAX, &given->top))
				return path_usage(given, "--top takes a number from 1 on, not",
						  optarg);
			break;
		default:
			if (!litifut_option_wrong(command->options, count, arguments, option == ':',
						  text, sizeof(text)))
				return path_usage(given, text, NULL);
			fprintf(stderr, "litifut-post %s: %s\n", given->name, text);
			return 2;
		}
	}
	given->paths = arguments + optind;
	given->path_count = (size_t)(count - optind);
	return given->path_count ? -1 : path_usage(given, "no ELF file was given", NULL);
}

int path_command(int count, char **arguments)
{
	const struct litifut_command *command = path_command_find(arguments[0]);
	struct path_arguments given = {
		.name = command->name, .id_bits = 64, .patterns = PATH_MOST_PATTERNS};
	int status = parse(&given, command, count, arguments);

	if (status < 0) {
		FILE *file = post_file_is_input(given.output, given.paths, given.path_count)
				     ? NULL
				     : post_file_begin(given.output);

		status = file ? post_file_end(file, given.output,
					      runs[command - path_commands](file, &given))
			      : 1;
	}
	for (size_t i = 0; i < given.only_count; i++)
		free(given.only[i]);
	free(given.only);
	return status;
}
