/* The commands of litifut: which there are, their options, and what is said about them. */
#ifndef LITIFUT_LDWRAP_COMMANDS_H
#define LITIFUT_LDWRAP_COMMANDS_H

#include <stdio.h>

#include "common/options.h"

/* The options that have no letter. */
enum {
	OPTION_SITES = LITIFUT_FIRST_LONG,
	OPTION_SKIPPED,
	OPTION_JSON,
	OPTION_FLASH,
	OPTION_CAPTURE,
	OPTION_BAUD,
	OPTION_SECONDS,
	OPTION_ROUNDS,
	OPTION_MEASURE,
	OPTION_ENERGY,
	OPTION_SWO,
	OPTION_GDB,
	OPTION_COMPLETION
};

enum command {
	COMMAND_NONE, /* litifut itself */
	COMMAND_BUILD,
	COMMAND_ENV,
	COMMAND_INSTALL,
	COMMAND_UNINSTALL,
	COMMAND_INFO,
	COMMAND_CONTROL,
	COMMAND_CAPTURE,
	COMMAND_RUN_MCU,
	COMMAND_ENERGY_LOOP,
	COMMANDS
};

/* One for each `enum command`, and one without a name. */
extern const struct litifut_command commands[];

/* COMMAND_NONE: there is no such command. */
enum command command_find(const char *word);

/* The command that may have been meant; NULL: none. */
const char *command_nearest(const char *word);

/* The help of a command, or of litifut itself. */
void command_help(FILE *file, enum command command);

#endif
