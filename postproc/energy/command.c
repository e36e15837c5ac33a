/* What `litifut-post energy` does: it reads a recording and traces, and analyses or compares them.
 *
 * Over 500 lines, because each of them serves the steps of this one command. */
#include "postproc/energy/command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "postproc/energy/exercise.h"
#include "postproc/energy/learn.h"
#include "postproc/energy/options.h"
#include "postproc/energy/output.h"
#include "postproc/energy/overlap.h"
#include "postproc/energy/page.h"
#include "postproc/energy/traces.h"
#include "postproc/energy/unexplained.h"
#include "postproc/output_file.h"
#include "postproc/timeline/timeline.h"

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
	const char **symbols;
	bool done;                /* there is something to show */
	struct energy_page *page; /* takes the events as well; NULL: no page is made */
};

static int read_power(struct run *run, const struct energy_arguments *given, const char *path)
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
		fprintf(stderr,
			"litifut-post energy: %s: none of its columns is a current, a voltage or a "
			"power by its name or unit; say what they are, e.g. --columns "
			"time=1:ms,current=2:uA\n",
			path);
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

	struct post_totals totals = {0};

	if (count == 1 && begins_as_events(paths[0])) {
		if (run->page) {
			fprintf(stderr,
				"litifut-post energy: %s: -f html needs traces of LITIFUT, and not "
				"a text of events; see svg, chrome\n",
				paths[0]);
			return 1;
		}
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
		if (run->page)
			energy_page_start(run->page, &run->session);
		run->session.options.demangle = true;
		run->session.options.maps_paths = true;
		for (size_t i = 0; i < count; i++)
			post_inputs_add(&run->session.inputs, paths[i], &run->problems);
		post_inputs_finish(&run->session.inputs, &run->problems);
		post_session_open(&run->session);
		energy_traces_read(&run->session, &a->events, &a->hook,
				   run->page ? &run->page->run : NULL,
				   run->page ? &run->page->totals : &totals);
		if (run->page)
			totals = run->page->totals;
		post_session_conclude(&run->session);
		run->names = calloc(run->session.function_count + 1, sizeof(*run->names));
		run->symbols = calloc(run->session.function_count + 1, sizeof(*run->symbols));
		for (size_t i = 0; run->names && run->symbols && i < run->session.function_count;
		     i++) {
			const struct post_function *f = &run->session.functions[i];
			run->names[i] = f->name;
			run->symbols[i] = f->symbol ? f->symbol : f->name;
		}
		a->names = run->names;
		a->symbols = run->symbols;
		a->name_count = run->names && run->symbols ? run->session.function_count : 0;
	}
	if (status == LITIFUT_OK)
		status = energy_events_finish(&a->events, &error);
	if (status != LITIFUT_OK)
		return problem(&error);
	if (totals.clockless) {
		fprintf(stderr,
			"litifut-post energy: %s: the trace has returns, but no times: run the "
			"program with LITIFUT_CLOCK=mono, or link it with LITIFUT_CLOCK=cycle "
			"where "
			"its CPU has such a counter, and measure again\n",
			paths[0]);
		return 1;
	}
	size_t leaves = 0;
	for (size_t i = 0; i < a->events.count; i++)
		leaves += a->events.items[i].kind == ENERGY_EVENT_LEAVE;
	if (a->events.guessed || !leaves) {
		fprintf(stderr,
			"litifut-post energy: %s: the trace has no returns: link with "
			"LITIFUT_MODE=spans and a clock (LITIFUT_CLOCK) and measure again\n",
			paths[0]);
		return 1;
	}
	return 0;
}

static int read_machines(struct run *run, const struct energy_arguments *given)
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
static int compare_plain(struct run *run, const struct energy_arguments *given)
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
		a->hook.known ? "; by what is known of one " : "\n",
		a->hook.known ? energy_quantity(known, "s", texts[2], 32) : "");
	if (a->hook.known)
		fprintf(stderr, "%s\n",
			fabs(took - known) > 0.05 * known ? ": they differ by more than 5 %: a "
							    "wrong cost, or the program waits "
							    "less while hooks run"
							  : "");
	return 0;
}

