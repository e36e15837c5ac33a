/* litifut-post: traces, maps and ELF files in, readable calls out. */
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "postproc/energy/command.h"
#include "postproc/formats/diff.h"
#include "postproc/options.h"
#include "postproc/outcome.h"
#include "postproc/output_file.h"
#include "postproc/paths/command.h"
#include "postproc/paths/left.h"
#include "postproc/progress.h"
#include "postproc/formats/run.h"
#include "postproc/formats/unmatched.h"
#include "postproc/model/files_given.h"
#include "postproc/model/lines.h"
#include "postproc/sources/archive.h"
#include "postproc/tui/tui.h"

static void print_problem(void *context, const struct litifut_error *error)
{
	char line[1024];

	(void)context;
	post_progress_erase();
	fprintf(stderr, "litifut-post: %s\n", litifut_error_line(error, line, sizeof(line)));
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Adds the paths from number `first` to before `end` to the inputs of a run. */
static void add_paths(const struct post_arguments *given, struct post_session *session,
		      size_t first, size_t end)
{
	session->inputs.progress.report = post_progress_files;
	for (size_t i = first; i < end; i++)
		post_inputs_add(&session->inputs, given->paths[i], session->problems);
	session->inputs.progress.report = NULL;
	post_progress_erase();
}

static void report_no_trace(struct post_problems *problems, const char *swallowed)
{
	if (swallowed)
		post_problem_at(problems, swallowed, LITIFUT_NO_ADDRESS,
				"no trace among what was given: this folder has some, but --source "
				"takes it for a folder of source files");
	else
		post_problem_at(problems, NULL, LITIFUT_NO_ADDRESS,
				"no trace among what was given; with LITIFUT_VERBOSE=1 a traced "
				"program says where it writes one, or why it can't");
}

/* Reads the inputs of one run and takes them through a format. */
static void process_run(struct post_session *session, const struct post_arguments *given,
			const struct post_format *format, struct post_output *output,
			struct post_totals *totals)
{
	struct post_timeline_options run = {
		.window = given->window, .filter = given->filter, .progress = post_progress_bytes};

	post_inputs_finish(&session->inputs, session->problems);
	if (!session->inputs.trace_count && !session->inputs.firmware_count &&
	    !session->problems->count && !given->diff)
		report_no_trace(session->problems, post_arguments_swallowed(given));
	session->options = given->session;
	session->walked = post_progress_bytes;
	session->inputs.progress.report = post_progress_files;
	post_session_open(session);
	if (!given->diff)
		post_session_report_builds(session);
	post_progress_erase();
	if (!session->process_count) { /* not even the heading of a table */
		if (given->session.pid_count && session->inputs.trace_count)
			post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
					"no trace is of a process that --pid names");
		return;
	}
	if (post_run_is_in_vain(session, format))
		return;
	output->session = session;
	post_run(session, format, output, &run, totals);
	/* what is named may be on the other side */
	if (!given->diff && (totals->events > totals->own || format->profiled))
		post_unmatched_report(session, &run, given->output.flow);
	if (totals->events > totals->own && !totals->shown)
		post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
				"nothing is shown: no call is left by the filters given");
	post_progress_erase();
}

static bool is_empty(const struct post_totals *totals)
{
	return totals->processes && totals->events == totals->own && !totals->lost &&
	       !totals->covered;
}

static void show_run(const struct post_arguments *given, struct post_output *output,
		     struct post_problems *problems, struct post_outcome *outcome)
{
	struct post_session session = {.problems = problems, .inputs = given->inputs};
	double start = now();

	add_paths(given, &session, 0, given->path_count);
	outcome->before = problems->line_count;
	process_run(&session, given, given->format, output, &outcome->totals[0]);
	post_file_flush(output->file);
	/* what the user takes to read is not of interest */
	outcome->seconds[0] = given->pager || given->format->interactive ? -1 : now() - start;
	if (given->session.lines && given->format->uses & POST_USES_LINES && !*output->note) {
		const enum post_lines_state state = post_lines_state(&session);

		if (state != POST_LINES_SHOWN)
			snprintf(output->note, sizeof(output->note),
				 "%s, so no source lines are shown: compile with %s",
				 state == POST_LINES_NONE
					 ? "no program or library of the traces has debugging "
					   "information"
					 : "the debugging information has no line of what is shown",
				 post_lines_option(&session));
	}
	char line[256];
	for (size_t at = 0; outcome->totals[0].processes &&
			    post_session_needless(&session, &at, line, sizeof(line));
	     outcome->needless_count++) {
		if (outcome->needless_count < POST_MOST_NEEDLESS)
			memcpy(outcome->needless[outcome->needless_count], line, sizeof(line));
	}
	post_session_mixed(&session, given->paths, given->path_count, outcome->mixed,
			   sizeof(outcome->mixed));
	if (given->format->paths || given->format->flags || given->format->profiled)
		post_left_line(&session, outcome->left, sizeof(outcome->left));
	if (outcome->totals[0].processes)
		post_session_builds(&session, outcome->builds, sizeof(outcome->builds));
	outcome->nothing = !problems->count && is_empty(&outcome->totals[0]);
	/* after a complaint about the only input there is nothing to sum up */
	outcome->runs = outcome->totals[0].processes || !problems->count;
	post_session_close(&session);
}

