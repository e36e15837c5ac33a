/* litifut: the front door. Longer than 500 lines, because it has the words of all commands. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <libiberty/libiberty.h>

#include "common/nearest.h"
#include "common/options.h"
#include "common/version.h"
#include "ldwrap/capture.h"
#include "ldwrap/capture_gdb.h"
#include "ldwrap/control.h"
#include "ldwrap/diary.h"
#include "ldwrap/energy_loop.h"
#include "ldwrap/info.h"
#include "ldwrap/install.h"
#include "ldwrap/process.h"
#include "ldwrap/run_mcu.h"
#include "ldwrap/settings.h"
#include "ldwrap/shims.h"

enum exit_status { EXIT_PROBLEM = 1, EXIT_USAGE = 2, EXIT_OWN_FAILURE = 125 };

static const char usage_text[] =
	"usage: litifut build [option...] command [argument...]\n"
	"       litifut env\n"
	"       litifut install-ld triplet|folder|linker\n"
	"       litifut uninstall-ld triplet|folder|linker\n"
	"       litifut info [--sites] [--skipped] [--json] file...\n"
	"       litifut control folder|trace start|stop|snapshot|reset|status\n"
	"       litifut capture [-o file] [--baud N] [--rounds N] [--seconds N] "
	"[--swo] line\n"
	"       litifut capture [-o file] [--seconds N] --gdb ELF host:port\n"
	"       litifut run-mcu [--flash COMMAND] [-f FORMAT] [-o file] [--rounds N] --port line "
	"ELF\n"
	"       litifut energy-loop [-c file] [-o file] [--rounds N] --measure COMMAND\n"
	"               --energy WORDS command [argument...]\n"
	"       litifut -h | --help | -V | --version | --completion bash|zsh|fish\n"
	"\n"
	"build runs a command, such as `make', with the tracer linked into every\n"
	"32-bit ARM and MIPS program and firmware for Cortex-M and AVR that it makes.\n"
	"Its options:\n"
	"  -x, --exclude GLOBS   functions to leave alone, comma-separated\n"
	"  -c, --config FILE     settings, one `key = value' a line\n"
	"  -r, --recorder FILE   an object with your own litifut_record_trace()\n"
	"  -s, --strict          fail where a link can't be traced\n"
	"  -v, --verbose         print each program run and each decision\n"
	"control asks the running programs whose traces are in the folder (or one trace):\n"
	"  start, stop           switch recording on or off; stop also does what snapshot does\n"
	"  snapshot              complete the traces as they are, and copy them to "
	"LITIFUT_COPY_TO\n"
	"                        if the programs run with that; else copy the folder yourself\n"
	"  reset                 begin the tables of LITIFUT_MODE=table anew\n"
	"  status                print what each program does, and what was asked of it\n"
	"A program follows after some thousand more calls, see status.\n"
	"capture saves what a traced firmware sends over a serial line, or reads a file\n"
	"or - instead, and prints what the firmware itself prints there. With --gdb it reads\n"
	"the memory of the firmware in the ELF file by a debug probe or an emulator.\n"
	"run-mcu runs a command that loads and starts a firmware, captures what it sends,\n"
	"and shows it in a format of litifut-post, or as pdf.\n"
	"energy-loop links by a command, measures by another one, and traces what the\n"
	"advice of litifut-post energy says, until that asks for nothing else.\n"
	"Variables say the rest: LITIFUT_MODE (calls, spans, table, counts, coverage, paths,\n"
	"units; of firmware counts, table, spans, stream, coverage, paths, units, balllarus)\n"
	"when a program is linked, LITIFUT_DIR (where the trace goes), LITIFUT_CLOCK,\n"
	"LITIFUT_VERBOSE and others when it runs. See litifut(1) and docs/firmware.md.\n";

/* The options of the commands: getopt and the completion of shells read these tables, the usage
 * text says in its own words what each is for. */
enum {
	SITES = LITIFUT_FIRST_LONG,
	SKIPPED,
	JSON,
	FLASH,
	CAPTURE,
	BAUD,
	SECONDS,
	ROUNDS,
	MEASURE,
	ENERGY,
	SWO,
	GDB
};

