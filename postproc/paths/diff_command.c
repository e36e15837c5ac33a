/* litifut-post path-diff: what only bad runs of a program have done. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/model/lines.h"
#include "postproc/paths/command_private.h"
#include "postproc/paths/difference.h"
#include "postproc/progress.h"

#define ROWS_USUAL 20
#define LINES_MOST 24 /* of a path that are printed */
#define THREADS_MOST 2

struct side {
	const struct path_arguments *given;
	struct post_session session;
	struct post_problems problems;
};

static void print_problem(void *context, const struct litifut_error *error)
{
	const struct side *side = context;

	post_progress_erase();
	path_problem(side->given, error);
}

/* Traces of one side, and the files behind both sides. False: there are traces among these, which
 * are of neither side; that was said. */
static bool open_side(struct side *side, const struct path_arguments *given, size_t number)
{
	struct post_session *session = &side->session;

	*side = (struct side){.given = given,
			      .problems = {.report = print_problem, .context = side}};
	session->problems = &side->problems;
	session->options.demangle = true;
	session->options.maps_paths = true;
	session->walked = post_progress_bytes;
	post_inputs_add(&session->inputs, given->paths[number], &side->problems);
	for (size_t i = 2; i < given->path_count; i++) {
		const enum post_behind behind =
			post_inputs_add_files(&session->inputs, given->paths[i], &side->problems);

		if (behind == POST_BEHIND_BOTH && number == 0)
			post_note_at(&side->problems, given->paths[i], LITIFUT_NO_ADDRESS,
				     POST_BEHIND_BOTH_TEXT);
		if (behind != POST_BEHIND_TRACES)
			continue;
		post_problem_at(&side->problems, given->paths[i], LITIFUT_NO_ADDRESS,
				"traces behind the two sides: the order is path-diff GOOD BAD "
				"[ELF...]; several runs of a side are in one folder");
		return false;
	}
	post_inputs_finish(&session->inputs, &side->problems);
	post_session_open(session);
	return true;
}

static void close_side(struct side *side)
{
	post_session_close(&side->session);
	post_problems_release(&side->problems);
}

static void write_divergence(FILE *file, const struct post_path_difference *difference,
			     const struct post_path_divergence *divergence)
{
	struct post_session *bad = difference->sides.sessions[POST_PATH_BAD];
	char last[256], next[256], caller[256];

	fprintf(file, "BAD process %" PRIu32 ", thread %" PRIu32 ": ", difference->parting.bad_pid,
		divergence->thread);
	if (!divergence->differs) {
		fprintf(file, "all that is compared is the same as in GOOD process %" PRIu32 "\n",
			difference->parting.good_pid);
		return;
	}
	if (divergence->last.code) {
		const uint32_t function = post_session_function(bad, divergence->last.code->module,
								divergence->last.address);

		post_path_spot_text(bad, &divergence->last, last, sizeof(last));
		fprintf(file,
			"%" PRIu64 " lines as in GOOD process %" PRIu32
			", up to %s in activation %" PRIu64 " of %s",
			divergence->same, difference->parting.good_pid, last,
			divergence->activation, bad->functions[function].name);
		if (divergence->caller.code &&
		    post_path_spot_text(bad, &divergence->caller, caller, sizeof(caller)))
			fprintf(file, ", called at %s", caller);
		fputs("; then ", file);
	}
	post_path_spot_text(bad, &divergence->bad, next, sizeof(next));
	fprintf(file, "GOOD %s, BAD %s\n", *divergence->good ? divergence->good : "its end", next);
}

static void write_divergences(FILE *file, const struct post_path_difference *difference)
{
	size_t shown = 0, differing = 0;

	for (size_t i = 0; i < difference->parting.count; i++) {
		if (!difference->parting.divergences[i].differs)
			continue;
		if (shown++ < THREADS_MOST)
			write_divergence(file, difference, &difference->parting.divergences[i]);
		differing++;
	}
	if (!differing && difference->parting.count)
		write_divergence(file, difference, &difference->parting.divergences[0]);
	if (differing > THREADS_MOST)
		fprintf(file, "%zu more threads differ\n", differing - THREADS_MOST);
}

struct writer {
	FILE *file;
	struct post_session *session;
	const char *last_file; /* of the last line that was written */
	bool left_out;         /* lines were, since then */
};

