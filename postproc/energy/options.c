/* Options of `litifut-post energy` and their meaning; docs/energy.md is the long form. */
#include "postproc/energy/options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum long_option {
	OPTION_POWER = LITIFUT_FIRST_LONG,
	OPTION_VOLTS,
	OPTION_RATE,
	OPTION_COLUMNS,
	OPTION_RAW,
	OPTION_OHMS,
	OPTION_GAIN,
	OPTION_TAU,
	OPTION_NEGATE,
	OPTION_SYNC,
	OPTION_SYNC_FILE,
	OPTION_AT,
	OPTION_MARK,
	OPTION_HOOK,
	OPTION_MACHINE,
	OPTION_RESOLVE,
	OPTION_NO_REFINE,
	OPTION_PENALTY,
	OPTION_MIN_STEP,
	OPTION_METHOD,
	OPTION_THRESHOLD,
	OPTION_BUDGET,
	OPTION_FROM,
	OPTION_TO,
	OPTION_TOP,
	OPTION_TRIGGER,
	OPTION_REPEAT,
	OPTION_PLAIN_RUN
};

/* clang-format off */
const struct litifut_option energy_options[] = {
	{NULL, 0, NULL, NULL, "Output:", 0},
	{"format", 'f', "FORMAT", "report calls folded tsv json callgrind svg chrome html include", "what to write (report)", 0},
	{"output", 'o', "FILE", LITIFUT_WORDS_FILE, "where to write it", 0},
	{"top", OPTION_TOP, "N", NULL, "functions that are shown", 0},
	{"from", OPTION_FROM, "S", NULL, "of a picture, analyser's seconds", 0},
	{"to", OPTION_TO, "S", NULL, "its end", 0},
	{"quiet", 'q', NULL, NULL, "no line about what was understood", 0},
	{"help", 'h', NULL, NULL, "print this", 0},
	{NULL, 0, NULL, NULL, "The power file (PPK2, Keysight, Joulescope, Saleae, EnergyTrace, sigrok, any CSV):", 0},
	{"power", OPTION_POWER, "FILE", LITIFUT_WORDS_FILE, "the recording", 0},
	{"volts", OPTION_VOLTS, "V[,V...]", NULL, "the supply, where only a current was measured; one for each channel where they differ", 0},
	{"rate", OPTION_RATE, "N", NULL, "samples a second, where the file does not say", 0},
	{"columns", OPTION_COLUMNS, "LIST", NULL, "ROLE=COLUMN[:UNIT],...: time, current, voltage, power, sync...", 0},
	{"raw", OPTION_RAW, "TYPE", "u8 i8 u16le u16be i16le i16be u32le u32be i32le i32be f32le f32be f64le f64be", "plain numbers: u16le, i16le, f32le, f64be...", 0},
	{"ohms", OPTION_OHMS, "R", NULL, "a shunt, where a voltage was measured", 0},
	{"gain", OPTION_GAIN, "G", NULL, "of its amplifier", 0},
	{"tau", OPTION_TAU, "S", NULL, "the time constant of the capacitors between the analyser and the processor, which smear the curve", 0},
	{"negate", OPTION_NEGATE, NULL, NULL, "the current was measured the other way round", 0},
	{NULL, 0, NULL, NULL, "The two clocks:", 0},
	{"sync", OPTION_SYNC, "PIN", NULL, "pin with the marks (the first that rises); power: they switch a load, such as an LED, that the curve shows", 0},
	{"mark", OPTION_MARK, "FUNCTION", NULL, "each call of it raises the pin, where the recorder does not", 0},
	{"sync-file", OPTION_SYNC_FILE, "FILE", LITIFUT_WORDS_FILE, "the pins were recorded there, by the same clock", 0},
	{"at", OPTION_AT, "DEV=ANALYSER", NULL, "a pair of times in place of marks, in seconds; DEV counts from the start of the trace; repeatable", 0},
	{"no-refine", OPTION_NO_REFINE, NULL, NULL, "do not look for a shift in the data", 0},
	{NULL, 0, NULL, NULL, "Functions and peripherals:", 0},
	{"hook", OPTION_HOOK, "A,B[,MW]", NULL, "a hook's microseconds in the callee and in the caller for each call, and its milliwatts (found in the data)", 0},
	{"plain-run", OPTION_PLAIN_RUN, "FILE", LITIFUT_WORDS_FILE, "the same run untraced, with the pin at its start and its end: what hooks took by the difference is compared with --hook", 0},
	{"machine", OPTION_MACHINE, "FILE", LITIFUT_WORDS_FILE, "states of a peripheral; repeatable", 0},
	{"trigger", OPTION_TRIGGER, "FUNCTION", NULL, "learn: calls of it change the peripheral's state; a glob, repeatable", 0},
	{"repeat", OPTION_REPEAT, "N", NULL, "exercise: how often each pair of calls is made (16)", 0},
	{"resolve", OPTION_RESOLVE, "WHEN", "auto yes no", "regression in place of integrals: auto, yes, no", 0},
	{NULL, 0, NULL, NULL, "Changes of power, and what to trace next (-f include):", 0},
	{"penalty", OPTION_PENALTY, "X", NULL, "factor of the penalty of a change", 0},
	{"min-step", OPTION_MIN_STEP, "W", NULL, "the least change (1 % of the range)", 0},
	{"method", OPTION_METHOD, "NAME", "fpop pelt", "fpop or pelt", 0},
	{"threshold", OPTION_THRESHOLD, "N", NULL, "changes a call from which a function is opened (0.5)", 0},
	{"budget", OPTION_BUDGET, "PERCENT", NULL, "of the time, that hooks may take (5)", 0},
	{NULL, 0, NULL, NULL, NULL, 0},
};
/* clang-format on */

