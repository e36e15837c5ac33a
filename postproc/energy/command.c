/* The command line of `litifut-post energy`. */
#include "postproc/energy/command.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "postproc/energy/learn.h"
#include "postproc/energy/output.h"
#include "postproc/energy/traces.h"

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

enum verb { VERB_ENERGY, VERB_CHECK, VERB_LEARN, VERB_DIFF };

struct given {
	enum verb verb;
	const struct energy_format *format;
	const char *output_path, *power[2], *sync_file, *trigger, *plain;
	size_t power_count;
	const char *machines[16];
	size_t machine_count;
	struct energy_settings settings;
	size_t top;
	bool quiet;
	char **paths;
	size_t path_count;
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
	     "  --at DEV=ANALYSER  a pair of times in seconds in place of marks; repeatable\n"
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

/* ALPHA,BETA[,MILLIWATTS]: halves before and after the clock are not known apart, and only
 * their sums count but for functions that are resolved. */
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
	*hook = (struct energy_hook){.enter_before = values[1] * 0.5e-6,
				     .exit_after = values[1] * 0.5e-6,
				     .enter_after = values[0] * 0.5e-6,
				     .exit_before = values[0] * 0.5e-6,
				     .watts = values[2] * 1e-3,
				     .known = true};
	/* to the last digit that was given, at best */
	hook->uncertainty = 0.01 * (values[0] + values[1]) * 1e-6;
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

static int choose_format(struct given *given, const char *name)
{
	for (size_t i = 0; energy_formats[i]; i++) {
		if (!strcmp(energy_formats[i]->name, name)) {
			given->format = energy_formats[i];
			return 0;
		}
	}
	return usage("there is no format", name);
}

static int take_option(struct given *given, int option, const char *name, char *value)
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

/* -1: go on */
static int parse(struct given *given, int count, char **arguments)
{
	static const struct {
		const char *name;
		enum verb verb;
	} verbs[] = {{"check", VERB_CHECK}, {"learn", VERB_LEARN}, {"diff", VERB_DIFF}};
	int option, index = 0;

	*given = (struct given){.format = &energy_format_report,
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

static int problem(const struct litifut_error *error)
{
	char line[1024];

	fprintf(stderr, "litifut-post energy: %s\n", litifut_error_line(error, line, sizeof(line)));
	return 1;
}

static void print_problem(void *context, const struct litifut_error *error)
{
	(void)context;
	problem(error);
}

/* A whole small file; NULL: it can't be read, which was said. */
static char *slurp(const char *path, size_t *size)
{
	FILE *file = fopen(path, "re");
	struct stat about;
	char *text = NULL;

	*size = 0;
	if (file && !fstat(fileno(file), &about) && S_ISREG(about.st_mode))
		text = malloc((size_t)about.st_size + 1);
	if (text)
		*size = fread(text, 1, (size_t)about.st_size, file);
	if (!text)
		fprintf(stderr, "litifut-post energy: %s: %s\n", path,
			errno ? strerror(errno) : "not a file");
	if (file)
		fclose(file);
	return text;
}

static bool begins_as_events(const char *path)
{
	char start[32];
	FILE *file = fopen(path, "re");
	size_t size = file ? fread(start, 1, sizeof(start), file) : 0;

	if (file)
		fclose(file);
	return energy_events_is_text(start, size);
}

struct run {
	struct energy_analysis analysis;
	struct post_session session;
	struct post_problems problems;
	const char **names;
};

static int read_power(struct run *run, const struct given *given, const char *path)
{
	struct litifut_error error = {0};
	struct energy_power pins;
	char text[512];

	run->analysis.power_path = path;
	if (energy_power_open(&run->analysis.power, path, &given->settings.power, &error) !=
	    LITIFUT_OK)
		return problem(&error);
	if (given->sync_file) {
		enum litifut_status status =
			energy_power_open(&pins, given->sync_file, &given->settings.power, &error);
		if (status == LITIFUT_OK)
			status = energy_power_take_pins(&run->analysis.power, &pins, &error);
		energy_power_release(&pins);
		if (status != LITIFUT_OK)
			return problem(&error);
	}
	if (!given->quiet)
		fprintf(stderr, "litifut-post energy: %s\n",
			energy_power_describe(&run->analysis.power, path, text, sizeof(text)));
	if (!run->analysis.power.count) {
		fprintf(stderr, "litifut-post energy: %s: it has pins and no power\n", path);
		return 1;
	}
	return 0;
}

static int read_events(struct run *run, char **paths, size_t count)
{
	struct energy_analysis *a = &run->analysis;
	struct litifut_error error = {0};
	enum litifut_status status = LITIFUT_OK;
	size_t size;

	if (count == 1 && begins_as_events(paths[0])) {
		char *text = slurp(paths[0], &size);
		if (!text)
			return 1;
		status = energy_events_read(&a->events, paths[0], text, size, &error);
		free(text);
		a->names = (const char *const *)a->events.names;
		a->name_count = a->events.name_count;
	} else {
		run->problems.report = print_problem;
		run->session.problems = &run->problems;
		run->session.options.demangle = true;
		run->session.options.maps_paths = true;
		for (size_t i = 0; i < count; i++)
			post_inputs_add(&run->session.inputs, paths[i], &run->problems);
		post_inputs_finish(&run->session.inputs);
		post_session_open(&run->session);
		energy_traces_read(&run->session, &a->events);
		post_session_conclude(&run->session);
		run->names = calloc(run->session.function_count + 1, sizeof(*run->names));
		for (size_t i = 0; run->names && i < run->session.function_count; i++)
			run->names[i] = run->session.functions[i].name;
		a->names = run->names;
		a->name_count = run->names ? run->session.function_count : 0;
	}
	if (status == LITIFUT_OK)
		status = energy_events_finish(&a->events, &error);
	if (status != LITIFUT_OK)
		return problem(&error);
	size_t leaves = 0;
	for (size_t i = 0; i < a->events.count; i++)
		leaves += a->events.items[i].kind == ENERGY_EVENT_LEAVE;
	if (a->events.guessed || !leaves) {
		fprintf(stderr,
			"litifut-post energy: %s: the trace has no returns: link with "
			"LITIFUT_MODE=spans and measure again\n",
			paths[0]);
		return 1;
	}
	return 0;
}

static int read_machines(struct run *run, const struct given *given)
{
	struct litifut_error error = {0};

	for (size_t i = 0; i < given->machine_count; i++) {
		size_t size;
		char *text = slurp(given->machines[i], &size);
		if (!text)
			return 1;
		enum litifut_status status = energy_machines_read(
			&run->analysis.machines, given->machines[i], text, size, &error);
		free(text);
		if (status != LITIFUT_OK)
			return problem(&error);
	}
	return 0;
}

/* Seconds from the first to the last rise of the pin; below 0: there are not two. */
static double marked_time(const struct energy_power *power, const char *sync)
{
	double first = -1, last = -1;
	int named = sync ? energy_power_pin(power, sync) : -1;

	for (unsigned pin = 0; pin < power->pins && last <= first; pin++) {
		if (named >= 0 && pin != (unsigned)named)
			continue;
		first = last = -1;
		for (size_t i = 1; i < power->change_count; i++) {
			bool rises = (power->changes[i].levels >> pin & 1) &&
				     !(power->changes[i - 1].levels >> pin & 1);
			if (rises && first < 0)
				first = power->changes[i].time;
			if (rises)
				last = power->changes[i].time;
		}
	}
	return last > first ? last - first : -1;
}

/* The program waits for nothing while hooks run only if both agree. */
static int compare_plain(struct run *run, const struct given *given)
{
	const struct energy_analysis *a = &run->analysis;
	struct litifut_error error = {0};
	struct energy_power plain;
	char texts[3][32];

	if (energy_power_open(&plain, given->plain, &given->settings.power, &error) != LITIFUT_OK) {
		energy_power_release(&plain);
		return problem(&error);
	}
	double untraced = marked_time(&plain, given->settings.sync);
	double traced = marked_time(&a->power, given->settings.sync);
	energy_power_release(&plain);
	if (untraced < 0 || traced < 0) {
		fprintf(stderr, "litifut-post energy: %s: the pin does not rise twice\n",
			untraced < 0 ? given->plain : a->power_path);
		return 1;
	}
	double took = traced - untraced, known = a->result.hook_seconds;
	fprintf(stderr,
		"litifut-post energy: hooks took %s by the untraced run, that is %s a call%s%s",
		energy_quantity(took, "s", texts[0], 32),
		energy_quantity(took / (double)a->result.counts.calls, "s", texts[1], 32),
		a->hook.known ? "; by --hook " : "\n",
		a->hook.known ? energy_quantity(known, "s", texts[2], 32) : "");
	if (a->hook.known)
		fprintf(stderr, "%s\n",
			fabs(took - known) > 0.05 * known ? ": they differ by more than 5 %: a "
							    "wrong cost, or the program waits "
							    "less while hooks run"
							  : "");
	return 0;
}

/* What follows the power file. */
static int analyse_events(struct run *run, const struct given *given, char **paths,
			  size_t path_count)
{
	struct litifut_error error = {0};
	char text[512];
	int failed = read_events(run, paths, path_count);

	if (!failed)
		failed = read_machines(run, given);
	if (failed)
		return failed;
	if (energy_analysis_clock(&run->analysis, &given->settings, &error) != LITIFUT_OK ||
	    energy_analysis_run(&run->analysis, &given->settings, &error) != LITIFUT_OK)
		return problem(&error);
	if (!given->quiet)
		fprintf(stderr, "litifut-post energy: %s\n",
			energy_clock_describe(&run->analysis.clock, text, sizeof(text)));
	if (given->plain && compare_plain(run, given))
		return 1;
	return run->problems.count || run->analysis.clock.ambiguous;
}

static int analyse(struct run *run, const struct given *given, const char *power, char **paths,
		   size_t path_count)
{
	int failed = read_power(run, given, power);

	return failed ? failed : analyse_events(run, given, paths, path_count);
}

static void release(struct run *run)
{
	energy_analysis_release(&run->analysis);
	free(run->names);
	if (run->session.problems)
		post_session_close(&run->session);
}

static int show(const struct given *given, FILE *file)
{
	struct run run = {0};
	struct energy_output output = {.file = file,
				       .analysis = &run.analysis,
				       .settings = &given->settings,
				       .top = given->top};

	run.analysis.result.occurrence = given->format->occurrence;
	run.analysis.result.context = &output;
	int failed = read_power(&run, given, given->power[0]);
	if (!failed) {
		/* its first line says how many channels there are */
		if (given->format->start)
			given->format->start(&output);
		failed = analyse_events(&run, given, given->paths, given->path_count);
	}
	if (run.analysis.result.functions && run.analysis.advice)
		given->format->write(&output);
	release(&run);
	return failed;
}

static int learn(const struct given *given, FILE *file)
{
	struct run run = {0};
	struct litifut_error error = {0};
	struct energy_machines machines = {0};
	int failed = analyse(&run, given, given->power[0], given->paths, given->path_count);

	if (!failed) {
		if (energy_learn(&run.analysis, given->trigger, &machines, &error) == LITIFUT_OK)
			energy_machines_write(&machines, file);
		else
			failed = problem(&error);
	}
	energy_machines_release(&machines);
	release(&run);
	return failed;
}

/* Functions of both by name; what has changed by more than its error is marked. */
static void compare(FILE *file, const struct energy_analysis *old,
		    const struct energy_analysis *new)
{
	uint32_t *order = calloc(new->result.function_count + 1, sizeof(*order));
	size_t count = order ? energy_order(new, order) : 0;

	fprintf(file, "%12s %12s %12s %10s %9s  %s\n", "old a call", "new a call", "change", "+-",
		"percent", "function");
	for (size_t i = 0; i < count; i++) {
		const struct energy_function *b = &new->result.functions[order[i]];
		const struct energy_function *a = NULL;
		const char *name = energy_name(new, order[i]);
		char texts[4][32];
		for (uint32_t k = 0; k < old->result.function_count && !a; k++) {
			if (old->result.functions[k].calls && !strcmp(energy_name(old, k), name))
				a = &old->result.functions[k];
		}
		double now =
			(energy_sum(b->self, new->result.channels) + b->later) / (double)b->calls;
		if (!a) {
			fprintf(file, "%12s %12s %12s %10s %9s  %s  (new)\n", "-",
				energy_quantity(now, "J", texts[0], 32), "", "", "", name);
			continue;
		}
		double before =
			(energy_sum(a->self, old->result.channels) + a->later) / (double)a->calls;
		double error =
			hypot(b->uncertainty / (double)b->calls, a->uncertainty / (double)a->calls);
		fprintf(file, "%12s %12s %12s %10s %+8.2f%%  %s%s\n",
			energy_quantity(before, "J", texts[0], 32),
			energy_quantity(now, "J", texts[1], 32),
			energy_quantity(now - before, "J", texts[2], 32),
			energy_quantity(error, "J", texts[3], 32),
			before != 0 ? 100 * (now - before) / fabs(before) : 0, name,
			fabs(now - before) > 2 * error ? "" : "  (within the error)");
	}
	for (uint32_t k = 0; k < old->result.function_count; k++) {
		bool found = !old->result.functions[k].calls;
		for (size_t i = 0; i < count && !found; i++)
			found = !strcmp(energy_name(old, k), energy_name(new, order[i]));
		if (!found)
			fprintf(file, "%12s %12s %12s %10s %9s  %s  (gone)\n", "", "-", "", "", "",
				energy_name(old, k));
	}
	char texts[3][32];
	double a = energy_total(old), b = energy_total(new);
	fprintf(file, "%12s %12s %12s %10s %+8.2f%%  whole recording\n",
		energy_quantity(a, "J", texts[0], 32), energy_quantity(b, "J", texts[1], 32),
		energy_quantity(b - a, "J", texts[2], 32), "", a != 0 ? 100 * (b - a) / a : 0);
	free(order);
}

static int diff(const struct given *given, FILE *file)
{
	struct run runs[2];
	int failed = 0;

	memset(runs, 0, sizeof(runs));

	for (int i = 0; i < 2 && !failed; i++)
		failed = analyse(&runs[i], given, given->power[i], given->paths + i, 1);
	if (!failed)
		compare(file, &runs[0].analysis, &runs[1].analysis);
	release(&runs[0]);
	release(&runs[1]);
	return failed;
}

static int check(const struct given *given, FILE *file)
{
	struct run run = {0};
	struct given quiet = *given;
	char text[512];

	quiet.quiet = true;
	int failed = read_power(&run, &quiet, given->power[0]);
	const struct energy_power *power = &run.analysis.power;
	if (!failed) {
		fprintf(file, "%s\n",
			energy_power_describe(power, given->power[0], text, sizeof(text)));
		for (unsigned k = 0; k < power->channels; k++) {
			double sum = 0;
			for (size_t i = 0; i < power->count; i++)
				sum += power->watts[k][i];
			char mean[32], noise[32];
			fprintf(file, "channel %u: mean %s, noise %s a sample\n", k + 1,
				energy_quantity(sum / (double)power->count, "W", mean, 32),
				energy_quantity(energy_noise(power->watts[k], power->count), "W",
						noise, 32));
		}
		for (unsigned pin = 0; pin < power->pins; pin++) {
			size_t edges = 0;
			double shortest = INFINITY, rise = NAN;
			for (size_t i = 1; i < power->change_count; i++) {
				bool now = power->changes[i].levels >> pin & 1;
				bool before = power->changes[i - 1].levels >> pin & 1;
				if (now && !before) {
					edges++;
					rise = power->changes[i].time;
				} else if (before && !now && !isnan(rise)) {
					shortest = fmin(shortest, power->changes[i].time - rise);
				}
			}
			if (edges)
				fprintf(file, "pin %s: rises %zu times, shortest pulse %s%s\n",
					power->pin_names[pin], edges,
					energy_quantity(shortest, "s", text, 32),
					shortest < 2 * power->interval
						? ": too short, two samples are needed"
						: "");
		}
	}
	release(&run);
	return failed;
}

int energy_command(int count, char **arguments)
{
	static int (*const verbs[])(const struct given *, FILE *) = {[VERB_ENERGY] = show,
								     [VERB_CHECK] = check,
								     [VERB_LEARN] = learn,
								     [VERB_DIFF] = diff};
	struct given given;
	FILE *file = stdout;
	int status = parse(&given, count, arguments);

	if (status >= 0)
		return status;
	if (given.output_path) {
		file = fopen(given.output_path, "we");
		if (!file) {
			fprintf(stderr, "litifut-post energy: %s: %s\n", given.output_path,
				strerror(errno));
			return 1;
		}
	}
	int failed = verbs[given.verb](&given, file);
	bool broken = fflush(file) || ferror(file);
	int cause = errno;
	if (file != stdout && fclose(file))
		broken = true;
	if (broken && cause != EPIPE) {
		fprintf(stderr, "litifut-post energy: %s: %s\n",
			given.output_path ? given.output_path : "standard output", strerror(cause));
		failed = 1;
	}
	return failed;
}