/* Adds what stands behind the two sides of a comparison. Gives the first of these paths that has
 * traces alone, which are of neither side; NULL: none has. */
static const char *add_files_of_both(const struct post_arguments *given,
				     struct post_session *session, bool first)
{
	const char *third = NULL;

	session->inputs.progress.report = post_progress_files;
	for (size_t i = 2; i < given->path_count && !third; i++) {
		const char *path = given->paths[i];
		enum post_behind behind =
			post_inputs_add_files(&session->inputs, path, session->problems);

		if (behind == POST_BEHIND_TRACES)
			third = path;
		else if (behind == POST_BEHIND_BOTH && first)
			post_note_at(session->problems, path, LITIFUT_NO_ADDRESS,
				     POST_BEHIND_BOTH_TEXT);
	}
	session->inputs.progress.report = NULL;
	post_progress_erase();
	return third;
}

static void show_difference(const struct post_arguments *given, struct post_output *output,
			    struct post_problems *problems, struct post_outcome *outcome)
{
	struct post_runs *runs[2] = {NULL, NULL};
	struct post_session sessions[2] = {{.problems = problems, .inputs = given->inputs},
					   {.problems = problems, .inputs = given->inputs}};
	struct post_diff_options options = {
		.least = given->output.min_share,
		.top = given->output.top,
		.color = given->output.color,
	};

	for (size_t run = 0; run < 2; run++) {
		const unsigned before = problems->count;
		double start = now();
		add_paths(given, &sessions[run], run, run + 1);
		const char *third = add_files_of_both(given, &sessions[run], !run);
		if (third) {
			post_problem_at(problems, third, LITIFUT_NO_ADDRESS,
					"traces behind the two sides: the order is diff OLD NEW "
					"[ELF...]; several runs of a side are in one folder");
			break;
		}
		output->state = NULL;
		process_run(&sessions[run], given, &post_format_diff_run, output,
			    &outcome->totals[run]);
		runs[run] = output->state;
		outcome->seconds[run] = given->pager ? -1 : now() - start;
		if (outcome->totals[run].processes)
			continue;
		if (run || problems->count == before)
			post_problem_at(problems, given->paths[run], LITIFUT_NO_ADDRESS,
					"no trace there to compare");
		break;
	}
	/* Beside a run that is not there, everything has changed. */
	if (outcome->totals[0].processes && outcome->totals[1].processes) {
		const char *one, *other;
		const char *shared = post_session_shared(&sessions[0], &sessions[1]);
		outcome->runs = 2;
		if (shared)
			post_problem_at(problems, shared, LITIFUT_NO_ADDRESS,
					"it is of both sides, %s and %s: the order is diff OLD NEW "
					"[ELF...]",
					given->paths[0], given->paths[1]);
		if (post_runs_of_programs(&sessions[0], &sessions[1], &one, &other))
			post_problem_at(problems, NULL, LITIFUT_NO_ADDRESS,
					"%s is of %s, %s is of %s: different programs",
					given->paths[0], one, given->paths[1], other);
		if (runs[0]->timed && runs[1]->timed)
			post_diff_times_write(output->file, &sessions[0], runs[0], &sessions[1],
					      runs[1], &options);
		outcome->differing = post_diff_write(output->file, &sessions[0], runs[0]->count,
						     &sessions[1], runs[1]->count, &options);
	}
	post_file_flush(output->file);
	for (size_t run = 0; run < 2; run++) {
		if (runs[run])
			post_runs_release(runs[run]);
		free(runs[run]);
		post_session_close(&sessions[run]);
	}
}

/* Shows traces that are still written, as often as the user asks for them again. What is wrong is
 * reported when the screen is free again, of the last reading. */
static void browse(const struct post_arguments *given, struct post_output *output,
		   struct post_problems *problems, struct post_outcome *outcome)
{
	problems->report = NULL;
	do {
		post_problems_release(problems);
		problems->count = 0;
		*outcome = (struct post_outcome){.runs = 0};
		show_run(given, output, problems, outcome);
		post_progress_end();
	} while (post_tui_again());
	post_tui_end();
	for (size_t i = 0; i < problems->line_count; i++)
		fprintf(stderr, "litifut-post: %s\n", problems->lines[i]);
}

