/* Comparing the times of two builds. A difference counts only if it is larger than what chance
 * explains: the standard errors of both means over their runs, or, of a single run, over its
 * calls. */
#include "postproc/formats/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/measure/measure.h"
#include "postproc/measure/runs.h"

#define CHANCE 2.0 /* standard errors: one in twenty differences is larger by chance */

struct side {
	double self, error; /* of the mean, ns; error below 0: not known */
	double calls;
	bool untimed; /* it was called, and no call has a time */
};

struct row {
	const char *name, *module;
	struct side old, now;
};

static void start(struct post_output *output)
{
	struct post_runs *runs = post_allocate(1, sizeof(*runs));

	post_runs_start(runs, output->session);
	output->state = runs;
}

static void timed(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;

	post_runs_take(output->state, output->session, event);
}

const struct post_format post_format_diff_run = {
	.name = "diff",
	.measured = true,
	.start = start,
	.timed = timed,
};

static size_t add_rows(struct row *rows, size_t count, const struct post_session *session,
		       const struct post_runs *runs, bool old)
{
	bool *seen = post_allocate(session->function_count + 1, sizeof(*seen));

	for (size_t i = 0; i < runs->cell_count; i++) {
		uint32_t function = runs->cells[i].function;
		if (seen[function])
			continue;
		seen[function] = true;
		struct post_run_row row = post_runs_row(runs, function);
		struct side side = {.self = row.self.mean,
				    .calls = row.calls.mean,
				    .error = -1,
				    .untimed = row.runs && !row.timed};
		if (row.self.deviation >= 0)
			side.error = row.self.deviation / sqrt(row.self_runs);
		rows[count] = (struct row){
			.old = {.error = -1},
			.now = {.error = -1},
			.name = session->functions[function].name,
			.module = session->modules[session->functions[function].module].name};
		*(old ? &rows[count].old : &rows[count].now) = side;
		count++;
	}
	free(seen);
	return count;
}

static int by_name(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : strcmp(a->module, b->module);
}

/* The relative change that has a line: code that only moves makes a smaller one. */
#define USUAL_LEAST 1e-3

static double change(const struct row *row)
{
	return row->now.self - row->old.self;
}

static int by_change(const void *left, const void *right)
{
	double a = fabs(change(left)), b = fabs(change(right));

	if (a != b)
		return a > b ? -1 : 1;
	return by_name(left, right);
}

/* Standard error of the difference; below 0: not known. */
static double error_of(const struct row *row)
{
	if (row->old.error < 0 && row->now.error < 0)
		return -1;
	double old = row->old.error > 0 ? row->old.error : 0;
	double now = row->now.error > 0 ? row->now.error : 0;
	return sqrt(old * old + now * now);
}

static void add_side(struct side *to, const struct side *from)
{
	to->self += from->self;
	to->calls += from->calls;
	to->untimed |= from->untimed;
	if (from->error >= 0)
		to->error = to->error >= 0 ? sqrt(to->error * to->error + from->error * from->error)
					   : from->error;
}

/* Functions of the same name and module lie side by side: the two of both builds, or several of
 * one, such as static ones. */
static size_t join(struct row *rows, size_t count)
{
	size_t kept = 0;

	qsort(rows, count, sizeof(*rows), by_name);
	for (size_t i = 0; i < count; i++) {
		if (kept && !by_name(&rows[kept - 1], &rows[i])) {
			add_side(&rows[kept - 1].old, &rows[i].old);
			add_side(&rows[kept - 1].now, &rows[i].now);
		} else {
			rows[kept++] = rows[i];
		}
	}
	qsort(rows, kept, sizeof(*rows), by_change);
	return kept;
}

static void write_time(FILE *file, double ns)
{
	const struct post_measures unit = {.hertz = 1000000000u};
	char text[64];

	fprintf(file, " %12s", post_measures_text(&unit, (uint64_t)(ns + 0.5), text, sizeof(text)));
}

static void write_row(FILE *file, const struct row *row, bool color)
{
	double error = error_of(row), difference = change(row);
	bool chance = error >= 0 && fabs(difference) <= CHANCE * error;
	const char *paint = !color || chance ? "" : difference > 0 ? "\033[31m" : "\033[32m";
	char part[32] = "-", spread[32] = "?";

	if (row->old.self > 0)
		snprintf(part, sizeof(part), "%+.1f%%", 100 * difference / row->old.self);
	if (error >= 0 && row->old.self > 0)
		snprintf(spread, sizeof(spread), "%.1f%%", 100 * error / row->old.self);
	fprintf(file, "%s%-7s", paint,
		chance            ? "chance"
		: !row->old.calls ? "new"
		: !row->now.calls ? "gone"
		: difference > 0  ? "slower"
				  : "faster");
	write_time(file, row->old.self);
	write_time(file, row->now.self);
	fprintf(file, " %9s %8s %12.1f %12.1f  %s [%s]%s\n", part, spread, row->old.calls,
		row->now.calls, row->name, row->module, *paint ? "\033[0m" : "");
}

void post_diff_times_write(FILE *file, const struct post_session *old,
			   const struct post_runs *old_runs, const struct post_session *now,
			   const struct post_runs *now_runs,
			   const struct post_diff_options *options)
{
	size_t count = old_runs->cell_count + now_runs->cell_count;
	struct row *rows = post_allocate(count + 1, sizeof(*rows));
	const double least = options->least < 0 ? USUAL_LEAST : options->least;
	uint64_t shown = 0;

	count = add_rows(rows, 0, old, old_runs, true);
	count = add_rows(rows, count, now, now_runs, false);
	count = join(rows, count);
	fprintf(file,
		"# self time of a run, mean of %u old and %u new run%s; +- is one standard error "
		"of "
		"the change%s\n%-7s %12s %12s %9s %8s %12s %12s  %s\n",
		old_runs->count, now_runs->count, now_runs->count == 1 ? "" : "s",
		old_runs->count == 1 || now_runs->count == 1
			? ", of a single run what its calls make likely"
			: "",
		"", "old", "new", "change", "+-", "calls old", "new", "function [module]");
	for (size_t i = 0; i < count; i++) {
		if (rows[i].old.untimed || rows[i].now.untimed || change(&rows[i]) == 0 ||
		    fabs(change(&rows[i])) < least * rows[i].old.self)
			continue;
		if (!options->top || shown++ < options->top)
			write_row(file, &rows[i], options->color);
	}
	putc('\n', file);
	free(rows);
}
