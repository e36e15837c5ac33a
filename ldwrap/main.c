/* litifut: the front door. Longer than 500 lines, because it runs all commands. */
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

#include "common/options.h"
#include "common/version.h"
#include "ldwrap/capture.h"
#include "ldwrap/capture_gdb.h"
#include "ldwrap/commands.h"
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

static enum command current; /* which command runs */

/* try_help: was nothing else proposed? */
static int wrong_usage(const char *problem, bool try_help)
{
	bool is_own = current == COMMAND_NONE;

	fprintf(stderr, "litifut: error: %s%s%s\n", is_own ? "" : commands[current].name,
		is_own ? "" : ": ", problem);
	if (try_help)
		fprintf(stderr, "try `litifut %s%s--help'\n", is_own ? "" : commands[current].name,
			is_own ? "" : " ");
	return EXIT_USAGE;
}

static int usage(const char *problem)
{
	return wrong_usage(problem, true);
}

/* The next option of a command, as of getopt_long(); -1: what follows is its arguments; '?': what
 * is wrong was said. */
static int next_option(int argc, char *argv[])
{
	const struct litifut_option *options = commands[current].options;
	const char *then = commands[current].then;
	bool runs_command = then && !strcmp(then, LITIFUT_WORDS_ARGUMENTS);
	struct option list[LITIFUT_MOST_OPTIONS + 1];
	char letters[3 * LITIFUT_MOST_OPTIONS + 3];
	char text[256];
	int option;

	/* the options of a command that is run are not for litifut */
	strcpy(letters, runs_command ? "+:" : ":");
	litifut_options_getopt(options, list, letters);
	opterr = 0;
	option = getopt_long(argc, argv, letters, list, NULL);
	if (option == 'h') {
		command_help(stdout, current);
		exit(0);
	}
	if (option != '?' && option != ':')
		return option;
	wrong_usage(text,
		    !litifut_option_wrong(options, argc, argv, option == ':', text, sizeof(text)));
	return '?';
}

/* Reads the options of a command that has none but --help. False: what is wrong was said. */
static bool has_no_options(int argc, char *argv[])
{
	return next_option(argc, argv) < 0;
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
	bool only_others;
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
	diary_close(WIFEXITED(status) ? stderr : NULL, !quiet, status != 0, &only_others);
	if (!status && only_others && is_strict())
		exit(EXIT_PROBLEM);
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

	while ((option = next_option(argc, argv)) >= 0) {
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
			return EXIT_OWN_FAILURE;
		}
	}
	if (optind >= argc) {
		usage("no command");
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

	if (!has_no_options(argc, argv))
		return EXIT_USAGE;
	if (optind < argc)
		return usage("it takes no arguments");
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
	bool undo = current == COMMAND_UNINSTALL;
	struct install_result result;
	struct litifut_error error;
	enum litifut_status status;

	if (!has_no_options(argc, argv))
		return EXIT_USAGE;
	if (optind + 1 != argc)
		return usage("one triplet, folder or linker is needed");
	const char *toolchain = argv[optind];

	if (undo) {
		status = uninstall_linkers(toolchain, &result, &error);
	} else {
		char *wrapper = shims_wrapper_path();

		status = install_linkers(toolchain, wrapper, &result, &error);
		free(wrapper);
	}
	for (size_t i = 0; i < result.count; i++)
		printf("%s: %s\n", result.paths[i],
		       !undo ? "now a link to litifut-ld"
		       : access(result.paths[i], F_OK)
			       ? "removed, as there was no original to put back"
			       : "the original linker again");
	if (!status && !result.count)
		printf("%s: nothing to do\n", toolchain);
	install_result_release(&result);
	return status ? report(&error, EXIT_PROBLEM) : 0;
}