static void write_line(struct writer *writer, const struct post_path_line *line, bool fresh)
{
	const char *name =
		line->file && strrchr(line->file, '/') ? strrchr(line->file, '/') + 1 : line->file;

	fputs(writer->left_out ? " .. " : " ", writer->file);
	if (fresh)
		putc('*', writer->file);
	if (!name)
		fprintf(writer->file, "0x%" PRIx32, line->address);
	else if (!writer->last_file || strcmp(writer->last_file, name))
		fprintf(writer->file, "%s:%u", name, line->line);
	else
		fprintf(writer->file, "%u", line->line);
	writer->last_file = name;
	writer->left_out = false;
}

#define INLINED_MOST 8

/* A line of a path, and the calls that were inlined there. */
struct path_line {
	struct post_path_line line;
	bool fresh;
	struct post_line_call calls[INLINED_MOST];
	size_t call_count;
};

static bool is_same_call(const struct post_line_call *a, const struct post_line_call *b)
{
	return a->line == b->line && !strcmp(a->file, b->file);
}

/* A call that was inlined has no code, so its line is written with what it has become. */
static void write_calls(struct writer *writer, const struct path_line *before,
			const struct path_line *line)
{
	size_t same = 0;

	while (before && same < before->call_count && same < line->call_count &&
	       is_same_call(&before->calls[same], &line->calls[same]))
		same++;
	for (; same < line->call_count; same++)
		if (!before || before->line.line != line->calls[same].line)
			write_line(writer,
				   &(struct post_path_line){.line = line->calls[same].line,
							    .file = line->calls[same].file},
				   false);
}

/* The lines of a path, each that differs from the one before. */
static struct path_line *find_lines(struct post_session *session,
				    const struct post_path_finding *finding, size_t *count)
{
	struct path_line *lines = post_allocate(finding->count + 1, sizeof(*lines));

	*count = 0;
	for (uint32_t i = 0; i < finding->count; i++) {
		struct path_line *line = &lines[*count], *before = *count ? line - 1 : NULL;

		*line = (struct path_line){.line.address = finding->items[i].address,
					   .fresh = finding->fresh[i]};
		if (!post_lines_place(session, finding->code->module, line->line.address,
				      &line->line.file, &line->line.line))
			line->line.file = NULL;
		line->call_count =
			post_lines_inlined(session, finding->code->module, line->line.address,
					   line->calls, INLINED_MOST);
		if (before && line->line.file && before->line.file == line->line.file &&
		    before->line.line == line->line.line)
			before->fresh |= line->fresh;
		else
			++*count;
	}
	return lines;
}

/* Those that no good run has executed with a star. */
static void write_path(struct writer *writer, const struct post_path_finding *finding)
{
	size_t count;
	struct path_line *lines = find_lines(writer->session, finding, &count);

	writer->last_file = NULL;
	writer->left_out = false;
	for (size_t i = 0, shown = 0; i < count; i++) {
		const bool near = lines[i].fresh || (i && lines[i - 1].fresh) ||
				  (i + 1 < count && lines[i + 1].fresh);

		if (count > LINES_MOST && i && i + 1 < count &&
		    (near ? shown >= 2 * LINES_MOST : i >= LINES_MOST / 2)) {
			writer->left_out = true;
			continue;
		}
		write_calls(writer, i ? &lines[i - 1] : NULL, &lines[i]);
		write_line(writer, &lines[i].line, lines[i].fresh);
		shown++;
	}
	free(lines);
}

static void write_finding(struct writer *writer, const struct post_path_difference *difference,
			  const struct post_path_finding *finding)
{
	struct post_session *session = writer->session;
	const uint32_t function =
		post_session_function(session, finding->code->module,
				      finding->code->blocks[finding->function].block.start);
	char text[256];

	fprintf(writer->file, "%3" PRIu32 "/%-3" PRIu32 " %7" PRIu64 "  %s%s:", finding->runs,
		difference->runs[POST_PATH_BAD], finding->times, session->functions[function].name,
		finding->changed ? " (changed)" : "");
	write_path(writer, finding);
	for (size_t i = 0; i < POST_PATH_CALLERS && finding->callers[i].code; i++)
		if (post_path_spot_text(session, &finding->callers[i], text, sizeof(text)))
			fprintf(writer->file, " < %s", text);
	putc('\n', writer->file);
}

static void write_findings(FILE *file, const struct path_arguments *given,
			   const struct post_path_difference *difference)
{
	const uint64_t most = given->top ? given->top : ROWS_USUAL;
	struct writer writer = {.file = file, .session = difference->sides.sessions[POST_PATH_BAD]};

	if (!difference->count) {
		fputs("no path is in BAD runs only\n", file);
		return;
	}
	fputs("   RUNS   TIMES  PATH OF BAD RUNS ONLY (* no GOOD run was there) < CALLED AT\n",
	      file);
	for (size_t i = 0; i < difference->count && i < most; i++)
		write_finding(&writer, difference, &difference->findings[i]);
	if (difference->count > most && !given->quiet)
		fprintf(stderr,
			"litifut-post path-diff: %" PRIu64
			" more paths are in BAD runs only: see --top\n",
			difference->count - most);
}