static void print_help(void)
{
	puts("usage: litifut-post energy [-f FORMAT] [options] --power FILE TRACE... ELF...\n"
	     "       litifut-post energy check [options] --power FILE\n"
	     "       litifut-post energy learn --trigger FUNCTION... [options] --power FILE "
	     "TRACE...\n"
	     "       litifut-post energy exercise [--repeat N] [-o FILE] LIST\n"
	     "       litifut-post energy diff [options] --power OLD --power NEW OLD-TRACE "
	     "NEW-TRACE [ELF...]\n"
	     "Energy of each function: a recording of a power analyser and a trace with returns.\n"
	     "TRACE: traces of LITIFUT, or one text that begins with \"litifut-events 1\".\n\n"
	     "Formats (-f):");
	for (size_t i = 0; energy_formats[i]; i++)
		printf("  %-12s %s\n", energy_formats[i]->name, energy_formats[i]->summary);
	litifut_options_help(stdout, energy_options);
	puts("\nExit status: 0 done, 1 a problem was found, 2 wrong usage. docs/energy.md.");
}

static int usage(const char *message, const char *what)
{
	fprintf(stderr, "litifut-post energy: %s%s%s; try --help\n", message, what ? " " : "",
		what ? what : "");
	return 2;
}

static bool number(const char *text, double least, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && !*end && isfinite(*value) && *value >= least;
}

/* ALPHA,BETA[,MILLIWATTS] */
static bool hook_of(const char *text, struct energy_hook *hook)
{
	double values[3] = {0};
	int count = 0;
	const char *at = text;

	while (count < 3) {
		char *end;
		values[count] = strtod(at, &end);
		if (end == at || !(values[count] >= 0) || !isfinite(values[count]))
			return false;
		count++;
		at = end;
		if (*at != ',')
			break;
		at++;
	}
	if (*at || count < 2)
		return false;
	*hook = energy_hook_of(values[0] * 1e-6, values[1] * 1e-6);
	hook->watts = values[2] * 1e-3;
	return true;
}

