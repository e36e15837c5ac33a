/* One run of an output format. */
#include "postproc/formats/run.h"

#include "postproc/formats/profile.h"

/* What shows code that was executed. */
static const struct {
	uint32_t mode;
	const char *name, *formats;
} of_code[] = {
	{LITIFUT_MODE_PATHS, "paths",
	 "report, callers-of, callees-of, callgrind, html, path, blocks, gdb, units, coverage, "
	 "branches, lcov, and path-diff"},
	{LITIFUT_MODE_COVERAGE, "coverage", "coverage, branches, lcov, html"},
	{LITIFUT_MODE_UNITS, "units", "units"},
	{LITIFUT_MODE_BALLLARUS, "balllarus", "ids, path, blocks, coverage, branches, lcov"},
};

bool post_run_is_in_vain(const struct post_session *session, const struct post_format *format)
{
	uint32_t mode = 0;

	if (format->flags || format->paths || !session->process_count)
		return false;
	for (size_t i = 0; i < session->process_count; i++) {
		const struct post_trace *trace = session->processes[i]->trace;

		if (!post_timeline_is_of_code(session->processes[i]) || trace->chunk_count ||
		    trace->table_count || session->processes[i]->events)
			return false;
		mode = trace->header.mode;
	}
	if (format->profiled && post_profile_is_all(session))
		return false;
	for (size_t i = 0; i < sizeof(of_code) / sizeof(*of_code); i++)
		if (of_code[i].mode == mode)
			post_problem_at(
				session->problems, NULL, LITIFUT_NO_ADDRESS,
				"%s shows calls, and LITIFUT_MODE=%s records none, but which code "
				"was executed: see -f %s; for %s link with LITIFUT_MODE=spans",
				format->name, of_code[i].name, of_code[i].formats, format->name);
	return true;
}

static bool is_broken(void *context) /* such as: the pager was left */
{
	const struct post_output *output = context;

	return ferror(output->file);
}

static bool run_is_broken(void *context)
{
	const struct post_run *run = context;

	return is_broken(run->output);
}

static void push(void *context, const struct post_timeline_event *event)
{
	struct post_run *run = context;

	if (run->also)
		run->also->push(run->also->context, event);
	if (run->measuring)
		post_measures_take(&run->measures, event);
	if (run->format->event)
		run->format->event(run->output, event);
	if (run->measuring && run->format->timed)
		run->format->timed(run->output, event);
}

/* Filters by nesting and by time choose among calls in their order: sums and executed code have
 * none. */
static void report_unfiltered(const struct post_session *session, const struct post_format *format,
			      const struct post_timeline_options *options, bool tabled)
{
	bool code = false;

	if (!post_filter_is_set(&options->filter) && post_window_is_whole(&options->window))
		return;
	for (size_t i = 0; i < session->process_count; i++)
		code |= post_timeline_is_of_code(session->processes[i]);
	if (tabled || (code && (format->paths || format->profiled)))
		post_problem_at(
			session->problems, NULL, LITIFUT_NO_ADDRESS,
			"-F, -N, -D, -t, --from and --to leave nothing out of %s, which %s",
			tabled ? "sums (LITIFUT_MODE=table, counts)"
			       : "executed code (LITIFUT_MODE=coverage, paths)",
			tabled ? "have no order of calls; --include, --exclude, --module and "
				 "--pid do"
			       : "is shown whole");
}

void post_run_read(struct post_run *run, struct post_session *session,
		   const struct post_timeline_options *options, struct post_totals *totals)
{
	const struct post_format *format = run->format;
	struct post_output *output = run->output;
	struct post_timeline_sink direct = {
		.push = format->event,
		.full = is_broken,
		.context = output,
		.nested = format->nested,
		.results = format->results,
	};
	struct post_timeline_sink measuring = {
		.push = push,
		.full = run_is_broken,
		.context = run,
		.nested = true,
	};
	const struct post_timeline_sink *sink = format->event ? &direct : NULL;

	run->measuring = format->measured && post_measures_possible(session, format->returns);
	if (run->measuring || run->also || post_filter_is_set(&options->filter))
		sink = &measuring;
	if (format->start)
		format->start(output);
	post_measures_start(&run->measures, session);
	if (run->measures.tabled && format->event && !format->tabled)
		post_problem_at(session->problems, NULL, LITIFUT_NO_ADDRESS,
				"a trace has sums only (LITIFUT_MODE=table, counts), without an "
				"order of calls: %s can't show it; see report, edges, dot, "
				"callgrind, html; "
				"for %s link with LITIFUT_MODE=spans",
				format->name, format->name);
	post_timeline_read(session, sink, options);
	post_measures_finish(&run->measures);
	report_unfiltered(session, format, options, run->measures.tabled);
	post_timeline_total(session, totals);
	totals->cut = sink && is_broken(output);
	output->totals = totals;
}

void post_run_finish(struct post_run *run)
{
	struct post_output *output = run->output;

	if (run->measuring)
		output->measures = &run->measures;
	if (run->format->finish)
		run->format->finish(output);
	output->measures = NULL;
	output->totals = NULL;
	post_measures_release(&run->measures);
}

void post_run(struct post_session *session, const struct post_format *format,
	      struct post_output *output, const struct post_timeline_options *options,
	      struct post_totals *totals)
{
	struct post_run run = {.output = output, .format = format};

	post_run_read(&run, session, options, totals);
	post_session_conclude(session);
	post_run_finish(&run);
}