/* What -o names can't be made, says errno. */
static int refuse_output(const struct post_arguments *given)
{
	const char *path = given->output_path, *format = given->format->name;

	if (given->format->folder && errno == EEXIST)
		fprintf(stderr,
			"litifut-post: %s: File exists; %s makes a new folder: remove this one, "
			"or name another\n",
			path, format);
	else if (errno == EISDIR)
		fprintf(stderr,
			"litifut-post: %s: a folder; -o takes the name of a file, as in "
			"%s/%s.out\n",
			path, path, format);
	else
		fprintf(stderr, "litifut-post: %s: %s\n", path, strerror(errno));
	return 1;
}

#define MOST_REPEATED 3

/* Repeats what was wrong with the inputs: it stands above the output, which may be longer than a
 * screen. */
static void repeat_problems(const struct post_problems *problems, size_t count)
{
	for (size_t i = 0; i < count && i < MOST_REPEATED; i++)
		fprintf(stderr, "litifut-post: as was said above: %s\n", problems->lines[i]);
	if (count > MOST_REPEATED)
		fprintf(stderr, "litifut-post: %zu more lines above the output say what is wrong\n",
			count - MOST_REPEATED);
}

int main(int count, char **arguments)
{
	struct post_arguments given;
	struct post_problems problems = {.report = print_problem, .keep = true};

	setlocale(LC_CTYPE, "");
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* too large a file is an error to report, not the end */
	post_file_catch_signals();
	/* `help COMMAND' is COMMAND --help, unless it is a file */
	if (count > 1 && !strcmp(arguments[1], "help") && access("help", F_OK)) {
		static char option[] = "--help";

		arguments[1] = count > 2 ? arguments[2] : option;
		if (count > 2)
			arguments[2] = option;
	}
	if (count > 1 && !strcmp(arguments[1], "energy"))
		return energy_command(count - 1, arguments + 1);
	if (count > 1 && path_command_find(arguments[1]))
		return path_command(count - 1, arguments + 1);
	char *command = post_file_command_line(count, arguments);
	int status = post_arguments_parse(&given, count, arguments);
	if (status != POST_GO_ON) {
		post_arguments_release(&given);
		free(command);
		return status;
	}

	struct post_output output = {.file = stdout, .options = given.output};
	struct post_outcome outcome = {.runs = 0};
	pid_t child = 0;
	output.options.command = command;
	FILE *pager = given.pager ? post_file_pager() : NULL;
	given.pager = pager != NULL;
	if (pager) {
		output.file = post_file_behind_progress(pager);
	} else if (given.format->folder) {
		if (!post_file_make_folder(given.output_path))
			return refuse_output(&given);
		output.folder = post_file_unfinished();
	} else if (post_file_is_input(given.output_path, given.paths, given.path_count)) {
		return 1;
	} else if (given.output_path) {
		output.file = post_file_open(given.output_path);
		if (!output.file)
			return refuse_output(&given);
	}
	if (output.file == stdout && isatty(STDOUT_FILENO) && !given.format->interactive)
		output.file = post_file_behind_progress(stdout);
	if (given.pdf)
		output.file = post_file_through("dot", "-Tpdf", output.file, &child);
	if (!output.file)
		return 1;
	setvbuf(output.file, NULL, _IOFBF, 1 << 18);
	post_progress_begin();
	if (given.format->interactive)
		browse(&given, &output, &problems, &outcome);
	else if (given.diff)
		show_difference(&given, &output, &problems, &outcome);
	else
		show_run(&given, &output, &problems, &outcome);
	int failed = 0, ended = 0;
	const bool empty = problems.count && given.output_path && !given.format->folder &&
			   !given.pdf && ftello(output.file) == 0;
	post_progress_end();
	if (pager) {
		fclose(output.file);
		ended = pclose(pager); /* waits until it is left */
		failed = WIFEXITED(ended) && WEXITSTATUS(ended) == 127;
		if (failed)
			fputs("litifut-post: the pager that PAGER names can't be run\n", stderr);
	} else {
		failed = post_file_close(output.file, given.output_path);
		failed |= child && (waitpid(child, &ended, 0) < 0 || ended);
		failed |= empty || (!outcome.totals[0].processes && problems.count);
		failed = post_file_name(given.output_path, given.format->folder, failed);
	}
	if (!given.quiet)
		post_outcome_print(&outcome, output.note, given.format);
	if (outcome.totals[0].processes && !given.output_path && !given.format->interactive &&
	    isatty(STDOUT_FILENO))
		repeat_problems(&problems, outcome.before);
	post_archives_remove();
	post_arguments_release(&given);
	post_problems_release(&problems);
	free(command);
	return failed || problems.count ? 1 : 0;
}