static bool volts_of(const char *text, double *volts)
{
	unsigned count = 0;

	memset(volts, 0, ENERGY_CHANNELS * sizeof(*volts));
	for (;; text++) {
		char *end;
		if (count == ENERGY_CHANNELS)
			return false;
		volts[count] = strtod(text, &end);
		if (end == text || !(volts[count] > 0) || !isfinite(volts[count]))
			return false;
		count++;
		text = end;
		if (*text != ',')
			return !*text;
	}
}

static bool pair_of(const char *text, struct energy_settings *settings)
{
	char *end;
	struct energy_knot knot;

	knot.device = strtod(text, &end);
	if (end == text || *end != '=' ||
	    settings->at_count == sizeof(settings->at) / sizeof(settings->at[0]))
		return false;
	text = end + 1;
	knot.analyser = strtod(text, &end);
	if (end == text || *end || !isfinite(knot.device) || !isfinite(knot.analyser))
		return false;
	settings->at[settings->at_count++] = knot;
	return true;
}

static int choose_format(struct energy_arguments *given, const char *name)
{
	for (size_t i = 0; energy_formats[i]; i++) {
		if (!strcmp(energy_formats[i]->name, name)) {
			given->format = energy_formats[i];
			return 0;
		}
	}
	return usage("there is no format", name);
}

static int take_option(struct energy_arguments *given, int option, const char *name, char *value)
{
	struct energy_settings *settings = &given->settings;
	double least = 0, *into = NULL, top;

	switch (option) {
	case 'f':
		return choose_format(given, value);
	case 'o':
		given->output_path = value;
		return 0;
	case 'q':
		given->quiet = true;
		return 0;
	case OPTION_POWER:
		if (given->power_count == 2)
			return usage("there are more than two power files", NULL);
		given->power[given->power_count++] = value;
		return 0;
	case OPTION_COLUMNS:
		settings->power.columns = value;
		return 0;
	case OPTION_RAW:
		settings->power.raw = value;
		return 0;
	case OPTION_NEGATE:
		settings->power.negate = true;
		return 0;
	case OPTION_MARK:
		settings->mark = value;
		return 0;
	case OPTION_SYNC:
		settings->sync = value;
		return 0;
	case OPTION_SYNC_FILE:
		given->sync_file = value;
		return 0;
	case OPTION_TRIGGER:
		if (given->trigger_count == sizeof(given->triggers) / sizeof(given->triggers[0]))
			return usage("there are too many --trigger", NULL);
		given->triggers[given->trigger_count++] = value;
		return 0;
	case OPTION_REPEAT:
		if (!number(value, 1, &top) || top > 1000)
			return usage("--repeat takes a number from 1 to 1000, not", value);
		given->repeats = (unsigned)top;
		return 0;
	case OPTION_PLAIN_RUN:
		given->plain = value;
		return 0;
	case OPTION_NO_REFINE:
		settings->refine = false;
		return 0;
	case OPTION_AT:
		return pair_of(value, settings)
			       ? 0
			       : usage("--at takes DEVICE=ANALYSER in seconds, not", value);
	case OPTION_HOOK:
		return hook_of(value, &settings->hook)
			       ? 0
			       : usage("--hook takes A,B or A,B,MILLIWATTS, not", value);
	case OPTION_MACHINE:
		if (given->machine_count == sizeof(given->machines) / sizeof(given->machines[0]))
			return usage("there are too many --machine", NULL);
		given->machines[given->machine_count++] = value;
		return 0;
	case OPTION_RESOLVE:
		if (strcmp(value, "auto") && strcmp(value, "yes") && strcmp(value, "no"))
			return usage("--resolve takes auto, yes or no, not", value);
		settings->resolve = *value == 'a'   ? ENERGY_AUTO
				    : *value == 'y' ? ENERGY_YES
						    : ENERGY_NO;
		return 0;
	case OPTION_METHOD:
		if (strcmp(value, "fpop") && strcmp(value, "pelt"))
			return usage("--method takes fpop or pelt, not", value);
		settings->pelt = *value == 'p';
		return 0;
	case OPTION_TOP:
		if (!number(value, 0, &top))
			return usage("--top takes a number, not", value);
		given->top = (size_t)top;
		return 0;
	case OPTION_VOLTS:
		return volts_of(value, settings->power.volts)
			       ? 0
			       : usage("--volts takes a voltage, or one for each channel with "
				       "commas between them, not",
				       value);
	case OPTION_RATE:
		into = &settings->power.rate;
		break;
	case OPTION_OHMS:
		into = &settings->power.ohms;
		break;
	case OPTION_GAIN:
		into = &settings->power.gain;
		break;
	case OPTION_TAU:
		into = &settings->power.tau;
		break;
	case OPTION_PENALTY:
		into = &settings->penalty;
		break;
	case OPTION_MIN_STEP:
		into = &settings->min_step;
		break;
	case OPTION_THRESHOLD:
		into = &settings->threshold;
		break;
	case OPTION_BUDGET:
		into = &settings->budget;
		break;
	case OPTION_FROM:
		into = &settings->from;
		least = -INFINITY;
		break;
	case OPTION_TO:
		into = &settings->to;
		least = -INFINITY;
		break;
	default:
		return usage("wrong option", NULL);
	}
	if (!number(value, least, into)) {
		fprintf(stderr, "litifut-post energy: --%s takes a number, not %s; try --help\n",
			name, value);
		return 2;
	}
	return 0;
}

