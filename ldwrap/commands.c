/* The words of litifut's commands, and their options for getopt, help and completion. */
#include "ldwrap/commands.h"

#include <string.h>

#include "common/nearest.h"

static const struct litifut_option build_options[] = {
	{"exclude", 'x', "GLOBS", NULL, "functions to leave alone, comma-separated", 0},
	{"config", 'c', "FILE", LITIFUT_WORDS_FILE, "settings, one `key = value' a line", 0},
	{"recorder", 'r', "FILE", LITIFUT_WORDS_FILE,
	 "an object with your own litifut_record_trace()", 0},
	{"strict", 's', NULL, NULL, "fail where a link can't be traced", 0},
	{"quiet", 'q', NULL, NULL, "do not say at the end what was traced", 0},
	{"verbose", 'v', NULL, NULL, "print each program run and each decision", 0},
	{"help", 'h', NULL, NULL, "print this", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_option info_options[] = {
	{"sites", OPTION_SITES, NULL, NULL, "list the sites", 0},
	{"skipped", OPTION_SKIPPED, NULL, NULL, "list the sites that were left", 0},
	{"json", OPTION_JSON, NULL, NULL, "as JSON", 0},
	{"help", 'h', NULL, NULL, "print this", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_option capture_options[] = {
	{"output", 'o', "FILE", LITIFUT_WORDS_FILE, "what is saved", 0},
	{"baud", 'b', "N", NULL, "speed of the line", 0},
	{"rounds", 'n', "N", NULL, "whole sendings to wait for", 0},
	{"seconds", 't', "N", NULL, "how long to wait", 0},
	{"swo", OPTION_SWO, NULL, NULL, "packets of an ITM (LITIFUT_PORT=itm)", 0},
	{"gdb", OPTION_GDB, "ELF", LITIFUT_WORDS_FILE, "read the firmware's memory by a gdb remote",
	 0},
	{"help", 'h', NULL, NULL, "print this", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_option run_mcu_options[] = {
	{"port", 'p', "LINE", LITIFUT_WORDS_FILE, "the serial line", 0},
	{"flash", OPTION_FLASH, "COMMAND", NULL, "loads and starts the firmware", 0},
	{"format", 'f', "FORMAT", NULL, "of litifut-post, or pdf", 0},
	{"output", 'o', "FILE", LITIFUT_WORDS_FILE, "where that goes", 0},
	{"capture", OPTION_CAPTURE, "FILE", LITIFUT_WORDS_FILE, "what is saved", 0},
	{"baud", OPTION_BAUD, "N", NULL, "speed of the line", 0},
	{"rounds", OPTION_ROUNDS, "N", NULL, "whole sendings to wait for", 0},
	{"seconds", OPTION_SECONDS, "N", NULL, "how long to wait", 0},
	{"help", 'h', NULL, NULL, "print this", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_option energy_loop_options[] = {
	{"measure", OPTION_MEASURE, "COMMAND", NULL, "runs the program and records it", 0},
	{"energy", OPTION_ENERGY, "WORDS", NULL, "options and files for litifut-post energy", 0},
	{"config", 'c', "FILE", LITIFUT_WORDS_FILE, "settings of the first link", 0},
	{"output", 'o', "FILE", LITIFUT_WORDS_FILE, "settings of the last link", 0},
	{"rounds", OPTION_ROUNDS, "N", NULL, "at most", 0},
	{"help", 'h', NULL, NULL, "print this", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_option no_options[] = {
	{"help", 'h', NULL, NULL, "print this", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

static const struct litifut_option general_options[] = {
	{"help", 'h', NULL, NULL, "print how to use it", 0},
	{"version", 'V', NULL, NULL, "print the version", 0},
	{"completion", OPTION_COMPLETION, "SHELL", "bash zsh fish",
	 "print the completion for bash, zsh or fish", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};

#define A_TOOLCHAIN "triplet|folder|linker"

const struct litifut_command commands[] = {
	[COMMAND_NONE] = {.name = "litifut", .options = general_options},
	[COMMAND_BUILD] =
		{"build", "run a command whose programs are traced", build_options,
		 LITIFUT_WORDS_COMMAND, LITIFUT_WORDS_ARGUMENTS,
		 "[option...] command [argument...]",
		 "The command, such as `make', runs with the tracer linked into every 32-bit ARM\n"
		 "and MIPS program and every firmware for Cortex-M and AVR that it makes. Its "
		 "last\n"
		 "line says what was traced. Variables such as LITIFUT_MODE say how: litifut(1)."},
	[COMMAND_ENV] = {"env", "print what build sets", no_options, NULL, NULL, NULL,
			 "For a shell: eval \"$(litifut env)\"."},
	[COMMAND_INSTALL] =
		{"install-ld", "put the tracer into a toolchain", no_options,
		 LITIFUT_WORDS_TOOLCHAIN, NULL, A_TOOLCHAIN,
		 "The linkers of the toolchain become links to litifut-ld, which traces where\n"
		 "LITIFUT=1 is set, and else does what they did. The toolchain is named by its\n"
		 "triplet, such as arm-linux-gnueabihf, by a folder with linkers, or by a linker."},
	[COMMAND_UNINSTALL] = {"uninstall-ld", "take the tracer out of a toolchain again",
			       no_options, LITIFUT_WORDS_TOOLCHAIN, NULL, A_TOOLCHAIN, NULL},
	[COMMAND_INFO] = {"info", "print what was done to a file", info_options, LITIFUT_WORDS_FILE,
			  NULL, "[--sites] [--skipped] [--json] file...", NULL},
	[COMMAND_CONTROL] =
		{"control", "switch recording in running programs", no_options, LITIFUT_WORDS_FILE,
		 "start stop snapshot reset status",
		 "folder|trace start|stop|snapshot|reset|status",
		 "Asks the running programs whose traces are in the folder, or one of them:\n"
		 "  start, stop  switch recording on or off; stop also does what snapshot does\n"
		 "  snapshot     complete the traces as they are, and copy them to "
		 "LITIFUT_COPY_TO\n"
		 "               if the programs run with that; else copy the folder yourself\n"
		 "  reset        begin the tables of LITIFUT_MODE=table anew\n"
		 "  status       print what each program does, and what was asked of it\n"
		 "A program follows after some thousand more calls, see status."},
	[COMMAND_CAPTURE] =
		{"capture", "save what a firmware sends", capture_options, LITIFUT_WORDS_FILE, NULL,
		 "[option...] line\n"
		 "[option...] --gdb ELF host:port",
		 "Saves what a traced firmware sends over a serial line, or reads a file or -\n"
		 "instead, and prints what the firmware itself prints there. With --gdb it reads\n"
		 "the memory of the firmware in the ELF file by a debug probe or an emulator."},
	[COMMAND_RUN_MCU] =
		{"run-mcu", "load a firmware and show what it sends", run_mcu_options,
		 LITIFUT_WORDS_FILE, NULL, "[option...] --port line ELF",
		 "Runs a command that loads and starts a firmware, captures what it sends, and\n"
		 "shows it in a format of litifut-post, or as pdf."},
	[COMMAND_ENERGY_LOOP] =
		{"energy-loop", "trace what the energy of functions asks for", energy_loop_options,
		 LITIFUT_WORDS_COMMAND, LITIFUT_WORDS_ARGUMENTS,
		 "[option...] --measure COMMAND --energy WORDS command [argument...]",
		 "Links by a command, measures by another one, and traces what the advice of\n"
		 "litifut-post energy says, until that asks for nothing else."},
	[COMMANDS] = {.name = NULL},
};

enum command command_find(const char *word)
{
	enum command found = COMMAND_BUILD;

	while (found < COMMANDS && strcmp(word, commands[found].name))
		found++;
	return found < COMMANDS ? found : COMMAND_NONE;
}

const char *command_nearest(const char *word)
{
	const char *names[COMMANDS] = {NULL};

	for (int i = COMMAND_BUILD; i < COMMANDS; i++)
		names[i - COMMAND_BUILD] = commands[i].name;
	return litifut_name_nearest(word, names);
}

void command_help(FILE *file, enum command command)
{
	if (command != COMMAND_NONE) {
		litifut_command_help(file, "litifut", &commands[command]);
		return;
	}
	for (int i = COMMAND_BUILD; i < COMMANDS; i++)
		litifut_usage_write(file, i == COMMAND_BUILD ? "usage: " : "       ", "litifut",
				    &commands[i]);
	fputs("       litifut help [COMMAND] | -h | -V | --completion bash|zsh|fish\n\n"
	      "Traces the calls of programs that are linked, without compiling them again:\n",
	      file);
	for (int i = COMMAND_BUILD; i < COMMANDS; i++)
		fprintf(file, "  %-14s%s\n", commands[i].name, commands[i].summary);
	fputs("`litifut help COMMAND' and `litifut COMMAND --help' say more.\n\n"
	      "Variables say the rest: LITIFUT_MODE (calls, spans, table, counts, coverage, "
	      "paths,\n"
	      "units; of firmware counts, table, spans, stream, coverage, paths, units, "
	      "balllarus)\n"
	      "when a program is linked, LITIFUT_DIR (where the trace goes), LITIFUT_CLOCK,\n"
	      "LITIFUT_VERBOSE and others when it runs. See litifut(1) and docs/firmware.md.\n",
	      file);
}