static int info(int argc, char *argv[])
{
	struct info_options wanted = {false, false, false};
	const char *separator = "";
	int result = 0;
	int option;

	while ((option = next_option(argc, argv)) >= 0) {
		switch (option) {
		case OPTION_SITES:
			wanted.sites = true;
			break;
		case OPTION_SKIPPED:
			wanted.skipped = true;
			break;
		case OPTION_JSON:
			wanted.json = true;
			break;
		default:
			return EXIT_USAGE;
		}
	}
	if (optind >= argc)
		return usage("no file");
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

	if (!has_no_options(argc, argv))
		return EXIT_USAGE;
	if (optind + 2 != argc)
		return usage("it takes a folder or a trace, and then " CONTROL_REQUESTS);
	const char *folder = argv[optind], *word = argv[optind + 1];

	request = control_request(word);
	if (request < 0 && control_request(folder) >= 0)
		return usage(
			xasprintf("the folder comes first: litifut control %s %s", word, folder));
	if (request < 0 && control_nearest(word))
		return wrong_usage(xasprintf("no such request: %s; did you mean %s?", word,
					     control_nearest(word)),
				   false);
	if (request < 0)
		return usage(xasprintf("no such request: %s; it takes " CONTROL_REQUESTS, word));
	return control(stdout, folder, (uint32_t)request, &error) ? report(&error, EXIT_PROBLEM)
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

	while ((option = next_option(argc, argv)) >= 0) {
		unsigned *number = option == 'b' ? &wanted.baud : &wanted.rounds;

		if (option == '?')
			return EXIT_USAGE;
		if (option == 'o') {
			wanted.output = optarg;
			continue;
		}
		if (option == OPTION_SWO) {
			wanted.swo = true;
			continue;
		}
		if (option == OPTION_GDB) {
			elf = optarg;
			continue;
		}
		if (option == 't') {
			wanted.seconds = read_seconds(optarg);
			if (wanted.seconds <= 0)
				return usage(xasprintf("not a number of seconds: %s", optarg));
			continue;
		}
		*number = read_number(optarg);
		if (!*number)
			return usage(xasprintf("not a number: %s", optarg));
	}
	if (optind + 1 != argc)
		return usage("one serial line or file is needed");
	wanted.source = argv[optind];
	if (elf && (wanted.baud || wanted.rounds || wanted.swo))
		return usage("--gdb takes --seconds and -o only");
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

	while ((option = next_option(argc, argv)) >= 0) {
		const char **text = option == 'o'            ? &wanted.output
				    : option == 'f'          ? &wanted.format
				    : option == OPTION_FLASH ? &wanted.flash
				    : option == 'p'          ? &wanted.capture.source
							     : &wanted.capture.output;
		unsigned *number =
			option == OPTION_BAUD ? &wanted.capture.baud : &wanted.capture.rounds;

		if (option == '?')
			return EXIT_USAGE;
		if (option != OPTION_BAUD && option != OPTION_ROUNDS && option != OPTION_SECONDS) {
			*text = optarg;
			continue;
		}
		if (option == OPTION_SECONDS) {
			wanted.capture.seconds = read_seconds(optarg);
			if (wanted.capture.seconds <= 0)
				return usage(xasprintf("not a number of seconds: %s", optarg));
			continue;
		}
		*number = read_number(optarg);
		if (!*number)
			return usage(xasprintf("not a number: %s", optarg));
	}
	if (optind + 1 != argc)
		return usage("the ELF file of the firmware is needed");
	if (!wanted.capture.source)
		return usage("--port is needed, the serial line that the results come by");
	wanted.elf = argv[optind];
	if (access(wanted.elf, R_OK))
		return usage(xasprintf("%s: %s", wanted.elf, strerror(errno)));
	return run_mcu(&wanted, &result, &error) ? report(&error, EXIT_PROBLEM) : result;
}

static int run_energy_loop(int argc, char *argv[])
{
	static const char *const words[] = {"LITIFUT_INCLUDE", "LITIFUT_EXCLUDE_CALLEES",
					    "LITIFUT_CONFIG"};
	struct energy_loop_options wanted = {.output = "energy.config", .rounds = 8};
	struct litifut_error error;
	int option;

	while ((option = next_option(argc, argv)) >= 0) {
		const char **text = option == OPTION_MEASURE  ? &wanted.measure
				    : option == OPTION_ENERGY ? &wanted.energy
				    : option == 'c'           ? &wanted.config
							      : &wanted.output;

		if (option == '?')
			return EXIT_USAGE;
		if (option != OPTION_ROUNDS) {
			*text = optarg;
			continue;
		}
		wanted.rounds = read_number(optarg);
		if (!wanted.rounds)
			return usage(xasprintf("not a number: %s", optarg));
	}
	if (optind >= argc)
		return usage("the command that links is needed");
	if (!wanted.measure || !wanted.energy)
		return usage("--measure and --energy are needed");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *value = getenv(words[i]);
		if (value && *value)
			return usage(xasprintf("%s is set, and would outweigh the "
					       "advice; put it into a file for -c",
					       words[i]));
	}
	wanted.build = argv + optind;
	settings_check_names(print_warning);
	return energy_loop(stdout, &wanted, &error) ? report(&error, EXIT_PROBLEM) : 0;
}

static bool is_one(const char *word, const char *letter, const char *name)
{
	return !strcmp(word, letter) || !strcmp(word, name);
}

static int unknown_command(const char *word)
{
	const char *nearest = command_nearest(word);

	return nearest ? wrong_usage(
				 xasprintf("no such command: %s; did you mean %s?", word, nearest),
				 false)
		       : usage(xasprintf("no such command: %s", word));
}

static int help(const char *word)
{
	enum command command = word ? command_find(word) : COMMAND_NONE;

	if (word && command == COMMAND_NONE)
		return unknown_command(word);
	command_help(stdout, command);
	return 0;
}

static int (*const runs[COMMANDS])(int argc, char *argv[]) = {
	[COMMAND_BUILD] = build,
	[COMMAND_ENV] = environment,
	[COMMAND_INSTALL] = install,
	[COMMAND_UNINSTALL] = install,
	[COMMAND_INFO] = info,
	[COMMAND_CONTROL] = control_programs,
	[COMMAND_CAPTURE] = capture,
	[COMMAND_RUN_MCU] = run_firmware,
	[COMMAND_ENERGY_LOOP] = run_energy_loop,
};

int main(int argc, char *argv[])
{
	enum command command;

	xmalloc_set_program_name("litifut");
	if (argc < 2) {
		command_help(stderr, COMMAND_NONE);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--completion")) {
		if (argc == 3 && litifut_completion_write(stdout, argv[2], "litifut", commands))
			return 0;
		return usage("--completion takes bash, zsh or fish");
	}
	if (is_one(argv[1], "-h", "--help"))
		return help(NULL);
	if (!strcmp(argv[1], "help"))
		return help(argv[2]);
	command = command_find(argv[1]);
	if (is_one(argv[1], "-V", "--version") ||
	    (command != COMMAND_NONE && argc > 2 && is_one(argv[2], "-V", "--version"))) {
		printf("litifut %s\n", litifut_version);
		return 0;
	}
	if (command == COMMAND_NONE)
		return unknown_command(argv[1]);
	current = command;
	return runs[command](argc - 1, argv + 1);
}