/* Below this share most of what is shown would be (outside). */
#define LEAST_OVERLAP 0.1

/* As the shift of the clocks is found within two samples, so much of a trace may lie outside of the
 * recording by that. */
#define SAMPLES_OUTSIDE 10

/* Is there a part of the recording that the trace describes? */
static int check_overlap(const struct run *run, const char *trace)
{
	const struct energy_analysis *a = &run->analysis;
	struct energy_overlap overlap;

	energy_overlap(&a->power, &a->events, &a->clock, &overlap);
	if (overlap.share >= LEAST_OVERLAP) {
		if (overlap.before + overlap.after > SAMPLES_OUTSIDE * a->power.interval)
			fprintf(stderr,
				"litifut-post energy: %s has not the whole time of %s: %.4g s at "
				"its "
				"begin and %.4g s at its end are missing: calls there have no "
				"energy, so that the least and the mean of a call are too low\n",
				a->power_path, trace, overlap.before, overlap.after);
		return 0;
	}
	fprintf(stderr,
		"litifut-post energy: %s and %s %s: by the analyser's clock the trace lies from "
		"%.6g s to %.6g s, and the recording from %.6g s to %.6g s; correct --at (its "
		"DEVICE seconds count from the start of the trace) or --sync\n",
		trace, a->power_path, overlap.share > 0 ? "hardly overlap" : "do not overlap",
		overlap.from, overlap.to, energy_power_start(&a->power),
		energy_power_end(&a->power));
	return 1;
}

/* What follows the power file. */
static int analyse_events(struct run *run, const struct energy_arguments *given, char **paths,
			  size_t path_count)
{
	struct litifut_error error = {0};
	char text[512];
	int failed = read_events(run, paths, path_count);

	if (!failed)
		failed = read_machines(run, given);
	if (failed)
		return failed;
	if (energy_analysis_clock(&run->analysis, &given->settings, &error) != LITIFUT_OK)
		return problem(&error);
	if (check_overlap(run, paths[0]))
		return 1;
	const bool shown = given->verb == VERB_ENERGY;
	enum litifut_status status = energy_analysis_run(&run->analysis, &given->settings, &error);
	if (status == LITIFUT_OK && shown && given->format->advises)
		status = energy_find_changes(&run->analysis, &given->settings, &error);
	if (status != LITIFUT_OK)
		return problem(&error);
	run->done = true;
	/* the report has a line about it */
	const bool said = shown && given->format == &energy_format_report;
	if (!given->quiet && !said)
		fprintf(stderr, "litifut-post energy: clock: %s\n",
			energy_clock_describe(&run->analysis.clock, text, sizeof(text)));
	if (given->plain && compare_plain(run, given))
		return 1;
	return run->problems.count || run->analysis.clock.ambiguous;
}

static int analyse(struct run *run, const struct energy_arguments *given, const char *power,
		   char **paths, size_t path_count)
{
	int failed = read_power(run, given, power);

	return failed ? failed : analyse_events(run, given, paths, path_count);
}

static void release(struct run *run)
{
	energy_analysis_release(&run->analysis);
	free(run->names);
	free(run->symbols);
	if (run->session.problems)
		post_session_close(&run->session);
	post_problems_release(&run->problems);
}

static int show(const struct energy_arguments *given, FILE *file)
{
	struct run run = {0};
	struct energy_page page = {.output = {.file = file, .options.command = given->command}};
	struct energy_output output = {.file = file,
				       .analysis = &run.analysis,
				       .settings = &given->settings,
				       .top = given->top};

	run.page = given->format == &energy_format_html ? &page : NULL;

	run.analysis.result.occurrence = given->format->occurrence;
	run.analysis.result.context = &output;
	int failed = read_power(&run, given, given->power[0]);
	if (!failed) {
		/* its first line says how many channels there are */
		if (given->format->start)
			given->format->start(&output);
		failed = analyse_events(&run, given, given->paths, given->path_count);
	}
	if (run.page)
		output.status =
			energy_page_finish(&page, run.done ? &run.analysis : NULL, &output.error);
	if (run.done)
		given->format->write(&output);
	if (output.status)
		failed = problem(&output.error);
	release(&run);
	return failed;
}