static const struct litifut_option build_options[] = {
	{"exclude", 'x', "GLOBS", NULL, "functions to leave alone", 0},
	{"config", 'c', "FILE", LITIFUT_WORDS_FILE, "settings, one a line", 0},
	{"recorder", 'r', "FILE", LITIFUT_WORDS_FILE, "an object with litifut_record_trace()", 0},
	{"strict", 's', NULL, NULL, "fail where a link can't be traced", 0},
	{"quiet", 'q', NULL, NULL, "do not say at the end what was traced", 0},
	{"verbose", 'v', NULL, NULL, "print each program run and each decision", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_option info_options[] = {
	{"sites", SITES, NULL, NULL, "list the sites", 0},
	{"skipped", SKIPPED, NULL, NULL, "list the sites that were left", 0},
	{"json", JSON, NULL, NULL, "as JSON", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_option capture_options[] = {
	{"output", 'o', "FILE", LITIFUT_WORDS_FILE, "what is saved", 0},
	{"baud", 'b', "N", NULL, "speed of the line", 0},
	{"rounds", 'n', "N", NULL, "whole sendings to wait for", 0},
	{"seconds", 't', "N", NULL, "how long to wait", 0},
	{"swo", SWO, NULL, NULL, "packets of an ITM (LITIFUT_PORT=itm)", 0},
	{"gdb", GDB, "ELF", LITIFUT_WORDS_FILE, "read the firmware's memory by a gdb remote", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_option run_mcu_options[] = {
	{"port", 'p', "LINE", LITIFUT_WORDS_FILE, "the serial line", 0},
	{"flash", FLASH, "COMMAND", NULL, "loads and starts the firmware", 0},
	{"format", 'f', "FORMAT", NULL, "of litifut-post, or pdf", 0},
	{"output", 'o', "FILE", LITIFUT_WORDS_FILE, "where that goes", 0},
	{"capture", CAPTURE, "FILE", LITIFUT_WORDS_FILE, "what is saved", 0},
	{"baud", BAUD, "N", NULL, "speed of the line", 0},
	{"rounds", ROUNDS, "N", NULL, "whole sendings to wait for", 0},
	{"seconds", SECONDS, "N", NULL, "how long to wait", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_option energy_loop_options[] = {
	{"measure", MEASURE, "COMMAND", NULL, "runs the program and records it", 0},
	{"energy", ENERGY, "WORDS", NULL, "options and files for litifut-post energy", 0},
	{"config", 'c', "FILE", LITIFUT_WORDS_FILE, "settings of the first link", 0},
	{"output", 'o', "FILE", LITIFUT_WORDS_FILE, "settings of the last link", 0},
	{"rounds", ROUNDS, "N", NULL, "at most", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

/* The next option of a command, as of getopt_long(); -1: what follows is its arguments. */
static int next_option(int argc, char *argv[], const struct litifut_option *options)
{
	struct option list[LITIFUT_MOST_OPTIONS + 1];
	char letters[3 * LITIFUT_MOST_OPTIONS + 2] = "+";

	litifut_options_getopt(options, list, letters);
	return getopt_long(argc, argv,
			   letters + (options != build_options && options != energy_loop_options),
			   list, NULL);
}

/* getopt has printed what is wrong when there is no problem to name. */
static int usage(const char *problem)
{
	if (problem)
		fprintf(stderr, "litifut: error: %s\n", problem);
	fputs("try `litifut --help'\n", stderr);
	return EXIT_USAGE;
}

static int report(const struct litifut_error *error, int status)
{
	char line[1024];

	fprintf(stderr, "litifut: error: %s\n", litifut_error_line(error, line, sizeof(line)));
	return status;
}

static void print_warning(const char *line)
{
	fprintf(stderr, "litifut: warning: %s\n", line);
}

/* The links say what is wrong with the settings. */
static void ignore(const char *line)
{
	(void)line;
}

/* As the links are, for which LITIFUT is 1. */
static bool is_strict(void)
{
	struct settings settings;
	bool strict;

	setenv("LITIFUT", "1", 1);
	settings_read(&settings, ignore);
	strict = settings.strict;
	settings_release(&settings);
	return strict;
}

static _Noreturn void become(char *command[])
{
	execvp(command[0], command);
	fprintf(stderr, "litifut: error: %s: %s\n", command[0], strerror(errno));
	exit(errno == ENOENT ? 127 : 126);
}

static volatile pid_t running;

static void pass_on(int number)
{
	if (running > 0)
		kill(running, number);
}

/* Runs the command as a shell would, ends as it did, and before that says what the links came
 * to. What the terminal sends reaches the command by itself. */
static _Noreturn void run_and_tell(char *command[], bool quiet)
{
	static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
	struct sigaction keep = {.sa_handler = SIG_IGN};
	struct sigaction pass = {.sa_handler = pass_on};
	struct sigaction interrupt;
	struct sigaction quit;
	sigset_t all;
	sigset_t old;
	int status = 0;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	sigaction(SIGINT, &keep, &interrupt);
	sigaction(SIGQUIT, &keep, &quit);
	running = fork();
	if (running <= 0) {
		sigaction(SIGINT, &interrupt, NULL);
		sigaction(SIGQUIT, &quit, NULL);
		sigprocmask(SIG_SETMASK, &old, NULL);
		become(command);
	}
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++) {
		sigaction(passed[i], NULL, &quit);
		if (quit.sa_handler != SIG_IGN)
			sigaction(passed[i], &pass, NULL);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	while (waitpid(running, &status, 0) < 0 && errno == EINTR)
		continue;
	running = 0;
	diary_close(WIFEXITED(status) ? stderr : NULL, !quiet, status != 0);
	process_end_like(status);
}

static int build(int argc, char *argv[])
{
	struct litifut_error error;
	const char *mode;
	char *folder;
	char *path;
	bool quiet = false;
	int option;

	while ((option = next_option(argc, argv, build_options)) >= 0) {
		switch (option) {
		case 'x':
			setenv("LITIFUT_EXCLUDE", optarg, 1);
			break;
		case 'c':
		case 'r':
			/* The links may run in other folders. */
			path = realpath(optarg, NULL);
			if (!path) {
				fprintf(stderr, "litifut: error: %s: %s\n", optarg,
					strerror(errno));
				return EXIT_OWN_FAILURE;
			}
			setenv(option == 'c' ? "LITIFUT_CONFIG" : "LITIFUT_RECORDER", path, 1);
			free(path);
			break;
		case 's':
			setenv("LITIFUT_STRICT", "1", 1);
			break;
		case 'q':
			quiet = true;
			break;
		case 'v':
			setenv("LITIFUT_VERBOSE", "1", 1);
			break;
		default:
			usage(NULL);
			return EXIT_OWN_FAILURE;
		}
	}
	if (optind >= argc) {
		usage("build: no command");
		return EXIT_OWN_FAILURE;
	}
	mode = getenv("LITIFUT");
	if (mode && *mode && strcmp(mode, "1"))
		fprintf(stderr,
			"litifut: warning: LITIFUT=%s is of no effect: build sets it to 1 for its "
			"command\n",
			mode);
	if (settings_check_names(print_warning) && is_strict()) {
		fputs("litifut: error: a setting is of no effect, and LITIFUT_STRICT is set\n",
		      stderr);
		return EXIT_OWN_FAILURE;
	}
	if (shims_make(&folder, &error))
		return report(&error, EXIT_OWN_FAILURE);
	shims_set_environment(folder);
	free(folder);
	if (diary_open())
		run_and_tell(argv + optind, quiet);
	become(argv + optind);
}

/* For a shell: eval "$(litifut env)". */
static void print_variable(const char *name)
{
	printf("export %s='", name);
	for (const char *text = getenv(name); *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	}
	puts("'");
}

static int environment(int argc, char *argv[])
{
	struct litifut_error error;
	char *folder;

	(void)argv;
	if (argc > 1)
		return usage("env takes no arguments");
	if (shims_make(&folder, &error))
		return report(&error, EXIT_PROBLEM);
	shims_set_environment(folder);
	free(folder);
	print_variable("LITIFUT");
	print_variable("COMPILER_PATH");
	print_variable("PATH");
	return 0;
}

static int install(int argc, char *argv[])
{
	bool undo = !strcmp(argv[0], "litifut uninstall-ld");
	struct install_result result;
	struct litifut_error error;
	enum litifut_status status;

	if (argc != 2)
		return usage("one triplet, folder or linker is needed");
	if (undo) {
		status = uninstall_linkers(argv[1], &result, &error);
	} else {
		char *wrapper = shims_wrapper_path();

		status = install_linkers(argv[1], wrapper, &result, &error);
		free(wrapper);
	}
	for (size_t i = 0; i < result.count; i++)
		printf("%s: %s\n", result.paths[i],
		       !undo ? "now a link to litifut-ld"
		       : access(result.paths[i], F_OK)
			       ? "removed, as there was no original to put back"
			       : "the original linker again");
	if (!status && !result.count)
		printf("%s: nothing to do\n", argv[1]);
	install_result_release(&result);
	return status ? report(&error, EXIT_PROBLEM) : 0;
}

static int info(int argc, char *argv[])
{
	struct info_options wanted = {false, false, false};
	const char *separator = "";
	int result = 0;
	int option;

	while ((option = next_option(argc, argv, info_options)) >= 0) {
		switch (option) {
		case SITES:
			wanted.sites = true;
			break;
		case SKIPPED:
			wanted.skipped = true;
			break;
		case JSON:
			wanted.json = true;
			break;
		default:
			return usage(NULL);
		}
	}
	if (optind >= argc)
		return usage("info: no file");
	if (wanted.json)
		putchar('[');
	for (int i = optind; i < argc; i++) {
		struct litifut_error error;
		char *text = NULL;
		size_t size = 0;
		FILE *memory = open_memstream(&text, &size);

		/* Nothing is shown of a file that turns out to be damaged. */
		if (!memory || info_write(memory, argv[i], &wanted, &error))
			result = memory ? report(&error, EXIT_PROBLEM) : EXIT_PROBLEM;
		if (memory)
			fclose(memory);
		if (!result || size) {
			fputs(separator, stdout);
			fwrite(text, 1, size, stdout);
			separator = wanted.json ? ",\n" : "";
		}
		free(text);
	}
	if (wanted.json)
		puts("]");
	return result;
}

static int control_programs(int argc, char *argv[])
{
	struct litifut_error error;
	int request;

	if (argc != 3)
		return usage("control: a folder, and start, stop, snapshot, reset or status");
	request = control_request(argv[2]);
	if (request < 0)
		return usage(xasprintf("control: no such request: %s", argv[2]));
	return control(stdout, argv[1], (uint32_t)request, &error) ? report(&error, EXIT_PROBLEM)
								   : 0;
}

/* A number of at least 1, or 0: it is not one. */
static unsigned read_number(const char *text)
{
	char *end;
	unsigned long number = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && !*end && number <= UINT_MAX ? (unsigned)number : 0;
}

/* More than 0, which may have a fraction; or 0: it is not such a number. */
static double read_seconds(const char *text)
{
	return !*text || text[strspn(text, "0123456789.")] || !strpbrk(text, "123456789") ||
			       strchr(text, '.') != strrchr(text, '.')
		       ? 0
		       : strtod(text, NULL);
}

static void tell_on(const char *source)
{
	fprintf(stderr,
		"litifut: %s: the firmware sends events; more are saved until Ctrl-C, --rounds N "
		"or "
		"--seconds N\n",
		source);
}

static int capture(int argc, char *argv[])
{
	struct capture_options wanted = {
		.output = "capture.bin", .goes_on = tell_on, .text = stdout};
	const char *elf = NULL;
	struct litifut_error error;
	unsigned rounds;
	int option;

	while ((option = next_option(argc, argv, capture_options)) >= 0) {
		unsigned *number = option == 'b' ? &wanted.baud : &wanted.rounds;

		if (option == '?')
			return usage(NULL);
		if (option == 'o') {
			wanted.output = optarg;
			continue;
		}
		if (option == SWO) {
			wanted.swo = true;
			continue;
		}
		if (option == GDB) {
			elf = optarg;
			continue;
		}
		if (option == 't') {
			wanted.seconds = read_seconds(optarg);
			if (wanted.seconds <= 0)
				return usage(
					xasprintf("capture: not a number of seconds: %s", optarg));
			continue;
		}
		*number = read_number(optarg);
		if (!*number)
			return usage(xasprintf("capture: not a number: %s", optarg));
	}
	if (optind + 1 != argc)
		return usage("capture: one serial line or file is needed");
	wanted.source = argv[optind];
	if (elf && (wanted.baud || wanted.rounds || wanted.swo))
		return usage("capture: --gdb takes --seconds and -o only");
	if (elf) {
		const struct capture_gdb_options gdb = {.source = wanted.source,
							.elf = elf,
							.output = wanted.output,
							.seconds = wanted.seconds};

		return capture_gdb_run(&gdb, &error) ? report(&error, EXIT_PROBLEM) : 0;
	}
	if (capture_run(&wanted, &rounds, &error))
		return report(&error, EXIT_PROBLEM);
	if (rounds >= capture_needs(&wanted))
		return 0;
	fprintf(stderr,
		"litifut: error: %s: only %u of %u whole sendings have come; what came is in "
		"%s\n",
		wanted.source, rounds, capture_needs(&wanted), wanted.output);
	return EXIT_PROBLEM;
}

static int run_firmware(int argc, char *argv[])
{
	struct run_mcu_options wanted = {.capture = {.output = "capture.bin",
						     .seconds = 60,
						     .goes_on = tell_on,
						     .text = stderr},
					 .format = "report"};
	struct litifut_error error;
	int option, result;

	while ((option = next_option(argc, argv, run_mcu_options)) >= 0) {
		const char **text = option == 'o'     ? &wanted.output
				    : option == 'f'   ? &wanted.format
				    : option == FLASH ? &wanted.flash
				    : option == 'p'   ? &wanted.capture.source
						      : &wanted.capture.output;
		unsigned *number = option == BAUD ? &wanted.capture.baud : &wanted.capture.rounds;

		if (option == '?')
			return usage(NULL);
		if (option != BAUD && option != ROUNDS && option != SECONDS) {
			*text = optarg;
			continue;
		}
		if (option == SECONDS) {
			wanted.capture.seconds = read_seconds(optarg);
			if (wanted.capture.seconds <= 0)
				return usage(
					xasprintf("run-mcu: not a number of seconds: %s", optarg));
			continue;
		}
		*number = read_number(optarg);
		if (!*number)
			return usage(xasprintf("run-mcu: not a number: %s", optarg));
	}
	if (optind + 1 != argc)
		return usage("run-mcu: the ELF file of the firmware is needed");
	if (!wanted.capture.source)
		return usage("run-mcu: --port is needed, the serial line that the results come by");
	wanted.elf = argv[optind];
	if (access(wanted.elf, R_OK))
		return usage(xasprintf("run-mcu: %s: %s", wanted.elf, strerror(errno)));
	return run_mcu(&wanted, &result, &error) ? report(&error, EXIT_PROBLEM) : result;
}

static int run_energy_loop(int argc, char *argv[])
{
	static const char *const words[] = {"LITIFUT_INCLUDE", "LITIFUT_EXCLUDE_CALLEES",
					    "LITIFUT_CONFIG"};
	struct energy_loop_options wanted = {.output = "energy.config", .rounds = 8};
	struct litifut_error error;
	int option;

	while ((option = next_option(argc, argv, energy_loop_options)) >= 0) {
		const char **text = option == MEASURE  ? &wanted.measure
				    : option == ENERGY ? &wanted.energy
				    : option == 'c'    ? &wanted.config
						       : &wanted.output;

		if (option == '?')
			return usage(NULL);
		if (option != ROUNDS) {
			*text = optarg;
			continue;
		}
		wanted.rounds = read_number(optarg);
		if (!wanted.rounds)
			return usage(xasprintf("energy-loop: not a number: %s", optarg));
	}
	if (optind >= argc)
		return usage("energy-loop: the command that links is needed");
	if (!wanted.measure || !wanted.energy)
		return usage("energy-loop: --measure and --energy are needed");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *value = getenv(words[i]);
		if (value && *value)
			return usage(xasprintf("energy-loop: %s is set, and would outweigh the "
					       "advice; put it into a file for -c",
					       words[i]));
	}
	wanted.build = argv + optind;
	settings_check_names(print_warning);
	return energy_loop(stdout, &wanted, &error) ? report(&error, EXIT_PROBLEM) : 0;
}

/* Answers a question about litifut itself; false: it is not one. */
static bool answer(const char *word)
{
	bool help = !strcmp(word, "-h") || !strcmp(word, "--help");
	bool version = !strcmp(word, "-V") || !strcmp(word, "--version");

	if (help)
		fputs(usage_text, stdout);
	if (version)
		printf("litifut %s\n", litifut_version);
	return help || version;
}

static const struct litifut_option general_options[] = {
	{"help", 'h', NULL, NULL, "print how to use it", 0},
	{"version", 'V', NULL, NULL, "print the version", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_command commands[] = {
	{"litifut", "", general_options, NULL},
	{"build", "run a command whose programs are traced", build_options, LITIFUT_WORDS_FILE},
	{"env", "print what build sets", NULL, NULL},
	{"install-ld", "put the tracer into a toolchain", NULL, LITIFUT_WORDS_FOLDER},
	{"uninstall-ld", "take it out again", NULL, LITIFUT_WORDS_FOLDER},
	{"info", "what was done to a file", info_options, LITIFUT_WORDS_FILE},
	{"control", "switch recording in running programs", NULL, LITIFUT_WORDS_FILE},
	{"capture", "save what a firmware sends", capture_options, LITIFUT_WORDS_FILE},
	{"run-mcu", "load a firmware and show what it sends", run_mcu_options, LITIFUT_WORDS_FILE},
	{"energy-loop", "trace what the energy of functions asks for", energy_loop_options,
	 LITIFUT_WORDS_FILE},
	{NULL, NULL, NULL, NULL},
};

/* What runs each, from commands[1] on. */
static int (*const runs[])(int argc, char *argv[]) = {
	build,   environment,  install,         install, info, control_programs,
	capture, run_firmware, run_energy_loop,
};

enum { COMMANDS = sizeof(runs) / sizeof(*runs) };

_Static_assert(sizeof(commands) / sizeof(*commands) == COMMANDS + 2,
	       "one that runs each command, and none for litifut itself and the end");

static int unknown_command(const char *word)
{
	const char *names[COMMANDS + 1] = {NULL};
	const char *nearest;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = commands[i + 1].name;
	nearest = litifut_name_nearest(word, names);
	if (!nearest)
		return usage(xasprintf("no such command: %s", word));
	fprintf(stderr, "litifut: error: no such command: %s; did you mean %s?\n", word, nearest);
	return EXIT_USAGE;
}

int main(int argc, char *argv[])
{
	xmalloc_set_program_name("litifut");
	if (argc < 2) {
		fputs(usage_text, stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--completion")) {
		if (argc == 3 && litifut_completion_write(stdout, argv[2], "litifut", commands))
			return 0;
		return usage("--completion takes bash, zsh or fish");
	}
	if (answer(argv[1]) || !strcmp(argv[1], "help")) {
		if (!strcmp(argv[1], "help"))
			fputs(usage_text, stdout);
		return 0;
	}
	for (size_t i = 0; i < COMMANDS; i++) {
		if (strcmp(argv[1], commands[i + 1].name))
			continue;
		if (argc > 2 && answer(argv[2]))
			return 0;
		argv[1] = xasprintf("litifut %s", commands[i + 1].name); /* for getopt's words */
		return runs[i](argc - 1, argv + 1);
	}
	return unknown_command(argv[1]);
}