/* Is there a program that both sides have run? */
static bool is_comparable(const struct side *sides)
{
	const struct post_session *good = &sides[0].session, *bad = &sides[1].session;

	for (size_t i = 1; i < bad->module_count; i++)
		for (size_t j = 1; bad->modules[i].traced && j < good->module_count; j++)
			if (good->modules[j].traced &&
			    !strcmp(good->modules[j].name, bad->modules[i].name))
				return true;
	return false;
}

/* Were both traced, under one name? */
static bool are_runs_of(const struct post_module *a, const struct post_module *b)
{
	return a->traced && b->traced && !strcmp(a->name, b->name);
}

/* Paths of two builds are compared by lines of source; by addresses most of them differ. */
static void describe_builds(const struct path_arguments *given, const struct side *sides)
{
	const struct post_session *good = &sides[0].session, *bad = &sides[1].session;
	const bool lines = post_lines_state(good) != POST_LINES_NONE &&
			   post_lines_state(bad) != POST_LINES_NONE;

	for (size_t i = 1; i < bad->module_count; i++) {
		bool same = false, other = false;

		for (size_t j = 1; j < good->module_count; j++) {
			const struct post_module *a = &good->modules[j], *b = &bad->modules[i];
			const bool known = a->build_id_bytes && b->build_id_bytes;

			if (!are_runs_of(a, b))
				continue;
			same |= !known || post_build_id_is(a->build_id, a->build_id_bytes,
							   b->build_id, b->build_id_bytes);
			other = true;
		}
		if (!other || same || (lines && given->quiet))
			continue;
		fprintf(stderr,
			"litifut-post path-diff: %sGOOD and BAD are of different builds of "
			"%s: %s\n",
			lines ? "" : "warning: ", bad->modules[i].name,
			lines ? "what is compared are lines, counted from the start of their "
				"function; where it has changed, differences may come from that"
			      : "as there are no source lines, addresses are compared, and "
				"differences may come from the builds: compile both with -g, and "
				"give both ELF files");
	}
}

int path_diff_run(FILE *file, const struct path_arguments *given)
{
	static const char *const names[] = {"GOOD", "BAD"};
	struct post_path_difference difference;
	struct side sides[2];
	int status = 0;

	if (given->path_count < 2)
		return path_usage(given, "two sides are needed: GOOD BAD [ELF...]", NULL);
	for (size_t i = 0; i < 2; i++) {
		if (open_side(&sides[i], given, i))
			continue;
		for (size_t opened = 0; opened <= i; opened++)
			close_side(&sides[opened]);
		return 1;
	}
	const char *shared = post_session_shared(&sides[0].session, &sides[1].session);
	if (shared)
		post_problem_at(&sides[1].problems, shared, LITIFUT_NO_ADDRESS,
				"it is of both sides, %s and %s: the order is path-diff GOOD BAD "
				"[ELF...]",
				given->paths[0], given->paths[1]);
	post_progress_begin();
	post_path_difference_make(&sides[POST_PATH_GOOD].session, &sides[POST_PATH_BAD].session,
				  &difference);
	post_progress_end();
	for (size_t i = 0; i < 2; i++) {
		if (!difference.runs[i]) {
			fprintf(stderr,
				"litifut-post path-diff: %s: no trace of the %s side says in which "
				"order code was executed%s\n",
				given->paths[i], names[i],
				sides[i].problems.count ? "" : ": link with LITIFUT_MODE=paths");
			status = 1;
		}
	}
	if (!status && !is_comparable(sides))
		fprintf(stderr,
			"litifut-post path-diff: warning: no program or library of %s has the name "
			"of one of %s\n",
			given->paths[1], given->paths[0]);
	if (!status) {
		describe_builds(given, sides);
		write_divergences(file, &difference);
		write_findings(file, given, &difference);
		if (!given->quiet)
			fprintf(stderr,
				"litifut-post path-diff: %" PRIu32 " good runs, %" PRIu32
				" bad ones, %" PRIu64 " gaps\n",
				difference.runs[POST_PATH_GOOD], difference.runs[POST_PATH_BAD],
				difference.gaps);
	}
	for (size_t i = 0; i < 2; i++)
		status |= sides[i].problems.count != 0;
	post_path_difference_release(&difference);
	for (size_t i = 0; i < 2; i++)
		close_side(&sides[i]);
	return status;
}
