/* What the command line of `litifut-post energy` asks for. */
#ifndef LITIFUT_POSTPROC_ENERGY_OPTIONS_H
#define LITIFUT_POSTPROC_ENERGY_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/options.h"
#include "postproc/energy/analysis.h"
#include "postproc/energy/output.h"

enum energy_verb { VERB_ENERGY, VERB_CHECK, VERB_LEARN, VERB_DIFF, VERB_EXERCISE };

struct energy_arguments {
	enum energy_verb verb;
	const struct energy_format *format;
	const char *command; /* the command line, or NULL; set by whoever has it */
	const char *output_path, *power[2], *sync_file, *plain;
	const char *triggers[16];
	size_t trigger_count;
	unsigned repeats; /* of an exercise */
	size_t power_count;
	const char *machines[16];
	size_t machine_count;
	struct energy_settings settings;
	size_t top;
	bool quiet;
	char **paths;
	size_t path_count;
};

extern const struct litifut_option energy_options[];

/* Parses the words after `litifut-post`; arguments[0] is "energy". What `given` refers to
 * stays in `arguments`. Returns -1 when there is something to do, else the exit status of the
 * program: help was printed, or the usage is wrong and a line on standard error says how. */
int energy_arguments_parse(struct energy_arguments *given, int count, char **arguments);

#endif
