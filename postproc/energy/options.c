/* Options of `litifut-post energy` and their meaning; docs/energy.md is the long form. */
#include "postproc/energy/options.h"

#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum long_option {
	OPTION_POWER = 256,
	OPTION_VOLTS,
	OPTION_RATE,
	OPTION_COLUMNS,
	OPTION_RAW,
	OPTION_OHMS,
	OPTION_GAIN,
	OPTION_NEGATE,
	OPTION_SYNC,
	OPTION_SYNC_FILE,
	OPTION_AT,
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
	OPTION_PLAIN_RUN
};

static const struct option long_options[] = {
	{"format", required_argument, NULL, 'f'},
	{"output", required_argument, NULL, 'o'},
	{"quiet", no_argument, NULL, 'q'},
	{"help", no_argument, NULL, 'h'},
	{"power", required_argument, NULL, OPTION_POWER},
	{"volts", required_argument, NULL, OPTION_VOLTS},
	{"rate", required_argument, NULL, OPTION_RATE},
	{"columns", required_argument, NULL, OPTION_COLUMNS},
	{"raw", required_argument, NULL, OPTION_RAW},
	{"ohms", required_argument, NULL, OPTION_OHMS},
	{"gain", required_argument, NULL, OPTION_GAIN},
	{"negate", no_argument, NULL, OPTION_NEGATE},
	{"sync", required_argument, NULL, OPTION_SYNC},
	{"sync-file", required_argument, NULL, OPTION_SYNC_FILE},
	{"at", required_argument, NULL, OPTION_AT},
	{"hook", required_argument, NULL, OPTION_HOOK},
	{"machine", required_argument, NULL, OPTION_MACHINE},
	{"resolve", required_argument, NULL, OPTION_RESOLVE},
	{"no-refine", no_argument, NULL, OPTION_NO_REFINE},
	{"penalty", required_argument, NULL, OPTION_PENALTY},
	{"min-step", required_argument, NULL, OPTION_MIN_STEP},
	{"method", required_argument, NULL, OPTION_METHOD},
	{"threshold", required_argument, NULL, OPTION_THRESHOLD},
	{"budget", required_argument, NULL, OPTION_BUDGET},
	{"from", required_argument, NULL, OPTION_FROM},
	{"to", required_argument, NULL, OPTION_TO},
	{"top", required_argument, NULL, OPTION_TOP},
	{"trigger", required_argument, NULL, OPTION_TRIGGER},
	{"plain-run", required_argument, NULL, OPTION_PLAIN_RUN},
	{NULL, 0, NULL, 0},
};

static void print_help(void)
{
	puts("usage: litifut-post energy [-f FORMAT] [options] --power FILE TRACE... ELF...\n"
	     "       litifut-post energy check [options] --power FILE\n"
	     "       litifut-post energy learn --trigger FUNCTION [options] --power FILE TRACE...\n"
	     "       litifut-post energy diff [options] --power OLD --power NEW OLD-TRACE "
	     "NEW-TRACE\n"
	     "Energy of each function: a recording of a power analyser and a trace with returns.\n"
	     "TRACE: traces of LITIFUT, or one text that begins with \"litifut-events 1\".\n\n"
	     "Formats (-f):");
	for (size_t i = 0; energy_formats[i]; i++)
		printf("  %-12s %s\n", energy_formats[i]->name, energy_formats[i]->summary);
	puts("\nThe power file (PPK2, Keysight, Saleae, EnergyTrace, sigrok, any CSV):\n"
	     "  --volts V          the supply, where only a current was measured\n"
	     "  --rate N           samples a second, where the file does not say\n"
	     "  --columns LIST     ROLE=COLUMN[:UNIT],...: time, current, voltage, power, sync...\n"
	     "  --raw TYPE         plain numbers: u16le, i16le, f32le, f64be...\n"
	     "  --ohms R, --gain G a shunt and its amplifier, where a voltage was measured\n"
	     "  --negate           the current was measured the other way round\n\n"
	     "The two clocks:\n"
	     "  --sync PIN         pin with the marks (default: the first that rises)\n"
	     "  --sync-file FILE   the pins were recorded there, by the same clock\n"
	     "  --at DEV=ANALYSER  a pair of times in place of marks, in seconds; DEV counts\n"
	     "                     from the start of the trace; repeatable\n"
	     "  --no-refine        do not look for a shift in the data\n\n"
	     "Functions and peripherals:\n"
	     "  --hook A,B[,MW]    a hook's microseconds in the callee and in the caller for each\n"
	     "                     call, and its milliwatts (default: found in the data)\n"
	     "  --plain-run FILE   the same run untraced, with the pin at its start and its end: "
	     "what\n"
	     "                     hooks took by the difference is compared with --hook\n"
	     "  --machine FILE     states of a peripheral; repeatable\n"
	     "  --resolve WHEN     regression in place of integrals: auto, yes, no\n\n"
	     "Changes of power, and what to trace next (-f include):\n"
	     "  --penalty X, --min-step W, --method fpop|pelt, --threshold N, --budget PERCENT\n\n"
	     "Output:\n"
	     "  -o FILE, --top N, --from S, --to S (svg), -q, --quiet\n\n"
	     "Exit status: 0 done, 1 a problem was found, 2 wrong usage. docs/energy.md.");
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
	case OPTION_SYNC:
		settings->sync = value;
		return 0;
	case OPTION_SYNC_FILE:
		given->sync_file = value;
		return 0;
	case OPTION_TRIGGER:
		given->trigger = value;
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
		into = &settings->power.volts;
		break;
	case OPTION_RATE:
		into = &settings->power.rate;
		break;
	case OPTION_OHMS:
		into = &settings->power.ohms;
		break;
	case OPTION_GAIN:
		into = &settings->power.gain;
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
	} verbs[] = {{"check", VERB_CHECK}, {"learn", VERB_LEARN}, {"diff", VERB_DIFF}};
	int option, index = 0;

	*given = (struct energy_arguments){
		.format = &energy_format_report,
		.settings = {.refine = true, .threshold = 0.5, .budget = 5}};
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]) && count > 1; i++) {
		if (!strcmp(arguments[1], verbs[i].name)) {
			given->verb = verbs[i].verb;
			arguments++;
			count--;
			break;
		}
	}
	optind = 0; /* glibc: begin anew */
	while ((option = getopt_long(count, arguments, "f:o:qh", long_options, &index)) != -1) {
		if (option == 'h') {
			print_help();
			return 0;
		}
		if (option == '?')
			return 2;
		int status = take_option(given, option, long_options[index].name, optarg);
		if (status)
			return status;
	}
	given->settings.budget /= 100;
	given->paths = arguments + optind;
	given->path_count = (size_t)(count - optind);
	if (given->power_count != (given->verb == VERB_DIFF ? 2 : 1))
		return usage(given->verb == VERB_DIFF ? "diff takes two --power FILE"
						      : "--power FILE is missing, or there are two",
			     NULL);
	if (given->verb == VERB_LEARN && !given->trigger)
		return usage("learn needs --trigger FUNCTION", NULL);
	if (given->verb == VERB_DIFF && given->path_count != 2)
		return usage("diff takes two traces", NULL);
	if (given->verb != VERB_CHECK && !given->path_count)
		return usage("no trace is given", NULL);
	return -1;
}