/* Three times: as long as the peripheral is not known, what it draws after calls looks as if the
 * clocks were apart by more than they are, and is a part of the power of functions. What is learned
 * without a shift lies where the curve has it and not where the calls are; with it the shift is
 * found, with that it is learned again, and at last both together. */
static int learn(const struct energy_arguments *given, FILE *file)
{
	struct energy_machines machines = {0};
	int failed = 0;

	for (int pass = 0; pass < 3 && !failed; pass++) {
		struct energy_arguments passing = *given;
		const struct energy_arguments *now = &passing;
		passing.settings.refine = pass && given->settings.refine;
		passing.settings.states_stay = pass == 1;
		passing.quiet = pass < 2 || given->quiet;
		struct run run = {0};
		struct litifut_error error = {0};
		run.analysis.machines = machines;
		machines = (struct energy_machines){0};
		failed = analyse(&run, now, now->power[0], now->paths, now->path_count);
		if (!failed && energy_learn(&run.analysis, now->triggers, now->trigger_count,
					    &machines, &error) != LITIFUT_OK)
			failed = problem(&error);
		release(&run);
	}
	if (!failed)
		energy_machines_write(&machines, file);
	energy_machines_release(&machines);
	return failed;
}

static int diff(const struct energy_arguments *given, FILE *file)
{
	struct run runs[2];
	char **paths = malloc((given->path_count + 1) * sizeof(*paths));
	int failed = 0;

	memset(runs, 0, sizeof(runs));
	if (!paths) {
		fprintf(stderr, "litifut-post energy: not enough memory\n");
		return 1;
	}
	/* what stands behind the two traces may serve either */
	for (size_t i = 2; i < given->path_count; i++)
		paths[i - 1] = given->paths[i];
	for (int i = 0; i < 2 && !failed; i++) {
		paths[0] = given->paths[i];
		failed = analyse(&runs[i], given, given->power[i], paths, given->path_count - 1);
	}
	free(paths);
	if (!failed)
		energy_compare(file, &runs[0].analysis, &runs[1].analysis);
	release(&runs[0]);
	release(&runs[1]);
	return failed;
}

static int check(const struct energy_arguments *given, FILE *file)
{
	struct run run = {0};
	struct energy_arguments quiet = *given;

	quiet.quiet = true;
	int failed = read_power(&run, &quiet, given->power[0]);
	if (!failed)
		energy_check(file, &run.analysis.power, given->power[0]);
	release(&run);
	return failed;
}

static int exercise(const struct energy_arguments *given, FILE *file)
{
	struct litifut_error error = {0};
	size_t size;
	char *text = slurp(given->paths[0], &size);

	if (!text)
		return 1;
	enum litifut_status status =
		energy_exercise(file, given->paths[0], text, size, given->repeats, &error);
	free(text);
	return status == LITIFUT_OK ? 0 : problem(&error);
}

/* Is the output one of the files that are read? */
static bool is_input(const struct energy_arguments *given)
{
	const char *const files[] = {given->power[0], given->power[1], given->sync_file,
				     given->plain};
	bool found = post_file_is_input(given->output_path, given->paths, given->path_count);

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !found; i++)
		found = files[i] && post_file_is_input(given->output_path, (char **)&files[i], 1);
	return found || post_file_is_input(given->output_path, (char **)given->machines,
					   given->machine_count);
}

int energy_command(int count, char **arguments)
{
	static int (*const verbs[])(const struct energy_arguments *,
				    FILE *) = {[VERB_ENERGY] = show,
					       [VERB_CHECK] = check,
					       [VERB_LEARN] = learn,
					       [VERB_EXERCISE] = exercise,
					       [VERB_DIFF] = diff};
	struct energy_arguments given;
	/* with the word before these, the program's name; and before getopt changes their order */
	char *command = post_file_command_line(count + 1, arguments - 1);
	int status = energy_arguments_parse(&given, count, arguments);

	if (status < 0) {
		given.command = command;
		FILE *file = is_input(&given) ? NULL : post_file_begin(given.output_path);
		status = file ? post_file_end(file, given.output_path,
					      verbs[given.verb](&given, file))
			      : 1;
	}
	free(command);
	return status;
}