int energy_arguments_parse(struct energy_arguments *given, int count, char **arguments)
{
	static const struct {
		const char *name;
		enum energy_verb verb;
	} verbs[] = {{"check", VERB_CHECK},
		     {"learn", VERB_LEARN},
		     {"diff", VERB_DIFF},
		     {"exercise", VERB_EXERCISE}};
	struct option list[LITIFUT_MOST_OPTIONS + 1];
	char letters[3 * LITIFUT_MOST_OPTIONS + 1] = ":";
	int option, index = 0;

	*given = (struct energy_arguments){
		.format = &energy_format_report,
		.repeats = 16,
		.settings = {.refine = true, .threshold = 0.5, .budget = 5}};
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]) && count > 1; i++) {
		if (!strcmp(arguments[1], verbs[i].name)) {
			given->verb = verbs[i].verb;
			arguments++;
			count--;
			break;
		}
	}
	litifut_options_getopt(energy_options, list, letters);
	optind = 0; /* glibc: begin anew */
	opterr = 0;
	while ((option = getopt_long(count, arguments, letters, list, &index)) != -1) {
		if (option == 'h') {
			print_help();
			return 0;
		}
		if (option == '?' || option == ':') {
			char text[256];
			if (!litifut_option_wrong(energy_options, count, arguments, option == ':',
						  text, sizeof(text)))
				return usage(text, NULL);
			fprintf(stderr, "litifut-post energy: %s\n", text);
			return 2;
		}
		int status = take_option(given, option, list[index].name, optarg);
		if (status)
			return status;
	}
	given->settings.budget /= 100;
	given->paths = arguments + optind;
	given->path_count = (size_t)(count - optind);
	if (given->verb == VERB_EXERCISE && given->path_count == 1 && !given->power_count)
		return -1;
	if (given->verb == VERB_EXERCISE)
		return usage("exercise takes one file, a list of calls", NULL);
	if (given->power_count != (given->verb == VERB_DIFF ? 2 : 1))
		return usage(given->verb == VERB_DIFF ? "diff takes two --power FILE"
						      : "--power FILE is missing, or there are two",
			     NULL);
	if (given->verb == VERB_LEARN && !given->trigger_count)
		return usage("learn needs --trigger FUNCTION", NULL);
	if (given->verb == VERB_DIFF && given->path_count < 2)
		return usage("diff takes two traces, the old one and the new one", NULL);
	if (given->verb != VERB_CHECK && !given->path_count)
		return usage("no trace is given", NULL);
	return -1;
}
