/* merge: several runs of one build together: the mean of each function over the runs, and how far
 * the runs are apart. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "postproc/formats/format.h"
#include "postproc/formats/losses.h"
#include "postproc/measure/edges.h"
#include "postproc/measure/measure.h"
#include "postproc/measure/runs.h"

struct table {
	const struct post_session *session;
	bool timed;
};

static void start(struct post_output *output)
{
	struct post_runs *runs = post_allocate(1, sizeof(*runs));

	post_runs_start(runs, output->session);
	output->state = runs;
}

static void event(void *context, const struct post_timeline_event *event)
{
	struct post_output *output = context;

	post_runs_take(output->state, output->session, event);
}

static int compare(const void *left, const void *right, void *context)
{
	const struct post_run_row *a = left, *b = right;
	const struct table *table = context;
	double x = table->timed ? a->self.mean : a->calls.mean;
	double y = table->timed ? b->self.mean : b->calls.mean;

	if (x != y)
		return x > y ? -1 : 1;
	return post_function_compare(table->session, a->function, b->function);
}

/* Files of the same name that are not the same are of several builds. */
static void check_builds(const struct post_session *session)
{
	for (size_t i = 1; i < session->module_count; i++) {
		for (size_t j = 1; j < i; j++) {
			const struct post_module *a = &session->modules[i],
						 *b = &session->modules[j];
			if (a->traced && b->traced && !strcmp(a->name, b->name))
				post_problem_at(session->problems, a->name, LITIFUT_NO_ADDRESS,
						"the runs are of several builds: their functions "
						"stand apart; compare them with diff");
		}
	}
}

static void write_time(FILE *file, double ns)
{
	const struct post_measures unit = {.hertz = 1000000000u};
	char text[64];

	fprintf(file, " %12s", post_measures_text(&unit, (uint64_t)(ns + 0.5), text, sizeof(text)));
}

static void write_row(struct post_output *output, const struct post_runs *runs,
		      const struct post_run_row *row)
{
	const struct post_session *session = output->session;
	const struct post_function *function = &session->functions[row->function];
	FILE *file = output->file;

	if (runs->timed && !row->timed) {
		fprintf(file, " %12s %12s %12s %12s", "-", "-", "-", "-");
	} else if (runs->timed) {
		write_time(file, row->self.mean);
		if (row->self.deviation >= 0 && runs->count > 1)
			write_time(file, row->self.deviation);
		else
			fprintf(file, " %12s", "-");
		write_time(file, row->self.least);
		write_time(file, row->self.most);
	}
	fprintf(file, " %5u %12.1f %12.0f %12.0f  %s [%s]\n", row->runs, row->calls.mean,
		row->calls.least, row->calls.most, function->name,
		session->modules[function->module].name);
}

static void finish(struct post_output *output)
{
	const struct post_session *session = output->session;
	struct post_runs *runs = output->state;
	struct table table = {session, runs->timed};
	struct post_run_row *rows = post_allocate(session->function_count + 1, sizeof(*rows));
	bool *seen = post_allocate(session->function_count + 1, sizeof(*seen));
	const char *one, *other;
	size_t count = 0;

	check_builds(session);
	if (post_runs_of_programs(session, NULL, &one, &other))
		post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
				"the runs are of several programs (%s, %s), and their means say "
				"little; --pid and the paths choose the runs",
				one, other);
	for (size_t i = 0; i < runs->cell_count; i++) {
		uint32_t function = runs->cells[i].function;
		if (!seen[function])
			rows[count++] = post_runs_row(runs, function);
		seen[function] = true;
	}
	qsort_r(rows, count, sizeof(*rows), compare, &table);
	fprintf(output->file, "# %u run%s%s\n", runs->count, runs->count == 1 ? "" : "s",
		runs->timed ? "; times are self times of a run, +- is the standard deviation of one"
			    : "");
	post_losses_write(output->file, session, "# ", "\n");
	if (runs->timed)
		fprintf(output->file, " %12s %12s %12s %12s", "self", "+-", "least", "most");
	fprintf(output->file, " %5s %12s %12s %12s  %s\n", "runs", "calls", "least", "most",
		"function [module]");
	for (size_t i = 0; i < count && (!output->options.top || i < output->options.top); i++)
		write_row(output, runs, &rows[i]);
	free(rows);
	free(seen);
	post_runs_release(runs);
	free(runs);
}

const struct post_format post_format_merge = {
	.name = "merge",
	.summary = "several runs of one build: mean and spread of each function",
	.uses = POST_USES_TOP,
	.tabled = true,
	.nested = true,
	.start = start,
	.event = event,
	.finish = finish,
};
