/* Options, commands and formats: which there are, and what is said about them. Part of the main
 * program: it prints. */
#include "postproc/option_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/nearest.h"
#include "postproc/energy/options.h"
#include "postproc/formats/format.h"
#include "postproc/paths/command.h"

/* The last member says which outputs heed an option; 0: all do. */
/* clang-format off */
const struct litifut_option post_option_list[] = {
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
	{"last", OPTION_LAST, "N", NULL, "only the last N lines of each process (path)", POST_USES_LAST},
	{"min", OPTION_MIN, "PERCENT", NULL, "leave out what makes less (dot: 0.5; diff: change in percent)", POST_USES_MIN},
	{"function", OPTION_FUNCTION, "GLOB", NULL, "for callers-of, callees-of and histogram; path: only its activations, NAME#3 the third of each thread; units: only such functions", POST_USES_FUNCTION},
	{"lines", OPTION_LINES, NULL, NULL, "source lines from debug information (callers-of, callgrind, html)", POST_USES_LINES},
	{"source", OPTION_SOURCE, "DIR", LITIFUT_WORDS_FOLDER, "a folder whose source files the report shows, with counts (html); or gprof-serial, see below", POST_USES_SOURCE},
	{"sort", OPTION_SORT, "COLUMN", "self total avg min max calls made callers callees name", "self, total, avg, min, max, calls, made, callers, callees or name (report)", POST_USES_SORT},
	{"per", OPTION_PER, "WHAT", "function edge thread", "function, edge or thread: the rows of a table of times (report)", POST_USES_ROWS},
	{"by-module", OPTION_BY_MODULE, NULL, NULL, "one table for each module (report)", POST_USES_BY_MODULE},
	{"phase", OPTION_PHASE, "MARK", NULL, "what is called before and after the first call of a function (GLOB), a time (1.5s) or a mark of the program (#N) (report)", POST_USES_PHASE},
	{"merge-recursion", OPTION_MERGE_RECURSION, NULL, NULL, "a function that is called below itself goes on at its first place in the stack (folded, graph, html)", POST_USES_MERGE_RECURSION},
	{"flow", OPTION_FLOW, "SEND=RECEIVE", NULL, "arrows from calls of one function to returns of another one, by the order of their times, NAME or NAME(ARGUMENT 0): 'write(4)=read(3)' (perfetto)", POST_USES_FLOW},
	{"order", OPTION_ORDER, "SEND=RECEIVE", NULL, "one timeline of several nodes: the Nth call of RECEIVE in a node comes after N calls of SEND in the others; may be repeated (path, blocks, units)", POST_USES_ORDER},
	{"pdf", OPTION_PDF, NULL, NULL, "the picture as PDF, made by Graphviz (dot)", POST_USES_PDF},
	{"plt", OPTION_PLT, NULL, NULL, "PLT entries as separate functions, NAME@plt", 0},
	{"raw", OPTION_RAW, NULL, NULL, "leave in the times what the tracer itself takes", 0},
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

/* What the first word can be beside a format and path_commands, and the options that are for it. */
static const struct {
	struct litifut_command command;
	unsigned uses; /* enum post_option_use */
} commands[] = {
	{{"callers-of", "who calls a function (one name or glob), with call sites",
	  post_option_list, LITIFUT_WORDS_FILE, NULL, "FUNCTION [options] PATH...", NULL},
	 0},
	{{"callees-of", "what a function calls", post_option_list, LITIFUT_WORDS_FILE, NULL,
	  "FUNCTION [options] PATH...", NULL},
	 0},
	{{"diff", "compare two runs", post_option_list, LITIFUT_WORDS_FILE, NULL,
	  "[options] OLD NEW [ELF...]", NULL},
	 POST_USES_TOP | POST_USES_MIN},
	{{"energy", "energy of each function, from a power trace", energy_options,
	  LITIFUT_WORDS_FILE, NULL, "[options] PATH...", NULL},
	 0},
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))

