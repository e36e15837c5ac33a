#include "postproc/paths/command.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/paths/numbering.h"
#include "postproc/paths/program.h"
#include "postproc/table.h"

enum { OPTION_FUNCTION = LITIFUT_FIRST_LONG, OPTION_ID_BITS, OPTION_TOP };

/* clang-format off */
static const struct litifut_option options[] = {
	{"output", 'o', "FILE", LITIFUT_WORDS_FILE, "write there, not to standard output", 0},
	{"function", OPTION_FUNCTION, "GLOB", NULL, "number only such functions (GLOB[,GLOB...]), as if the others were not traced", 0},
	{"id-bits", OPTION_ID_BITS, "N", NULL, "bits of the largest number of a path, 8 to 64 (64)", 0},
	{"top", OPTION_TOP, "N", NULL, "only the first N rows", 0},
	{"quiet", 'q', NULL, NULL, "no summary", 0},
	{"help", 'h', NULL, NULL, "print this", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};
/* clang-format on */

struct arguments {
	const char *name; /* of the command */
	const char *output;
	char **only; /* owned, NULL-terminated; NULL: all */
	size_t only_count, only_capacity;
	unsigned id_bits;
	uint64_t top; /* 0: all */
	bool quiet;
	char **paths; /* into argv */
	size_t path_count;
};

static int usage(const struct arguments *given, const char *message, const char *what)
{
	fprintf(stderr, "litifut-post %s: %s%s%s; try --help\n", given->name, message,
		what ? " " : "", what ? what : "");
	return 2;
}

static int problem(const struct arguments *given, const struct litifut_error *error)
{
	char line[1024];

	fprintf(stderr, "litifut-post %s: %s\n", given->name,
		litifut_error_line(error, line, sizeof(line)));
	return 1;
}

/* Returns an ELF file with all that belongs to it; NULL: that was said. */
static struct post_image *open_image(const struct arguments *given, const char *path)
{
	const struct post_debug_places places = {NULL};
	struct litifut_error error;
	struct post_image *image;

	if (post_image_open(path, &image, &error) != LITIFUT_OK) {
		problem(given, &error);
		return NULL;
	}
	if (post_image_load(image, &places, &error) != LITIFUT_OK) {
		problem(given, &error);
		post_image_close(image);
		return NULL;
	}
	return image;
}

/* What is said of a function that is recorded apart, the most telling reason first. */
static const char *reason_text(unsigned reasons)
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

struct row {
	uint32_t function;
	uint64_t paths;
};

static int by_paths(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->paths != b->paths)
		return a->paths > b->paths ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static unsigned count_above(const struct path_numbers *numbers, unsigned bits)
{
	unsigned count = 0;

	for (size_t i = 0; i < numbers->flow->function_count; i++)
		count += numbers->functions[i].paths > UINT64_C(1) << bits;
	return count;
}

static void summarize(const struct path_program *program, const struct path_numbers *own,
		      const struct path_numbers *whole)
{
	const struct path_flow *flow = &program->flow;
	size_t traced = 0, dependent = 0, loops = 0, cut = 0;

	for (uint32_t i = 0; i < flow->function_count; i++) {
		traced += flow->functions[i].traced;
		dependent += !whole->functions[i].reasons;
		loops += own->functions[i].loops > 0;
		cut += own->functions[i].cuts > 0;
	}
	fprintf(stderr,
		"litifut-post path-ids: %zu of %zu functions, %zu with loops, %zu dependent; %zu "
		"conditional branches, %zu jumps, %zu calls of what is not here\n",
		traced, flow->function_count, loops, dependent, program->branches, program->jumps,
		program->unknown_calls);
	fprintf(stderr,
		"litifut-post path-ids: with numbers above 2^8, 2^16, 2^32: %u, %u, %u, and "
		"interprocedural ones: %u, %u, %u; in %zu paths end early so that numbers fit\n",
		count_above(own, 8), count_above(own, 16), count_above(own, 32),
		count_above(whole, 8), count_above(whole, 16), count_above(whole, 32), cut);
}

/* The paths of each function, those with most of them first. */
static void write_ids(FILE *file, const struct arguments *given, const struct path_program *program)
{
	const struct path_flow *flow = &program->flow;
	struct path_options how = {.id_bits = given->id_bits};
	struct row *rows = post_allocate(flow->function_count + 1, sizeof(*rows));
	struct path_numbers own, whole;
	size_t count = 0;

	path_numbers_make(flow, &how, &own);
	how.interprocedural = true;
	path_numbers_make(flow, &how, &whole);
	for (uint32_t i = 0; i < flow->function_count; i++)
		if (flow->functions[i].traced)
			rows[count++] = (struct row){i, whole.functions[i].paths};
	qsort(rows, count, sizeof(*rows), by_paths);
	fprintf(file, "%20s %4s %20s %4s %5s %4s %-9s %s\n", "PATHS", "BITS", "WITH CALLEES",
		"BITS", "LOOPS", "CUTS", "APART", "FUNCTION");
	for (size_t i = 0; i < count && (!given->top || i < given->top); i++) {
		const uint32_t f = rows[i].function;

		fprintf(file, "%20" PRIu64 " %4u %20" PRIu64 " %4u %5u %4u %-9s %s\n",
			own.functions[f].paths, path_bits(own.functions[f].paths),
			whole.functions[f].paths, path_bits(whole.functions[f].paths),
			whole.functions[f].loops, whole.functions[f].cuts,
			reason_text(whole.functions[f].reasons), program->names[f]);
	}
	if (!given->quiet)
		summarize(program, &own, &whole);
	path_numbers_release(&own);
	path_numbers_release(&whole);
	free(rows);
}

static int ids(FILE *file, const struct arguments *given)
{
	int status = 0;

	for (size_t i = 0; i < given->path_count; i++) {
		struct post_image *image = open_image(given, given->paths[i]);
		struct path_program program;
		struct litifut_error error;

		if (!image) {
			status = 1;
			continue;
		}
		if (path_program_make(image, (const char *const *)given->only, &program, &error) ==
		    LITIFUT_OK) {
			if (given->path_count > 1)
				fprintf(file, "%s%s:\n", i ? "\n" : "", given->paths[i]);
			write_ids(file, given, &program);
		} else {
			status = problem(given, &error);
		}
		path_program_release(&program);
		post_image_close(image);
	}
	return status;
}

const struct litifut_command path_commands[] = {
	{"path-ids", "Ball-Larus numbers: how many paths each function has", options,
	 LITIFUT_WORDS_FILE},
	{NULL, NULL, NULL, NULL},
};

static const struct {
	const char *arguments;
	int (*run)(FILE *file, const struct arguments *given);
} runs[] = {
	{"[options] ELF...", ids},
};

const struct litifut_command *path_command_find(const char *word)
{
	for (const struct litifut_command *command = path_commands; command->name; command++)
		if (!strcmp(command->name, word))
			return command;
	return NULL;
}

static bool parse_number(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
	char *end;

	errno = 0;
	*number = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *number >= least &&
	       *number <= most;
}

/* Adds the parts of "a,b" to the NULL-terminated list. */
static void add_globs(struct arguments *given, const char *text)
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
static int parse(struct arguments *given, const struct litifut_command *command, int count,
		 char **arguments)
{
	struct option list[LITIFUT_MOST_OPTIONS + 1];
	char letters[3 * LITIFUT_MOST_OPTIONS] = ":";
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
			printf("usage: litifut-post %s %s\n%s.\n\n", command->name,
			       runs[command - path_commands].arguments, command->summary);
			litifut_options_help(stdout, command->options);
			puts("\nExit status: 0 done, 1 a problem was found, 2 wrong usage. "
			     "docs/paths.md.");
			return 0;
		case OPTION_FUNCTION:
			add_globs(given, optarg);
			break;
		case OPTION_ID_BITS:
			if (!parse_number(optarg, 8, 64, &number))
				return usage(given, "--id-bits takes a number from 8 to 64, not",
					     optarg);
			given->id_bits = (unsigned)number;
			break;
		case OPTION_TOP:
			if (!parse_number(optarg, 1, UINT64_MAX, &given->top))
				return usage(given, "--top takes a number, not", optarg);
			break;
		default:
			return usage(given,
				     option == ':' ? "an argument is missing behind"
						   : "no such option:",
				     arguments[optind - 1]);
		}
	}
	given->paths = arguments + optind;
	given->path_count = (size_t)(count - optind);
	return given->path_count ? -1 : usage(given, "no ELF file was given", NULL);
}

int path_command(int count, char **arguments)
{
	const struct litifut_command *command = path_command_find(arguments[0]);
	struct arguments given = {.name = command->name, .id_bits = 64};
	int status = parse(&given, command, count, arguments);
	FILE *file = stdout;

	if (status < 0) {
		file = given.output ? fopen(given.output, "we") : stdout;
		if (!file) {
			fprintf(stderr, "litifut-post %s: %s: %s\n", given.name, given.output,
				strerror(errno));
			status = 1;
		}
	}
	if (status < 0) {
		status = runs[command - path_commands].run(file, &given);
		if ((file == stdout ? fflush(file) : fclose(file)) != 0) {
			fprintf(stderr, "litifut-post %s: %s: %s\n", given.name,
				given.output ? given.output : "standard output", strerror(errno));
			status = 1;
		}
	}
	for (size_t i = 0; i < given.only_count; i++)
		free(given.only[i]);
	free(given.only);
	return status;
}