void post_options_help(void)
{
	fputs("usage: litifut-post [[-f] FORMAT] [-o FILE] [options] PATH...\n", stdout);
	for (size_t i = 0; i < COMMANDS; i++)
		litifut_usage_write(stdout, "       ", "litifut-post", &commands[i].command);
	for (size_t i = 0; path_commands[i].name; i++)
		litifut_usage_write(stdout, "       ", "litifut-post", &path_commands[i]);
	puts("       litifut-post help [COMMAND|FORMAT]\n"
	     "Shows the calls that LITIFUT recorded. PATH: traces, maps files, ELF files, or\n"
	     "folders with them, in any order.\n\n"
	     "Formats (-f):");
	for (size_t i = 0; post_formats[i]; i++)
		printf("  %-12s %s\n", post_formats[i]->name, post_formats[i]->summary);
	litifut_options_help(stdout, post_option_list);
	puts("\nExit status: 0 done, 1 a problem was found, 2 wrong usage. litifut-post(1).");
}

/* Of a command or a format: what it is, and the options that only some others have as well. */
bool post_options_help_of(const char *word)
{
	const struct post_format *format = post_format_find(word);
	struct litifut_option own[LITIFUT_MOST_OPTIONS + 1];
	unsigned uses = format ? format->uses : 0;
	const char *summary = format ? format->summary : NULL;
	const char *arguments = "[-o FILE] [options] PATH...";
	size_t count = 0;

	if (path_command_find(word)) {
		path_command_help(path_command_find(word));
		return true;
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(commands[i].command.name, word))
			continue;
		summary = commands[i].command.summary;
		arguments = commands[i].command.arguments;
		uses |= commands[i].uses;
	}
	if (!summary)
		return false;
	printf("usage: litifut-post %s %s\n%s\n", word, arguments, summary);
	for (size_t i = 0; post_option_list[i].name || post_option_list[i].help; i++) {
		if (post_option_list[i].use & uses)
			own[count++] = post_option_list[i];
	}
	own[count] = (struct litifut_option){0};
	if (count)
		puts("\nIts options:");
	litifut_options_help(stdout, own);
	puts("\nFilters and all else: litifut-post --help, litifut-post(1).");
	return true;
}

/* What -f takes, separated by blanks. The caller frees it. */
static char *format_words(void)
{
	char *words = NULL;
	size_t size = 0;
	FILE *memory = open_memstream(&words, &size);

	if (!memory)
		return NULL;
	fputs("list ", memory);
	for (size_t i = 0; post_formats[i]; i++)
		fprintf(memory, "%s ", post_formats[i]->name);
	fclose(memory);
	return words;
}

bool post_options_completion(const char *shell)
{
	struct litifut_option list[LITIFUT_MOST_OPTIONS + 1];
	struct litifut_command all[POST_FORMATS_MOST + 32] = {
		{.name = "litifut-post", .options = list, .words = LITIFUT_WORDS_FILE},
	};
	char *formats = format_words();
	size_t count = 1;

	memcpy(list, post_option_list, sizeof(post_option_list));
	for (size_t i = 0; list[i].name || list[i].help; i++) {
		if (list[i].code == 'f')
			list[i].words = formats;
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		all[count] = commands[i].command;
		if (all[count].options == post_option_list)
			all[count].options = list;
		count++;
	}
	for (size_t i = 0; path_commands[i].name; i++)
		all[count++] = path_commands[i];
	for (size_t i = 0; post_formats[i]; i++) {
		if (!post_formats[i]->asks_for_function)
			all[count++] = (struct litifut_command){.name = post_formats[i]->name,
								.summary = post_formats[i]->summary,
								.options = list,
								.words = LITIFUT_WORDS_FILE};
	}
	bool known = litifut_completion_write(stdout, shell, "litifut-post", all);
	free(formats);
	return known;
}

/* What others call the formats that show something. */
static const struct {
	const char *word, *formats;
} other_words[] = {
	{"flamegraph", "html, folded or speedscope"},
	{"flame-graph", "html, folded or speedscope"},
	{"flame", "html, folded or speedscope"},
};

/* The command or format that may have been meant; NULL: none. */
const char *post_options_nearest(const char *word, bool command)
{
	for (size_t i = 0; i < sizeof(other_words) / sizeof(*other_words); i++)
		if (!strcmp(other_words[i].word, word))
			return other_words[i].formats;
	const char *names[POST_FORMATS_MOST + 32] = {NULL};
	size_t count = 0;

	for (; post_formats[count]; count++)
		names[count] = post_formats[count]->name;
	for (size_t i = 0; command && i < COMMANDS; i++)
		names[count++] = commands[i].command.name;
	for (size_t i = 0; command && path_commands[i].name; i++)
		names[count++] = path_commands[i].name;
	return litifut_name_nearest(word, names);
}
